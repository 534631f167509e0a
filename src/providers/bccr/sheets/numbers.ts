// The numbers of a file as decimals. A number of a workbook is a float that was written down, of which 15 digits say
// something (512.34999999999997 is 512.35). A number that is text has a comma or a point, and both may group digits: what
// cannot be told is asked for and never guessed.

import { canonicalNumber, placesOf, rounded, significant } from '../../../decimal.ts'
import { type Cell, shownCell } from '../../../spreadsheets/cells.ts'

export type DecimalSign = 'comma' | 'point'

/** A value, and to how many decimals it is shown. `fixed`: all values are shown so, else zeros at the end are not. */
export type Shown = { value: string; decimals: number; fixed: boolean }

type Texts = readonly { cell: Cell; place: string }[]

const SIGNIFICANT = 15
const MOST_DIGITS = 40 // as of values that are asked for
const GROUPS = { comma: '.', point: ',' }
const DECIMALS = { comma: ',', point: '.' }

/** The decimal sign of the cells that are text; a fault, in words, where it cannot be told. */
export function decimalSignOf(cells: Texts, told: DecimalSign | undefined): DecimalSign | { fault: string } {
  if (told) return told
  const texts = cells.flatMap(({ cell, place }) => (cell.kind === 'text' ? [{ text: cell.text, place }] : []))
  const readable = (sign: DecimalSign) => texts.filter(({ text }) => plain(text, sign) !== undefined).length
  const [comma, point] = [readable('comma'), readable('point')]
  if (comma !== point) return comma > point ? 'comma' : 'point'
  if (comma < texts.length) return 'comma' // either way a cell is no value, and will be named
  const doubtful = texts.find(({ text }) => plain(text, 'comma') !== plain(text, 'point'))
  if (!doubtful) return 'point'
  const { text, place } = doubtful
  return {
    fault: `${place}: ${JSON.stringify(text)} can be read in two ways: give --decimal comma or --decimal point`,
  }
}

/** A value greater than 0, or what is wrong with it, in words that follow the place. */
export function readValue(cell: Cell, sign: DecimalSign, exact: boolean): Shown | { fault: string } {
  const shown =
    cell.kind === 'number'
      ? ofNumber(cell, exact)
      : cell.kind === 'text'
        ? ofText(cell.text, sign)
        : undefined
  if (!shown || shown.value.length > MOST_DIGITS) return { fault: `${shownCell(cell)} is no value` }
  if (shown.value === '0' || shown.value.startsWith('-'))
    return { fault: `${shownCell(cell)} is not greater than 0` }
  return shown
}

function ofNumber({ digits, format }: Extract<Cell, { kind: 'number' }>, exact: boolean): Shown | undefined {
  const stored = canonicalNumber(digits)
  if (stored === undefined || stored.length > MOST_DIGITS || format.kind === 'day' || format.kind === 'other')
    return undefined
  const full = significant(stored, SIGNIFICANT)
  if (format.kind === 'general' || exact) return { value: full, decimals: placesOf(full), fixed: false }
  const value = rounded(full, format.most)
  const decimals = Math.max(format.least, placesOf(value))
  return { value, decimals, fixed: format.least === format.most }
}

function ofText(text: string, sign: DecimalSign): Shown | undefined {
  const number = plain(text, sign)
  const value = number === undefined || number.length > MOST_DIGITS ? undefined : canonicalNumber(number)
  return value === undefined || number === undefined
    ? undefined
    : { value, decimals: placesOf(number), fixed: false }
}

/** The text with a point and without groups; undefined: it is no number in this reading. */
function plain(text: string, sign: DecimalSign): string | undefined {
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
