// Rows of the TRM: `{valor, unidad, vigenciadesde, vigenciahasta}`, each valid for a range of days.

import { addDays, earliest, type IsoDate, isIsoDate, latest } from '../../values/dates.ts'
import { addInterval, countDays, findGaps, type Interval } from '../../values/intervals.ts'
import { isJsonObject, type JsonObject } from '../../values/json-object.ts'
import { excerpt, parseLargeJson, scalarText } from '../json.ts'
import { FetchFailure, type Observation, type Window } from '../provider.ts'
import { noValue, readDay, readPublishedValues } from '../published-value.ts'

const LONGEST_RANGE_DAYS = 15
const MIDNIGHT = /^(\d{4}-\d{2}-\d{2})T00:00:00(?:\.0+)?$/

/**
 * Parses the rows to one observation a day, cut to the window.
 * @throws FetchFailure for any other text, an error object, `mostRows` or more rows, or a row that is no range in pesos that
 * meets the window
 */
export async function readRanges(
  body: string,
  window: Window,
  { code, mostRows, today }: { code: string; mostRows: number; today: IsoDate | undefined },
): Promise<Observation[]> {
  const answer = await parseLargeJson(body)
  if (isJsonObject(answer)) throw new FetchFailure(`the answer is an error: ${socrataErrorText(answer)}`)
  if (!Array.isArray(answer)) throw new FetchFailure('the answer is not a list of rows')
  if (answer.length >= mostRows) throw new FetchFailure(`the answer has ${mostRows} rows, so it may be cut`)
  const ranges = answer.map((row) => parseTrmRow(row, window))
  const missingDay = findMissingDay(ranges, earliest(window.to, today ?? window.from))
  if (missingDay !== undefined) throw new FetchFailure(`no range has ${missingDay}`)
  const observations = ranges.flatMap((one) => rangeDays(code, one, window))
  return readPublishedValues(observations, 'plain')
}

type TrmRange = Interval & { value: string }

/** Returns the first day without a range after the first range; `end`: last day that has one. */
function findMissingDay(ranges: readonly TrmRange[], end: IsoDate): IsoDate | undefined {
  const days = ranges.map(({ from, to }) => ({ from, to })).reduce<Interval[]>(addInterval, [])
  const [first, last] = [days[0], days.at(-1)]
  return first && last && findGaps(days, { from: first.from, to: latest(last.to, end) })[0]?.from
}

function parseTrmRow(row: unknown, window: Window): TrmRange {
  if (!isJsonObject(row)) throw new FetchFailure('the list holds something that is not a row')
  const unit = scalarText(row.unidad)
  if (unit !== 'COP') throw new FetchFailure(`"unidad" is not COP but "${excerpt(unit, 20)}"`)
  const from = midnightDay(row, 'vigenciadesde')
  const to = midnightDay(row, 'vigenciahasta')
  if (to < from) throw new FetchFailure(`"vigenciahasta" ${to} is before "vigenciadesde" ${from}`)
  if (countDays({ from, to }) > LONGEST_RANGE_DAYS)
    throw new FetchFailure(`the range from ${from} to ${to} has more than ${LONGEST_RANGE_DAYS} days`)
  // A range that was requested meets the window.
  readDay(from, { to: window.to })
  readDay(to, { from: window.from })
  return { from, to, value: scalarText(row.valor) }
}

function rangeDays(code: string, { from, to, value }: TrmRange, window: Window): Observation[] {
  if (noValue(value)) return []
  const observations: Observation[] = []
  const last = earliest(to, window.to)
  for (let day = latest(from, window.from); day <= last; day = addDays(day, 1))
    observations.push({ code, day, value, roundedTo: undefined })
  return observations
}

function midnightDay(row: JsonObject, field: string): string {
  const text = scalarText(row[field])
  const [, day = ''] = MIDNIGHT.exec(text) ?? []
  if (!isIsoDate(day)) throw new FetchFailure(`"${field}" is not a day but "${excerpt(text, 40)}"`)
  return day
}

/** Returns the words of `{"code": …, "error": true, "message": …}`. */
function socrataErrorText({ message, code }: JsonObject): string {
  return [scalarText(code), scalarText(message)].filter((text) => text !== '').join(': ') || 'an object'
}
