// Texts of an answer: markers of a missing value, the notation of its numbers, and the days of its rows.

import { type IsoDate, isIsoDate } from '../values/dates.ts'
import { canonicalNumber } from '../values/decimal.ts'
import { excerpt } from './json.ts'
import { FetchFailure, type Observation, type Window } from './provider.ts'

const NO_VALUE = new Set(['', 'n/e', 'nd', 'na', 'n/a', 'n.d.', '.', '-', 'nan'])
const MAX_DIGITS = 40 // the bank sends at most about 16; a longer decimal is an error or an attack
/** Number with commas between thousands. Without a point a single comma may be a decimal one, as in `7,665`. */
const THOUSANDS = /^-?[1-9]\d{0,2}((,\d{3})+\.\d+|(,\d{3}){2,})$/

/** Days that the rows of an answer may have. Rows later than `tomorrow` are rejected by the sync, which names them. */
export type AnswerDays = Partial<Window> & { tomorrow?: IsoDate | undefined }

/** Returns true for an empty text, and for a marker of a missing value in any case, such as `N/E`. */
export function noValue(text: string | null | undefined): boolean {
  return NO_VALUE.has(text?.trim().toLowerCase() ?? '')
}

/** Returns the canonical form of a published number; undefined: another text, or one of too many digits. */
export function publishedNumber(text: string): string | undefined {
  if (text.length > MAX_DIGITS) return undefined
  const value = canonicalNumber(text)
  return value !== undefined && value.length <= MAX_DIGITS ? value : undefined
}

/**
 * Reads all values of an answer in the one notation of its source. Commas between `thousands` are removed, digits never
 * change. A marker of a missing value remains.
 * @throws FetchFailure for a value in another notation, as the other values may be in that one, too
 */
export function readPublishedValues(
  observations: readonly Observation[],
  notation: 'plain' | 'thousands',
): Observation[] {
  return observations.map((one) => {
    const { code, day, value } = one
    const isGrouped = notation === 'thousands' && THOUSANDS.test(value)
    const text = isGrouped ? value.replaceAll(',', '') : value
    if (publishedNumber(text) === undefined && !noValue(text))
      throw new FetchFailure(`"${excerpt(value, 40)}" of ${excerpt(code, 20)} on ${day} is not a decimal`)
    return isGrouped ? { ...one, value: text } : one
  })
}

/**
 * Reads the day of a row.
 * @throws FetchFailure for a text that is no day, and for a day that was not requested
 */
export function readDay(text: string, { from, to, tomorrow }: AnswerDays): IsoDate {
  if (!isIsoDate(text)) throw new FetchFailure(`a row has no day, but "${excerpt(text, 40)}"`)
  const isEarly = from !== undefined && text < from
  const isLate = to !== undefined && text > to && (tomorrow === undefined || text <= tomorrow)
  if (!isEarly && !isLate) return text
  throw new FetchFailure(
    `days ${isEarly ? 'from' : 'to'} ${isEarly ? from : to} were requested, a row is of ${text}`,
  )
}

/** `readDay` for a day as dd/mm/yyyy. */
export function readSlashDay(text: string, days: AnswerDays): IsoDate {
  const [, day, month, year] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text) ?? []
  return readDay(year === undefined ? text : `${year}-${month}-${day}`, days)
}
