// What is in a sheet. A number keeps the digits that the file has, and how it is shown: no float touches it.

import type { IsoDate } from '../dates.ts'

/** How a number is shown: as it is, with so many decimals, or as something that is no plain number. */
export type NumberFormat =
  | { kind: 'general' }
  | { kind: 'decimals'; least: number; most: number }
  | { kind: 'day' }
  | { kind: 'other'; code: string }

export type Cell =
  | { kind: 'text'; text: string }
  | { kind: 'number'; digits: string; format: NumberFormat }
  | { kind: 'day'; day: IsoDate }

/** The cells of a row that are not empty, by column from 1, in their order. */
export type Row = ReadonlyMap<number, Cell>

export type Sheet = {
  name: string
  rows: readonly { cells: Row; number: number }[]
  /** Where a person finds a cell: `cell B7`, or `line 7, column 2`. */
  place(row: number, column: number): string
}

/** The text of a cell, as it is in a message. */
export function shownCell(cell: Cell): string {
  if (cell.kind === 'day') return cell.day
  const text = cell.kind === 'text' ? cell.text : cell.digits
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
