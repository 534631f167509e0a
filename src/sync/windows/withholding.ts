// Withholds far values of an answer, and remembers them with the run that read them first (decisions 2.6). Later runs
// confirm them, or read other values.

import type { Window } from '../../providers/provider.ts'
import { listDamagedParts } from '../../store/rates/rate-sums.ts'
import type { StoredRate } from '../../store/rates/rates.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { replaceWithheld, selectWithheld } from '../../store/rates/withheld.ts'
import type { WriteDb } from '../../store/tables.ts'
import { addDays, dayNumber, earliest, type IsoDate, latest } from '../../values/dates.ts'
import { addInterval, type Interval, subtractInterval } from '../../values/intervals.ts'
import type { Problem } from '../problems.ts'
import { catalogueEntry, describePair, type RunContext, type RunState } from '../state.ts'
import type { AcceptedRate } from './accept.ts'
import { type FarValue, findFarValues, NEAR_DAYS } from './far-values.ts'

const NAMED = 3

type WithholdingRequest = {
  /** Requested series whose answer is stored. */
  series: readonly SeriesRow[]
  accepted: readonly AcceptedRate[]
  /** Sound stored values of `daysAround(window)`. */
  stored: readonly StoredRate[]
  /** Series that the transaction has written, so that their sums are pending. */
  written: ReadonlySet<number>
  window: Window
  /** Returns true when the answer covers a series. */
  answersSeries: (code: string) => boolean
  /** Name of the request in messages, and its indicator or table. */
  name: string
  of: string
}

/** Values to store, and the withheld days of each answered series. */
export type Withholding = {
  accepted: AcceptedRate[]
  days: Map<number, IsoDate[]>
  /** Withheld days without a stored value. */
  newDays: Map<number, IsoDate[]>
  problems: Problem[]
}

/** Returns the days whose values are compared with those of a window. */
export function daysAround({ from, to }: Window): Window {
  return { from: addDays(from, -NEAR_DAYS), to: addDays(to, NEAR_DAYS) }
}

/** Finds the far values of an answer, and writes them to the table of withheld values. */
export async function withholdFarValues(
  trx: WriteDb,
  state: RunState,
  { series, accepted, stored, written, window, answersSeries, name, of }: WithholdingRequest,
): Promise<Withholding> {
  const ids = series.map(({ id }) => id)
  const rows = await selectWithheld(trx, { ids, days: daysAround(window) })
  const byCode = Map.groupBy(accepted, ({ code }) => code)
  const storedById = Map.groupBy(stored, ({ series_id }) => series_id)
  const isInWindow = ({ rate_date }: { rate_date: IsoDate }) =>
    rate_date >= window.from && rate_date <= window.to
  const days = new Map<number, IsoDate[]>()
  const newDays = new Map<number, IsoDate[]>()
  const withheldRows: typeof rows = []
  const far: { series: SeriesRow; value: FarValue }[] = []
  for (const one of series) {
    const { id, external_code: code } = one
    const answer = byCode.get(code) ?? []
    if (answer.length === 0 && !answersSeries(code)) continue
    const { acceptedJump: jump, today, runId } = state
    const before = rows.filter(({ series_id }) => series_id === id)
    const sound = storedById.get(id) ?? []
    const judge = (rates: readonly StoredRate[]) =>
      findFarValues({
        ...{ answer, today, runId, stored: rates, newestDay: state.newestValues.get(id) },
        withheld: before.filter((row) => !isInWindow(row) || answer.some(({ day }) => day === row.rate_date)),
        acceptedDay: jump?.seriesId === id ? jump.day : undefined,
        range: catalogueEntry(state.provider, one)?.plausibleRange,
      })
    let values = judge(sound)
    const contradicted = values.flatMap(({ day, reference }) => (reference?.rate_date === day ? [day] : []))
    if (contradicted.length > 0 && !written.has(id)) {
      // A damaged value contradicts nothing; its neighbours judge the published one.
      const years = new Set(await listDamagedParts(trx, id))
      const damaged = new Set(contradicted.filter((day) => years.has(day.slice(0, 4))))
      if (damaged.size > 0) values = judge(sound.filter(({ rate_date }) => !damaged.has(rate_date)))
    }
    if (values.length === 0 && !before.some(isInWindow)) continue
    days.set(id, values.map(({ day }) => day).sort())
    const unstored = values.filter(({ day, reference }) => reference?.rate_date !== day)
    newDays.set(id, unstored.map(({ day }) => day).sort())
    for (const value of values) {
      far.push({ series: one, value })
      withheldRows.push({
        ...{ series_id: id, rate_date: value.day, value: value.value, rounded_to: value.roundedTo },
        ...{ far_from: value.farFrom, run_id: value.runId },
      })
    }
  }
  if (days.size > 0) await replaceWithheld(trx, [...days.keys()], window, withheldRows)
  const farDays = new Map(
    [...Map.groupBy(far, ({ series }) => series.external_code)].map(([code, some]) => [
      code,
      new Set(some.map(({ value }) => value.day)),
    ]),
  )
  return {
    accepted: accepted.filter(({ code, day }) => !farDays.get(code)?.has(day)),
    days,
    newDays,
    problems: describeFar(state, far, { name, of }),
  }
}

/** Names the newest far values, and counts the others. The failure has the count of all. */
function describeFar(
  { provider }: RunState,
  far: readonly { series: SeriesRow; value: FarValue }[],
  request: { name: string; of: string },
): Problem[] {
  const newest = far.toSorted((a, b) => (a.value.day < b.value.day ? 1 : -1))
  const words = newest.slice(0, NAMED).map(({ series, value: { day, value, reference, farFrom } }) => {
    const range = catalogueEntry(provider, series)?.plausibleRange
    const cause = reference
      ? `more than a factor of 5 from ${reference.value} of ${reference.rate_date}`
      : farFrom === 'range' && range
        ? `far from the plausible ${range.low} to ${range.high}`
        : 'beside other withheld values'
    return `${request.name}: ${describePair(series)} of ${day} is ${value}, ${cause}, withheld`
  })
  const others = far.length - words.length
  if (others > 0) words.push(`${request.name}: ${others} more values are withheld`)
  return words.map((message, at) => ({
    message,
    failure: { code: 'value_withheld', of: request.of, count: at < NAMED ? 1 : others },
  }))
}

/**
 * Adds the days around withheld values to the days to read. An answer with days before and after a new currency confirms
 * it. Only the newest `longest` days of an interval are read, until they are stored.
 */
export function withDaysAroundWithheld(
  { withheldDays, tomorrow }: Pick<RunContext, 'withheldDays' | 'tomorrow'>,
  id: number,
  pending: readonly Interval[],
  { floor, longest }: { floor: IsoDate; longest: number },
): readonly Interval[] {
  let result = pending
  for (const { from, to } of joinNearDays(withheldDays.get(id) ?? [])) {
    const end = earliest(addDays(to, NEAR_DAYS), tomorrow)
    const begin = latest(latest(addDays(from, -NEAR_DAYS), floor), addDays(end, 1 - longest))
    if (begin <= end) result = addInterval(result, { from: begin, to: end })
    if (from < begin) result = subtractInterval(result, { from, to: addDays(begin, -1) })
  }
  return result
}

/** Joins days that are at most 31 days apart. */
function joinNearDays(days: readonly IsoDate[]): Interval[] {
  const intervals: Interval[] = []
  for (const day of days) {
    const last = intervals.at(-1)
    if (last && dayNumber(day) - dayNumber(last.to) <= NEAR_DAYS) last.to = day
    else intervals.push({ from: day, to: day })
  }
  return intervals
}
