// One sheet of a workbook: its cells by row and column, bounded in number, wherever it says that they are.

import { addDays, type IsoDate, isIsoDate } from '../dates.ts'
import { AppError } from '../errors.ts'
import type { Cell, NumberFormat, Sheet } from './cells.ts'
import { readXml } from './xml.ts'

type About = {
  name: string
  texts: readonly string[]
  formats: readonly NumberFormat[]
  /** The day 0 of the workbook. */
  day0: IsoDate
}

/** A cell as it is written. `isEmptyFormula`: no program has computed it, so nothing is known of it. */
type CellText = { type: string; style: number; text: string; isEmptyFormula: boolean }

const MOST_CELLS = 500_000 // a table of all indicators over ten years has 170,000
const [LAST_ROW, LAST_COLUMN] = [1_048_576, 16_384]
const GENERAL: NumberFormat = { kind: 'general' }
const FIRST_SERIAL = 61 // 1900-03-01: the days before are counted with a leap day that was none

/** @throws AppError `failed` for too many cells, or one that is nowhere */
export function readSheet(xml: string, about: About): Sheet {
  const rows = new Map<number, Map<number, Cell>>()
  let count = 0
  let row = 0
  let column = 0
  let cell: CellText = { type: '', style: 0, text: '', isEmptyFormula: false }
  let [isValue, isPhonetic] = [false, false]
  const put = () => {
    const made = cellOf(cell, about)
    if (!made) return
    count += 1
    if (count > MOST_CELLS) throw new AppError('failed', `a sheet has more than ${MOST_CELLS} cells`)
    rows.getOrInsertComputed(row, () => new Map()).set(column, made)
  }
  readXml(xml, {
    open(name, { r: place, t: type = 'n', s: style = '0' }) {
      if (name === 'row') {
        row = place === undefined ? row + 1 : Number(place)
        column = 0
      } else if (name === 'c') {
        column = place === undefined ? column + 1 : columnOf(place, row)
        if (!(row >= 1 && row <= LAST_ROW && column >= 1 && column <= LAST_COLUMN))
          throw new AppError('failed', `a cell of the sheet has no place: ${place}`)
        cell = { type, style: Number(style), text: '', isEmptyFormula: false }
      } else if (name === 'rPh') isPhonetic = true
      else if (name === 'f') cell.isEmptyFormula = true
      else if (name === 'v' || name === 't') {
        isValue = !isPhonetic
        cell.isEmptyFormula = false
      }
    },
    text(more) {
      if (isValue) cell.text += more
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false
      else if (name === 'rPh') isPhonetic = false
      else if (name === 'c') put()
    },
  })
  return {
    name: about.name,
    rows: [...rows]
      .sort(([a], [b]) => a - b)
      .map(([number, cells]) => ({ number, cells: new Map([...cells].sort(([a], [b]) => a - b)) })),
    place: (number, at) => `cell ${lettersOf(at)}${number}`,
  }
}

function cellOf({ type, style, text, isEmptyFormula }: CellText, about: About): Cell | undefined {
  if (isEmptyFormula) return textCell('a formula without its value')
  if (text.trim() === '') return undefined
  if (type === 's') return textCell(about.texts[Number(text)] ?? `text ${text}, which is not there`)
  if (type === 'b') return textCell(text.trim() === '0' ? 'FALSE' : 'TRUE')
  if (type === 'd' && isIsoDate(text.slice(0, 10))) return { kind: 'day', day: text.slice(0, 10) }
  if (type !== 'n') return textCell(text)
  const format = about.formats[style] ?? GENERAL
  const digits = text.trim()
  if (format.kind !== 'day') return { kind: 'number', digits, format }
  const day = /^\d{2,7}(\.0+)?$/.test(digits) ? addDays(about.day0, Number.parseInt(digits, 10)) : ''
  const isDay = isIsoDate(day) && (Number.parseInt(digits, 10) >= FIRST_SERIAL || about.day0 > '1904')
  return isDay ? { kind: 'day', day } : { kind: 'number', digits, format }
}

function textCell(text: string): Cell | undefined {
  const trimmed = text.trim()
  return trimmed === '' ? undefined : { kind: 'text', text: trimmed }
}

/** The column of `B7`, from 1; 0 where it is none of this row. */
function columnOf(place: string, row: number): number {
  const [, letters = '', number] = /^([A-Z]{1,3})(\d{1,7})$/.exec(place) ?? []
  if (Number(number) !== row) return 0
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
}

function lettersOf(column: number): string {
  let letters = ''
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters
  }
  return letters
}
