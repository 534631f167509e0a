// Field for pasted rows, with the columns as they were read. The layout of 10,000 lines
// takes seconds. The field of a long text therefore shows its first lines alone.

import { useId, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { icons } from '../../components/icons.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { formats, pageTexts } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import { COLUMN_KINDS, changeKind, columnRole, type PastedKind } from '../../model/pasted/columns.ts'
import type { Pasted } from './use-pasted.ts'

const MAX_EDITABLE = 20_000
const PREVIEW_LINES = 100

export function PasteBox(props: {
  text: string
  onText: (text: string) => void
  pasted: Pasted
  onKinds: (kinds: PastedKind[]) => void
  hasTypes?: boolean
}) {
  const { text, onText, pasted, onKinds, hasTypes = false } = props
  const { table } = pasted
  return (
    <div class={table ? 'paste with-columns' : 'paste'}>
      <PasteField text={text} onText={onText} pasted={pasted} />
      {table && (
        <fieldset class="read-as">
          <legend>{pageTexts(LISTS).paste.readAs}</legend>
          {table.kinds.map((kind, index) => (
            <ColumnField
              key={`${index + 1}`}
              heading={table.headings[index] ?? ''}
              number={index + 1}
              kind={kind}
              hasTypes={hasTypes}
              onChoose={(chosen) => onKinds(changeKind(table.kinds, index, chosen))}
            />
          ))}
        </fieldset>
      )}
    </div>
  )
}

export function MissingColumns({ pasted }: { pasted: Pasted }) {
  const missing = missingColumns(pasted)
  if (missing.length === 0) return null
  return (
    <p class="refusal" role="alert">
      {missing.join(' ')}
    </p>
  )
}

/** Requests to choose the columns that every list has. */
export function missingColumns({ table }: Pasted): string[] {
  if (!table) return []
  const { needsDate, needsAmount } = pageTexts(LISTS).list
  const roles = table.kinds.map(columnRole)
  return [...(roles.includes('date') ? [] : [needsDate]), ...(roles.includes('amount') ? [] : [needsAmount])]
}

function PasteField({
  text,
  onText,
  pasted,
}: {
  text: string
  onText: (text: string) => void
  pasted: Pasted
}) {
  const words = pageTexts(LISTS).paste
  const { count } = formats.value
  const [hasFileError, setFileError] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  const isLong = text.length > MAX_EDITABLE
  const change = (newText: string) => {
    setFileError(false)
    onText(newText)
  }
  const paste = (event: ClipboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    const clip = event.clipboardData?.getData('text/plain') ?? ''
    if (!isLong && clip.length <= MAX_EDITABLE) return
    event.preventDefault()
    const { selectionStart, selectionEnd } = event.currentTarget
    change(isLong ? clip : text.slice(0, selectionStart) + clip + text.slice(selectionEnd))
  }
  const problem = problemText(pasted)
  return (
    <div class="paste-field shrink">
      <label for={id} class="unseen">
        {words.label}
      </label>
      <textarea
        ref={field}
        id={id}
        class="field pasted"
        rows={7}
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        readOnly={isLong}
        aria-invalid={problem !== undefined || hasFileError}
        aria-describedby={`${id}-note`}
        value={isLong ? firstLines(text) : text}
        onInput={(event) => change(event.currentTarget.value)}
        onPaste={paste}
      />
      <div class="buttons">
        <FileButton onText={change} onError={() => setFileError(true)} />
        {text !== '' && (
          <Button
            class="link"
            onClick={() => {
              change('')
              field.current?.focus()
            }}
          >
            {words.clear}
          </Button>
        )}
        <p id={`${id}-note`} class="hint">
          {problem === undefined && isLong && words.preview(count(PREVIEW_LINES))}
        </p>
      </div>
      <p class="refusal" role="alert">
        {hasFileError ? words.unreadable : problem}
      </p>
    </div>
  )
}

function FileButton({ onText, onError }: { onText: (text: string) => void; onError: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  const read = async (file: File | undefined) => {
    if (!file) return
    try {
      onText(decodeText(await file.arrayBuffer()))
    } catch {
      onError() // the file was moved or cannot be read
    }
  }
  return (
    <>
      <Button onClick={() => input.current?.click()}>
        {icons.upload}
        {pageTexts(LISTS).paste.open}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".csv,.tsv,.txt,text/csv,text/plain"
        hidden
        onChange={(event) => {
          void read(event.currentTarget.files?.[0])
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

/** Decodes UTF-8, UTF-16 with its mark, or Windows-1252, which Excel writes. */
function decodeText(content: ArrayBuffer): string {
  const [first, second] = new Uint8Array(content.slice(0, 2))
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(content)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return new TextDecoder('windows-1252').decode(content) // not UTF-8
  }
}

function ColumnField(props: {
  heading: string
  number: number
  kind: PastedKind
  hasTypes: boolean
  onChoose: (kind: PastedKind) => void
}) {
  const words = pageTexts(LISTS).paste
  const kinds = COLUMN_KINDS.filter((kind) => kind !== 'type' || props.hasTypes)
  return (
    <SelectField
      class="read-column grid gap-12"
      label={props.heading || words.column(props.number)}
      value={props.kind}
      options={kinds.map((kind) => [kind, words.kinds[kind]])}
      onChoose={(value) => props.onChoose(value as PastedKind)}
    />
  )
}

function problemText({ problem }: Pasted): string | undefined {
  const words = pageTexts(LISTS).paste
  if (!problem) return undefined
  if (problem.kind === 'too-many') return words.tooMany(formats.value.count(problem.rows))
  return problem.kind === 'commas' ? words.commas : words.tooLarge
}

function firstLines(text: string): string {
  return text
    .slice(0, MAX_EDITABLE)
    .split(/\r\n?|\n/, PREVIEW_LINES)
    .join('\n')
}
