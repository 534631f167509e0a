// Begun days without a value of a source that publishes every day. Three runs on different days of Costa Rica have to
// agree before such a day is covered (decisions#empty-days).

import { dueDay } from '../../domain/rates/freshness.ts'
import type { SeriesGroup } from '../../providers/provider.ts'
import { type EmptyDay, replaceEmptyDays, selectEmptyDays } from '../../store/rates/empty-days.ts'
import type { StoredRate } from '../../store/rates/rates.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { WriteDb } from '../../store/tables.ts'
import { addDays, currentDay, earliest, type IsoDate } from '../../values/dates.ts'
import { difference, findGaps, type Interval, toIntervals } from '../../values/intervals.ts'
import type { Problem } from '../problems.ts'
import { describePair, type RunState } from '../state.ts'
import { type AnsweredWindow, answersSeries, type Reading } from './fetch-window.ts'

const AGREEING_RUNS = 3
const NAMED = 3

/**
 * Counts the answers without a value of each begun day. `stored`: values of the window. Returns the days that stay
 * open. Open days after the first known value are a problem of the run. Before it the source may not have begun.
 */
export async function countEmptyDays(
  trx: WriteDb,
  state: RunState,
  { publishesDaily }: SeriesGroup,
  answer: AnsweredWindow & { stored: readonly StoredRate[] },
): Promise<{ openDays: Map<number, IsoDate[]>; problems: Problem[] }> {
  const { reading, series, window, validated, name } = answer
  const due = dueDay(state.provider, state.now)
  const openDays = new Map<number, IsoDate[]>()
  const problems: Problem[] = []
  const begunDays = { from: window.from, to: earliest(window.to, reading.requestedOn) }
  for (const one of publishesDaily && begunDays.from <= begunDays.to ? series : []) {
    // A row without its day may be of any day.
    if (!answersSeries(reading, one.external_code) || validated.undated.has(one.external_code)) continue
    const days = listRowDays(one, answer)
    const first = [state.firstValues.get(one.id), ...days].filter((day) => day !== undefined).sort()[0]
    // A window without a value before the first known one is the begin of the history.
    const isExpected = first === undefined || days.length > 0 || first < begunDays.from
    const gaps = isExpected ? findGaps(toIntervals(days), begunDays) : []
    const empty = difference(gaps, state.covered.answered.get(one.id) ?? []).flatMap(listDays)
    const before = await selectEmptyDays(trx, one.id, window)
    if (empty.length === 0 && before.length === 0) continue
    const open = openRows(one.id, empty, before, state, reading)
    await replaceEmptyDays(trx, one.id, window, open)
    const stillOpen = open.map(({ rate_date }) => rate_date)
    openDays.set(one.id, stillOpen)
    const reportedDays = toIntervals(
      stillOpen.filter((day) => day <= due && (first === undefined || day > first)),
    )
    if (reportedDays.length > 0) problems.push({ message: `${name}: ${describeEmpty(one, reportedDays)}` })
  }
  return { openDays, problems }
}

/** Returns the days with a row of the answer or a stored value, ascending. */
function listRowDays(
  { id, external_code }: SeriesRow,
  { validated, stored }: Pick<AnsweredWindow, 'validated'> & { stored: readonly StoredRate[] },
): IsoDate[] {
  const days = new Set(validated.rejectedDays.get(external_code))
  for (const { code, day } of validated.accepted) if (code === external_code) days.add(day)
  for (const { series_id, rate_date } of stored) if (series_id === id) days.add(rate_date)
  return [...days].sort()
}

/** Returns the rows of days on which fewer than three runs agree. An unconfirmed answer counts for none. */
function openRows(
  id: number,
  empty: readonly IsoDate[],
  before: readonly EmptyDay[],
  { now, provider }: RunState,
  { isConfirmed }: Reading,
): EmptyDay[] {
  const rows = new Map(before.map((one) => [one.rate_date, one]))
  const today = currentDay(now)
  const due = dueDay(provider, now) // an answer before the publication of a day does not count
  return empty
    .map((day) => {
      const row = rows.get(day) ?? { series_id: id, rate_date: day, answers: 0, answered_on: '' }
      const isCounted = isConfirmed && day <= due && row.answered_on !== today // also after a clock that was ahead
      return isCounted ? { ...row, answers: row.answers + 1, answered_on: today } : row
    })
    .filter(({ answers }) => answers < AGREEING_RUNS)
}

function describeEmpty(series: SeriesRow, days: readonly Interval[]): string {
  const newest = days.slice(-NAMED).map(({ from, to }) => (from === to ? from : `${from} to ${to}`))
  const more = days.length > NAMED ? ` and ${days.length - NAMED} older intervals` : ''
  return `${describePair(series)} has no value on ${newest.join(', ')}${more}`
}

function listDays({ from, to }: Interval): IsoDate[] {
  const days: IsoDate[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day)
  return days
}
