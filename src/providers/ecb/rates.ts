// CSV of the dataflow EXR: an observation a row, with columns found by name.

import { errorReason } from '../../runtime/errors.ts'
import { addDays, earliest, type IsoDate, latest } from '../../values/dates.ts'
import { countDays } from '../../values/intervals.ts'
import { excerpt } from '../json.ts'
import { FetchFailure, type Observation, type SourceAnswer, type Window } from '../provider.ts'
import { noValue, readDay, readPublishedValues } from '../published-value.ts'
import { CURRENCY_CODES, FIRST_DAY, isPublished, seriesCode } from './catalogue.ts'

/** Columns with the same value in each row: daily reference rates per euro. */
const CONSTANTS = [
  ['FREQ', 'D'],
  ['CURRENCY_DENOM', 'EUR'],
  ['EXR_TYPE', 'SP00'],
  ['EXR_SUFFIX', 'A'],
] as const
const COLUMNS = ['KEY', 'CURRENCY', 'TIME_PERIOD', 'OBS_VALUE', ...CONSTANTS.map(([name]) => name)] as const

const LONGEST_CLOSURE_DAYS = 4 // from Good Friday to Easter Monday

/** `unknown`: other currencies, whose rows are dropped. */
type RatesAnswer = SourceAnswer & { unknown: Set<string> }

/**
 * Parses an answer. An empty body, or the head alone, is no data. A row without a value is no publication.
 * Currencies share their days. A currency without a row on one of them may be cut, and is left out of the coverage.
 * @throws FetchFailure for a head without the columns, a row of another kind of rate or another day, a wrong value, or a
 * last line without its end, or no value for more days than a closure has
 */
export async function readEcbRates(
  body: string,
  window: Window,
  today: IsoDate | undefined,
): Promise<RatesAnswer> {
  const unknown = new Set<string>()
  if (body.trim() === '') return { ...requireClosure(window, today), unknown }
  const [head = [], ...rows] = await parseRows(body)
  const missing = COLUMNS.find((name) => !head.includes(name))
  if (missing !== undefined) throw new FetchFailure(`the answer has no column ${missing}`)
  if (!body.endsWith('\n')) throw new FetchFailure('the last line of the answer has no end')
  const rowDays = new Map<string, Set<IsoDate>>() // by currency
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
    if (cell('KEY') !== `EXR.${seriesCode(currency)}`)
      throw new FetchFailure(`"KEY" of ${currency} is "${excerpt(cell('KEY'), 40)}"`)
    const day = readDay(cell('TIME_PERIOD'), window)
    rowDays.getOrInsertComputed(currency, () => new Set()).add(day)
    const value = cell('OBS_VALUE')
    if (noValue(value)) continue
    observations.push({ code: seriesCode(currency), day, value, roundedTo: undefined })
  }
  const days = [...new Set(observations.map(({ day }) => day))]
  if (rows.length === 0) requireClosure(window, today)
  const lacksDay = (currency: string) =>
    days.some((day) => isPublished(currency, day) && !rowDays.get(currency)?.has(day))
  const incomplete = CURRENCY_CODES.filter(lacksDay)
  // A table that is cut within its first currency does not show its days.
  if (incomplete.length > CURRENCY_CODES.length / 2) incomplete.push(...rowDays.keys())
  const listed = [...rowDays.keys()]
    .filter((currency) => !incomplete.includes(currency))
    .map((currency) => ({ code: seriesCode(currency), name: currency }))
  const leftOut = [...new Set(incomplete)].map(seriesCode)
  const values = readPublishedValues(observations, 'plain')
  return { listed, observations: values, unknown, ...(leftOut.length > 0 && { leftOut }) }
}

/** @throws FetchFailure for a window without rows whose past days are more than those of a closure */
function requireClosure({ from, to }: Window, today: IsoDate | undefined): SourceAnswer {
  const past = { from: latest(from, FIRST_DAY), to: today ? earliest(to, addDays(today, -1)) : from }
  if (countDays(past) > LONGEST_CLOSURE_DAYS)
    throw new FetchFailure(`the answer has no row from ${past.from} to ${past.to}`)
  return { listed: [], observations: [] }
}

async function parseRows(body: string): Promise<string[][]> {
  const { csvRows } = await import('../../formats/sheets/csv.ts') // imported here for a faster start
  try {
    return csvRows(body, ',').map(({ cells }) => cells)
  } catch (error) {
    throw new FetchFailure(`the answer is not CSV: ${errorReason(error)}`)
  }
}
