// Rows of the TRM: `{valor, unidad, vigenciadesde, vigenciahasta}`, each valid for a range of days.

import { addDays, earliest, isIsoDate, latest } from '../../values/dates.ts'
import { countDays } from '../../values/intervals.ts'
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
  { code, mostRows }: { code: string; mostRows: number },
): Promise<Observation[]> {
  const answer = await parseLargeJson(body)
  if (isJsonObject(answer)) throw new FetchFailure(`the answer is an error: ${socrataErrorText(answer)}`)
  if (!Array.isArray(answer)) throw new FetchFailure('the answer is not a list of rows')
  if (answer.length >= mostRows) throw new FetchFailure(`the answer has ${mostRows} rows, so it may be cut`)
  const observations = answer.flatMap((row) => rangeDays(code, row, window))
  return readPublishedValues(observations, 'plain')
}

function rangeDays(code: string, row: unknown, window: Window): Observation[] {
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
  const value = scalarText(row.valor)
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
