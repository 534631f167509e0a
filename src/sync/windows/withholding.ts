// Withholds far values of an answer, and remembers them with the run that read them first (decisions#jumps). Later runs
// confirm them, or read other values.

import type { SeriesGroup, Window } from '../../providers/provider.ts'
import { listDamagedParts } from '../../store/rates/rate-sums.ts'
import type { StoredRate } from '../../store/rates/rates.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { replaceWithheld, selectWithheld, type WithheldRate } from '../../store/rates/withheld.ts'
import type { WriteDb } from '../../store/tables.ts'
import { addDays, dayNumber, earliest, type IsoDate, latest } from '../../values/dates.ts'
import { addInterval, type Interval, subtractInterval } from '../../values/intervals.ts'
import type { Problem } from '../problems.ts'
import { catalogueEntry, describePair, type RunContext, type RunState } from '../state.ts'
import type { AcceptedRate } from './accept.ts'
import { type FarValue, findFarValues, NEAR_DAYS } from './far-values.ts'
import { type AnsweredWindow, answersSeries } from './fetch-window.ts'

const NAMED = 3

type SeriesFarValue = { series: SeriesRow; value: FarValue }

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

/**
 * Finds the far values of an answer, and writes them to the table of withheld values. `stored`: sound values of
 * `daysAround(window)`. `written`: series whose sums are pending, because the transaction has written them.
 */
export async function withholdFarValues(
  trx: WriteDb,
  state: RunState,
  group: SeriesGroup,
  answered: AnsweredWindow & { stored: readonly StoredRate[]; written: ReadonlySet<number> },
): Promise<Withholding> {
  const { reading, series, validated, window, stored, written } = answered
  const ids = series.map(({ id }) => id)
  const rows = await selectWithheld(trx, { ids, days: daysAround(window) })
  const acceptedByCode = Map.groupBy(validated.accepted, ({ code }) => code)
  const storedById = Map.groupBy(stored, ({ series_id }) => series_id)
  const isInWindow = ({ rate_date }: { rate_date: IsoDate }) =>
    rate_date >= window.from && rate_date <= window.to
  const days = new Map<number, IsoDate[]>()
  const newDays = new Map<number, IsoDate[]>()
  const far: SeriesFarValue[] = []
  for (const one of series) {
    const { id, external_code: code } = one
    const answer = acceptedByCode.get(code) ?? []
    if (answer.length === 0 && !answersSeries(reading, code)) continue
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
    const contradicted = values.filter(isContradiction).map(({ day }) => day)
    if (contradicted.length > 0 && !written.has(id)) {
      // A damaged value contradicts nothing; its neighbours judge the published one.
      const years = new Set(await listDamagedParts(trx, id))
      const damaged = new Set(contradicted.filter((day) => years.has(day.slice(0, 4))))
      if (damaged.size > 0) values = judge(sound.filter(({ rate_date }) => !damaged.has(rate_date)))
    }
    if (values.length === 0 && !before.some(isInWindow)) continue
    const unstored = values.filter((value) => !isContradiction(value))
    days.set(id, values.map(({ day }) => day).sort())
    newDays.set(id, unstored.map(({ day }) => day).sort())
    far.push(...values.map((value) => ({ series: one, value })))
  }
  if (days.size > 0) await replaceWithheld(trx, [...days.keys()], window, far.map(withheldRow))
  const farDays = new Map(series.map(({ id, external_code }) => [external_code, new Set(days.get(id))]))
  return {
    accepted: validated.accepted.filter(({ code, day }) => farDays.get(code)?.has(day) === false),
    days,
    newDays,
    problems: describeFar(state, far, answered.name, reading.indicator ?? group.table),
  }
}

/** Returns true for a value that contradicts the stored one of its day. */
function isContradiction({ day, reference }: FarValue): boolean {
  return reference?.rate_date === day
}

function withheldRow({
  series,
  value: { day, value, roundedTo, farFrom, runId },
}: SeriesFarValue): WithheldRate {
  return {
    ...{ series_id: series.id, rate_date: day, value, rounded_to: roundedTo },
    ...{ far_from: farFrom, run_id: runId },
  }
}

/** Names the newest far values, and counts the others. The failure has the count of all. */
function describeFar(
  { provider }: RunState,
  far: readonly SeriesFarValue[],
  name: string,
  of: string,
): Problem[] {
  const newest = far.toSorted((a, b) => (a.value.day < b.value.day ? 1 : -1))
  const words = newest.slice(0, NAMED).map(({ series, value: { day, value, reference, farFrom } }) => {
    const range = catalogueEntry(provider, series)?.plausibleRange
    const cause = reference
      ? `more than a factor of 5 from ${reference.value} of ${reference.rate_date}`
      : farFrom === 'range' && range
        ? `far from the plausible ${range.low} to ${range.high}`
        : 'beside other withheld values'
    return `${name}: ${describePair(series)} of ${day} is ${value}, ${cause}, withheld`
  })
  const others = far.length - words.length
  if (others > 0) words.push(`${name}: ${others} more values are withheld`)
  return words.map((message, at) => ({
    message,
    failure: { code: 'value_withheld', of, count: at < NAMED ? 1 : others },
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
