// Reads a sheet of a workbook: its cells by row and column, at most 500,000 of them.

import { AppError } from '../../runtime/errors.ts'
import { addDays, type IsoDate, isIsoDate } from '../../values/dates.ts'
import type { Cell, NumberFormat, Sheet } from './cells.ts'
import { readXml, type XmlReader } from './xml.ts'

type SheetContext = {
  name: string
  texts: readonly string[]
  formats: readonly NumberFormat[]
  /** Day 0 of the workbook. */
  day0: IsoDate
}

/** Source of a cell. `isEmptyFormula`: a formula without a stored result. */
type CellText = { type: string; style: number; text: string; isEmptyFormula: boolean }

const MOST_CELLS = 500_000 // a table of all indicators over ten years has 170,000
const [LAST_ROW, LAST_COLUMN] = [1_048_576, 16_384]
const GENERAL: NumberFormat = { kind: 'general' }
const FIRST_SERIAL = 61 // 1900-03-01: earlier days count a leap day that did not exist

/** @throws AppError `failed` for too many cells, or an invalid cell reference */
export function readSheet(xml: string, context: SheetContext): Sheet {
  const cells = new CellReader(context)
  readXml(xml, cells)
  return {
    name: context.name,
    rows: cells.rows(),
    place: (number, at) => `cell ${columnLetters(at)}${number}`,
  }
}

class CellReader implements XmlReader {
  readonly #context: SheetContext
  readonly #rows = new Map<number, Map<number, Cell>>()
  #count = 0
  #row = 0
  #column = 0
  #cell: CellText = { type: '', style: 0, text: '', isEmptyFormula: false }
  #isValue = false
  #isPhonetic = false

  constructor(context: SheetContext) {
    this.#context = context
  }

  rows() {
    return [...this.#rows]
      .sort(([a], [b]) => a - b)
      .map(([number, cells]) => ({ number, cells: new Map([...cells].sort(([a], [b]) => a - b)) }))
  }

  open(name: string, { r: place, t: type = 'n', s: style = '0' }: Readonly<Record<string, string>>) {
    if (name === 'row') {
      this.#row = place === undefined ? this.#row + 1 : Number(place)
      this.#column = 0
    } else if (name === 'c') {
      this.#column = place === undefined ? this.#column + 1 : columnNumber(place, this.#row)
      if (!isInSheet(this.#row, this.#column))
        throw new AppError('failed', `a cell of the sheet has no place: ${place}`)
      this.#cell = { type, style: Number(style), text: '', isEmptyFormula: false }
    } else if (name === 'rPh') this.#isPhonetic = true
    else if (name === 'f') this.#cell.isEmptyFormula = true
    else if (name === 'v' || name === 't') {
      this.#isValue = !this.#isPhonetic
      this.#cell.isEmptyFormula = false
    }
  }

  text(more: string) {
    if (this.#isValue) this.#cell.text += more
  }

  close(name: string) {
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'rPh') this.#isPhonetic = false
    else if (name === 'c') this.#put()
  }

  #put() {
    const value = readCell(this.#cell, this.#context)
    if (!value) return
    this.#count += 1
    if (this.#count > MOST_CELLS) throw new AppError('failed', `a sheet has more than ${MOST_CELLS} cells`)
    this.#rows.getOrInsertComputed(this.#row, () => new Map()).set(this.#column, value)
  }
}

function isInSheet(row: number, column: number): boolean {
  return row >= 1 && row <= LAST_ROW && column >= 1 && column <= LAST_COLUMN
}

function readCell({ type, style, text, isEmptyFormula }: CellText, context: SheetContext): Cell | undefined {
  if (isEmptyFormula) return parseTextCell('a formula without its value')
  if (text.trim() === '') return undefined
  if (type === 's') return parseTextCell(context.texts[Number(text)] ?? `text ${text}, which is not there`)
  if (type === 'b') return parseTextCell(text.trim() === '0' ? 'FALSE' : 'TRUE')
  if (type === 'd' && isIsoDate(text)) return { kind: 'day', day: text }
  if (type === 'd') return parseTextCell(text.replace(/z$/i, '')) // no zone is in such a cell
  if (type !== 'n') return parseTextCell(text)
  const format = context.formats[style] ?? GENERAL
  const digits = text.trim()
  if (format.kind !== 'day') return { kind: 'number', digits, format }
  const [, serial, fraction = '0'] = /^(\d{2,7})(\.\d+)?$/.exec(digits) ?? []
  const day = serial === undefined ? '' : addDays(context.day0, Number(serial))
  const isDay = isIsoDate(day) && (Number(serial) >= FIRST_SERIAL || context.day0 > '1904')
  if (!isDay) return { kind: 'number', digits, format }
  const time = new Date(Number(fraction) * 86_400_000).toISOString().slice(11, 19)
  return time === '00:00:00' ? { kind: 'day', day } : { kind: 'text', text: `${day} ${time}` }
}

function parseTextCell(text: string): Cell | undefined {
  const trimmed = text.trim()
  return trimmed === '' ? undefined : { kind: 'text', text: trimmed }
}

/** Returns the column of `B7`, from 1; 0: no reference to this row. */
function columnNumber(place: string, row: number): number {
  const [, letters = '', number] = /^([A-Z]{1,3})(\d{1,7})$/.exec(place) ?? []
  if (Number(number) !== row) return 0
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
}

function columnLetters(column: number): string {
  let letters = ''
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  }
  return letters
}
