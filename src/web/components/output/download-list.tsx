// Menu of the files of a table, and their making. Texts are those of the page's language; the CSV for Excel in Spanish
// has Spanish headings.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { serverTime } from '../../api/clock.ts'
import { session } from '../../api/session.ts'
import { FILES } from '../../i18n/files.ts'
import { inLanguage } from '../../i18n/table-texts.ts'
import { encodeCsv, PROGRAM_CSV, SPANISH_CSV } from '../../model/files/csv.ts'
import type { Download } from '../../model/files/table.ts'
import type { Language } from '../../model/formats.ts'
import { encodeFragment } from '../../model/fragment.ts'
import { visibleText } from '../../model/visible.ts'
import { Button } from '../button.tsx'
import { formats, language, view } from '../view.ts'
import { saveBlob } from './downloads.ts'

export type DownloadSource = {
  /** Returns the table with titles in a language: the CSV for Excel in Spanish is Spanish on each page. */
  table: (language: Language) => Download | Promise<Download>
  /** Name of the files without an ending, such as `bccr-cierres-EUR-CRC-2026`. */
  name: string
}

export type DownloadListProps = DownloadSource & {
  id: string
  labelledBy: string
  /** Item that has the focus first. */
  first: 'first' | 'last'
  onClose: (hasFocus: boolean) => void
  /** @param saving settles when the file is made */
  onSave: (saving: Promise<void>) => void
}

const FORMATS = ['excel', 'spanish', 'programs'] as const
const MARKS = { excel: 'XLSX', spanish: 'CSV ;', programs: 'CSV ,' }

type FileFormat = (typeof FORMATS)[number]

declare const CAMBISTA_VERSION: string // set by the bundler

export function DownloadList(props: DownloadListProps) {
  const words = inLanguage(FILES, language.value)
  const host = useRef<HTMLDivElement>(null)
  const [isAtStart, setAtStart] = useState(false)
  useLayoutEffect(() => {
    setAtStart((host.current?.getBoundingClientRect().left ?? 0) < 0)
    focusItem(host.current, props.first === 'first' ? 0 : -1)
  }, [props.first])
  const choose = (format: FileFormat) => {
    props.onClose(true)
    props.onSave(saveTable(props, format))
  }
  return (
    <div ref={host} class={isAtStart ? 'popup download-list at-start' : 'popup download-list'}>
      <div
        role="menu"
        id={props.id}
        aria-labelledby={props.labelledBy}
        tabIndex={-1}
        onKeyDown={(event) => {
          if (event.key === 'Escape' || event.key === 'Tab') {
            if (event.key === 'Escape') event.preventDefault()
            props.onClose(event.key === 'Escape')
            return
          }
          const step = itemStep(event.key, host.current)
          if (step === undefined) return
          event.preventDefault()
          focusItem(host.current, step)
        }}
      >
        {FORMATS.map((format) => (
          <Button
            key={format}
            role="menuitem"
            tabIndex={-1}
            class="download-item grid gap-12 rounded full text-start"
            onClick={() => choose(format)}
            onPointerEnter={(event) => event.currentTarget.focus()}
          >
            <span class="download-mark grid rounded sunk quiet nowrap" aria-hidden="true">
              {MARKS[format]}
            </span>
            <span>
              <strong>{words.formats[format]}</strong>
              <small>{words.details[format]}</small>
            </span>
          </Button>
        ))}
      </div>
      <p class="hint">{words.allDigits}</p>
    </div>
  )
}

function menuItems(host: HTMLElement | null): HTMLElement[] {
  return [...(host?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
}

/** @param index negative: from the end */
function focusItem(host: HTMLElement | null, index: number): void {
  menuItems(host).at(index)?.focus()
}

/** Index of the item to which a key moves. */
function itemStep(key: string, host: HTMLElement | null): number | undefined {
  const items = menuItems(host)
  const current = items.indexOf(document.activeElement as HTMLElement)
  if (key === 'ArrowDown') return (current + 1) % items.length
  if (key === 'ArrowUp') return (current - 1) % items.length
  if (key === 'Home') return 0
  return key === 'End' ? -1 : undefined
}

async function saveTable({ table, name }: DownloadListProps, format: FileFormat): Promise<void> {
  if (format === 'excel') {
    const [download, { encodeXlsx }] = await Promise.all([
      table(language.value),
      import('../../model/files/workbook.ts'),
    ])
    return saveBlob(await encodeXlsx(download, workbookTexts(download)), `${name}.xlsx`)
  }
  const isSpanish = format === 'spanish'
  const text = encodeCsv(
    await table(isSpanish ? 'es' : language.value),
    isSpanish ? SPANISH_CSV : PROGRAM_CSV,
  )
  // Without a byte order mark local spreadsheets decode UTF-8 as Windows-1252.
  const mark = isSpanish ? '\ufeff' : ''
  saveBlob(new Blob([mark, text], { type: 'text/csv;charset=utf-8' }), `${name}${isSpanish ? '-es' : ''}.csv`)
}

function workbookTexts({ at = serverTime() }: Download) {
  const words = inLanguage(FILES, language.value)
  const [day = '', time = ''] = formats.value.instant(at).split(', ')
  const current = session.value
  const person = (current.state === 'in' && current.person) || ''
  const retrieved = [words.retrieved(day, time), `cambista ${CAMBISTA_VERSION}`, visibleText(person)]
  return {
    ...words,
    retrieved: retrieved.filter((part) => part !== '').join(' · '),
    address: location.origin + location.pathname + encodeFragment(view.value),
    footer: words.footer(day, time),
  }
}
