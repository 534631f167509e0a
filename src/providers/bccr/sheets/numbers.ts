// Parses the numbers of a file. Number cells of a workbook are floats with 15 significant digits (512.34999999999997 is
// 512.35). In text cells, comma and point may each be the decimal sign or group digits. Ambiguous files are rejected
// with a request for --decimal, never guessed.

import { type Cell, cellExcerpt } from '../../../formats/sheets/cells.ts'
import { canonicalNumber, isPositive, roundDecimal, roundDigits } from '../../../values/decimal.ts'
import { decimalPlaces } from '../../../values/fraction.ts'

export type DecimalSign = 'comma' | 'point'

/** Value and its displayed decimals. `fixed`: the format displays zeros at the end. */
export type SheetValue = { value: string; decimals: number; fixed: boolean }

type LocatedCells = readonly { cell: Cell; place: string }[]

const SIGNIFICANT = 15
const MOST_DIGITS = 40 // as for fetched values
const GROUPS = { comma: '.', point: ',' }
const DECIMALS = { comma: ',', point: '.' }

/** Determines the decimal sign of the text cells, or returns a message for ambiguous ones. */
export function findDecimalSign(
  cells: LocatedCells,
  option: DecimalSign | undefined,
): DecimalSign | { fault: string } {
  if (option) return option
  const texts = cells.flatMap(({ cell, place }) => (cell.kind === 'text' ? [{ text: cell.text, place }] : []))
  const readable = (sign: DecimalSign) =>
    texts.filter(({ text }) => plainNumber(text, sign) !== undefined).length
  const [comma, point] = [readable('comma'), readable('point')]
  if (comma !== point) return comma > point ? 'comma' : 'point'
  if (comma < texts.length) return 'comma' // with either sign a cell is no value, and will be reported
  const doubtful = texts.find(({ text }) => plainNumber(text, 'comma') !== plainNumber(text, 'point'))
  if (!doubtful) return 'point'
  const { text, place } = doubtful
  return {
    fault: `${place}: ${JSON.stringify(text)} can be read in two ways: give --decimal comma or --decimal point`,
  }
}

/** Parses a value greater than 0, or returns a message to put after its place. */
export function readValue(cell: Cell, sign: DecimalSign, exact: boolean): SheetValue | { fault: string } {
  const value =
    cell.kind === 'number'
      ? numberValue(cell, exact)
      : cell.kind === 'text'
        ? textValue(cell.text, sign)
        : undefined
  if (!value || value.value.length > MOST_DIGITS) return { fault: `${cellExcerpt(cell)} is no value` }
  return isPositive(value.value) ? value : { fault: `${cellExcerpt(cell)} is not greater than 0` }
}

function numberValue(
  { digits, format }: Extract<Cell, { kind: 'number' }>,
  exact: boolean,
): SheetValue | undefined {
  const canonical = canonicalNumber(digits)
  if (
    canonical === undefined ||
    canonical.length > MOST_DIGITS ||
    format.kind === 'day' ||
    format.kind === 'other'
  )
    return undefined
  const full = roundDigits(canonical, SIGNIFICANT)
  if (format.kind === 'general' || exact) return { value: full, decimals: decimalPlaces(full), fixed: false }
  const value = roundDecimal(full, format.most)
  const decimals = Math.max(format.least, decimalPlaces(value))
  return { value, decimals, fixed: format.least === format.most }
}

function textValue(text: string, sign: DecimalSign): SheetValue | undefined {
  const number = plainNumber(text, sign)
  const value = number === undefined || number.length > MOST_DIGITS ? undefined : canonicalNumber(number)
  return value === undefined || number === undefined
    ? undefined
    : { value, decimals: decimalPlaces(number), fixed: false }
}

/** Returns a number with a point and without groups; undefined: no number with this decimal sign. */
function plainNumber(text: string, sign: DecimalSign): string | undefined {
  const [group, decimal] = [GROUPS[sign], DECIMALS[sign]]
  const [whole = '', fraction, more] = text.split(decimal)
  if (more !== undefined || (fraction !== undefined && !/^\d+$/.test(fraction))) return undefined
  const isGrouped = [group, ' ', '\u00a0', '\u202f'].some((one) => {
    const [first = '', ...rest] = whole.split(one)
    return rest.length > 0 && /^[1-9]\d{0,2}$/.test(first) && rest.every((three) => /^\d{3}$/.test(three))
  })
  if (!isGrouped && !/^-?\d+$/.test(whole)) return undefined
  const digits = whole.replace(/[^\d-]/g, '')
  return fraction === undefined ? digits : `${digits}.${fraction}`
}
