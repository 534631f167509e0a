// CSV of the dataflow EXR: an observation a row, with columns found by name.

import { errorReason } from '../../runtime/errors.ts'
import { type IsoDate, latest } from '../../values/dates.ts'
import { excerpt } from '../json.ts'
import { FetchFailure, type Observation, type SourceAnswer, type Window } from '../provider.ts'
import { noValue, readDay, readPublishedValues } from '../published-value.ts'
import { CURRENCY_CODES, PAUSE_MONTHS, seriesCode } from './catalogue.ts'

/** Columns with the same value in each row: daily reference rates per euro. */
const CONSTANTS = [
  ['FREQ', 'D'],
  ['CURRENCY_DENOM', 'EUR'],
  ['EXR_TYPE', 'SP00'],
  ['EXR_SUFFIX', 'A'],
] as const
const COLUMNS = ['CURRENCY', 'TIME_PERIOD', 'OBS_VALUE', ...CONSTANTS.map(([name]) => name)] as const

/** `unknown`: other currencies, whose rows are dropped. */
type RatesAnswer = SourceAnswer & { unknown: Set<string> }

/**
 * Parses an answer. An empty body, or the head alone, is no data. A row without a value is no publication.
 * Currencies share their days. A currency that ends before the others may be cut, and is left out of the coverage.
 * @throws FetchFailure for a head without the columns, a row of another kind of rate or another day, a wrong value, or a
 * last line without its end
 */
export async function readEcbRates(body: string, window: Window): Promise<RatesAnswer> {
  const unknown = new Set<string>()
  if (body.trim() === '') return { listed: [], observations: [], unknown }
  const [head = [], ...rows] = await parseRows(body)
  const missing = COLUMNS.find((name) => !head.includes(name))
  if (missing !== undefined) throw new FetchFailure(`the answer has no column ${missing}`)
  if (!body.endsWith('\n')) throw new FetchFailure('the last line of the answer has no end')
  const codes = new Set<string>()
  const observations: Observation[] = []
  for (const row of rows) {
    if (row.length !== head.length)
      throw new FetchFailure(`a row has ${row.length} cells, not ${head.length}`)
    const cell = (name: (typeof COLUMNS)[number]) => row[head.indexOf(name)] ?? ''
    for (const [name, value] of CONSTANTS) {
      if (cell(name) !== value)
        throw new FetchFailure(`"${name}" is not ${value} but "${excerpt(cell(name), 20)}"`)
    }
    const currency = cell('CURRENCY')
    if (!CURRENCY_CODES.includes(currency)) {
      unknown.add(excerpt(currency, 20))
      continue
    }
    codes.add(currency)
    const day = readDay(cell('TIME_PERIOD'), window)
    const value = cell('OBS_VALUE')
    if (noValue(value)) continue
    observations.push({ code: seriesCode(currency), day, value, roundedTo: undefined })
  }
  const ends = new Map<string, IsoDate>()
  for (const { code, day } of observations) ends.set(code, latest(day, ends.get(code) ?? day))
  const end = [...ends.values()].reduce(latest, window.from)
  const leftOut = [...ends]
    .filter(([code, day]) => day < end && day.slice(0, 7) !== PAUSE_MONTHS[code])
    .map(([code]) => code)
  const listed = [...codes]
    .map((currency) => ({ code: seriesCode(currency), name: currency }))
    .filter(({ code }) => !leftOut.includes(code))
  const values = readPublishedValues(observations, 'plain')
  return { listed, observations: values, unknown, ...(leftOut.length > 0 && { leftOut }) }
}

async function parseRows(body: string): Promise<string[][]> {
  const { csvRows } = await import('../../formats/sheets/csv.ts') // imported here for a faster start
  try {
    return csvRows(body, ',').map(({ cells }) => cells)
  } catch (error) {
    throw new FetchFailure(`the answer is not CSV: ${errorReason(error)}`)
  }
}
