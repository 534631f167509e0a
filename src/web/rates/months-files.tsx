import { useState } from 'preact/hooks'
import { icons } from '../parts/icons.tsx'
import { saveCsv, saveXlsx } from '../parts/save.ts'
import { language, texts } from '../parts/view.ts'
import { csvOf } from '../words/csv.ts'
import { rowsOf } from '../words/months.ts'
import type { Column, Table } from '../words/table.ts'
import type { LoadedMonths } from './loaded-months.ts'
import { noteOf } from './months-table.tsx'
import { monthsTexts } from './months-texts.ts'

const COPIED_MS = 2000

/** The table as files, and to be pasted. */
export function MonthsFiles({ loaded, today }: { loaded: LoadedMonths | undefined; today: string }) {
  const words = monthsTexts.value
  const { csv, excel } = texts.value.history
  const name = loaded && `${loaded.pair.replace('/', '-')} ${loaded.year}`
  const table = () => tableOf(loaded, today)
  const local = { separator: ';', isLocal: true } as const
  return (
    <div class="buttons">
      <Copy isOff={!loaded} table={table} />
      <Save isOff={!loaded} label={csv} onClick={() => saveCsv(table(), `${name}`)} />
      <Save
        isOff={!loaded}
        label={words.csvLocal}
        title={words.csvLocalText}
        onClick={() => saveCsv(table(), `${name} es-CR`, local)}
      />
      <Save isOff={!loaded} label={excel} onClick={() => void saveXlsx(table(), `${name}`)} />
    </div>
  )
}

function Save(props: { isOff: boolean; label: string; title?: string; onClick: () => void }) {
  return (
    <button type="button" class="button" disabled={props.isOff} title={props.title} onClick={props.onClick}>
      {icons.download}
      {props.label}
    </button>
  )
}

/** As cells of a spreadsheet, whose numbers are written as the page writes them. */
function Copy({ isOff, table }: { isOff: boolean; table: () => Table }) {
  const words = monthsTexts.value
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  const copy = async () => {
    const text = csvOf(table(), { separator: '\t', isLocal: language.value === 'es' })
    const done = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    setState(done ? 'copied' : 'failed')
    setTimeout(() => setState('idle'), COPIED_MS)
  }
  return (
    <>
      <button type="button" class="button" disabled={isOff} onClick={() => void copy()}>
        {state === 'copied' ? icons.done : icons.copy}
        {state === 'failed' ? words.notCopied : words.copy}
      </button>
      <span class="unseen" role="status">
        {state === 'copied' ? words.copied : state === 'failed' && words.notCopied}
      </span>
    </>
  )
}

/** What the table shows: of each figure the day that it is of, and how far it is rounded where any of its column is. */
function tableOf(loaded: LoadedMonths | undefined, today: string): Table {
  const words = monthsTexts.value
  const { sides: names } = texts.value
  const { pair = '', year = '', sides = [] } = loaded ?? {}
  const rows = rowsOf(year, today, sides)
  const columns: Column[] = [
    { title: words.month, kind: 'text' },
    { title: words.note, kind: 'text' },
  ]
  const lines = rows.map((row) => [
    row.month,
    noteOf(
      row,
      sides.map(({ name }) => name),
    ),
  ])
  const add = (column: Column, valueIn: (row: (typeof rows)[number]) => unknown) => {
    columns.push(column)
    for (const [at, row] of rows.entries()) lines[at]?.push(String(valueIn(row) ?? ''))
  }
  for (const [at, { stat, side }] of (rows[0]?.cells ?? []).entries()) {
    const title = `${pair} ${words.stats[stat]} ${names[side]}`
    add({ title, kind: 'number' }, ({ cells }) => cells[at]?.point?.value)
    if (stat !== 'mean')
      add({ title: words.dayOf(title), kind: 'day' }, ({ cells }) => cells[at]?.point?.rate_date)
    if (rows.some(({ cells }) => cells[at]?.point?.rounded_to !== undefined))
      add({ title: words.roundedOf(title), kind: 'number' }, ({ cells }) => cells[at]?.point?.rounded_to)
  }
  return { title: `${pair} ${year}`, columns, rows: lines }
}
