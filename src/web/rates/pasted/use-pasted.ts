// Reads pasted text: its table, and its rows by the kinds of the columns.

import { useEffect, useState } from 'preact/hooks'
import type { DayBounds } from '../../components/dates/date-choice.ts'
import { type PastedKind, type PastedTable, recognizeColumns } from '../../model/pasted/columns.ts'
import { type PastedRow, type RowOptions, readRows } from '../../model/pasted/rows.ts'
import { cellSeparator, splitRows } from '../../model/pasted/split.ts'
import { runSlices } from './slices.ts'

export const MAX_ROWS = 10_000
const MAX_BYTES = 4 * 1024 ** 2

export type PasteProblem = { kind: 'too-large' | 'commas' } | { kind: 'too-many'; rows: number }
export type Pasted = {
  table: PastedTable | undefined
  rows: readonly PastedRow[] | undefined
  problem: PasteProblem | undefined
  isReading: boolean
}
export type PasteOptions = Omit<RowOptions, 'days' | 'today'> & {
  text: string
  bounds: DayBounds
  /** Kinds that the user chose; undefined: those that were recognized. */
  kinds: readonly PastedKind[] | undefined
  hasTypes?: boolean
}

type RowsOfText = { read: TextReading; key: string; list: readonly PastedRow[] }
type TextReading = { text: string; table?: PastedTable | undefined; problem?: PasteProblem | undefined }

export function usePasted(options: PasteOptions): Pasted {
  const { text, codes, bounds, kinds, defaultCurrency, replacements, hasTypes = false } = options
  const { today, first, last } = bounds
  const codeList = [...codes].join(' ')
  const replacementList = [...replacements].join(' ')
  const [read, setRead] = useState<TextReading>({ text: '' })
  const [rows, setRows] = useState<RowsOfText | undefined>(undefined)
  useEffect(() => {
    const work = new AbortController()
    const { signal } = work
    readTable(text, { codes, today, hasTypes }, signal).then(
      (result) => !signal.aborted && setRead({ text, ...result }),
      () => undefined, // aborted: newer text is read
    )
    return () => work.abort()
  }, [text, codeList, today, hasTypes])
  const isCurrent = read.text === text
  const table = isCurrent && read.table ? { ...read.table, kinds: kinds ?? read.table.kinds } : undefined
  const kindList = table?.kinds.join(' ') ?? ''
  const key = [kindList, codeList, replacementList, defaultCurrency, first, last, today].join('|')
  useEffect(() => {
    if (!table) return
    const work = new AbortController()
    const { signal } = work
    const days = { first, last }
    runSlices(readRows(table, { codes, days, today, defaultCurrency, replacements }), signal).then(
      (list) => !signal.aborted && setRows({ read, key, list }),
      () => undefined, // aborted: other kinds are read
    )
    return () => work.abort()
  }, [read, key, isCurrent])
  const list = table && rows?.read === read && rows.key === key ? rows.list : undefined
  return {
    table,
    rows: list,
    problem: isCurrent ? read.problem : undefined,
    isReading: text.trim() !== '' && !(isCurrent && read.problem) && !list,
  }
}

async function readTable(
  text: string,
  options: { codes: ReadonlySet<string>; today: string; hasTypes: boolean },
  signal: AbortSignal,
): Promise<{ table?: PastedTable; problem?: PasteProblem }> {
  if (new Blob([text]).size > MAX_BYTES) return { problem: { kind: 'too-large' } }
  const allRows = await runSlices(splitRows(text), signal)
  if (allRows.length === 0) return {}
  const table = await runSlices(
    recognizeColumns(allRows, { ...options, separator: cellSeparator(text) }),
    signal,
  )
  if (table.hasDecimalCommas) return { problem: { kind: 'commas' } }
  const { length } = table.rows
  return length > MAX_ROWS ? { problem: { kind: 'too-many', rows: length } } : { table }
}
