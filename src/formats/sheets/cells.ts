// Cells of a sheet. Numbers are the digits of the file with their display format, without a float.

import type { IsoDate } from '../../values/dates.ts'

/** Display format of a number: unchanged, with `least` to `most` decimals, as a day, or as another kind of value. */
export type NumberFormat =
  | { kind: 'general' }
  | { kind: 'decimals'; least: number; most: number }
  | { kind: 'day' }
  | { kind: 'other'; code: string }

export type Cell =
  | { kind: 'text'; text: string }
  | { kind: 'number'; digits: string; format: NumberFormat }
  | { kind: 'day'; day: IsoDate }

/** Cells of a row that are not empty, by column from 1, in order. */
export type RowCells = ReadonlyMap<number, Cell>

export type Sheet = {
  name: string
  rows: readonly { cells: RowCells; number: number }[]
  /** Formats the place of a cell for a message: `cell B7`, or `line 7, column 2`. */
  place(row: number, column: number): string
}

/** Formats the start of a cell for a message. */
export function cellExcerpt(cell: Cell): string {
  if (cell.kind === 'day') return cell.day
  const text = cell.kind === 'text' ? cell.text : cell.digits
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
