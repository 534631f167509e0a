// What a valid answer covers (decisions 2.6). It covers its whole window: "no data" is an answer, and so is silence once
// the series was asked for alone, or twice. It does not cover a day whose row was rejected, nor a day without a value
// that had not begun when it was asked for.

import { addDays, EARLIEST_DAY, earliest, type IsoDate, LATEST_DAY, latest } from '../dates.ts'
import { gapsIn, type Interval, joined, runsOf, without } from '../intervals.ts'
import type { Window } from '../providers/provider.ts'
import type { StoredRate } from '../store/rates/rates.ts'
import type { SeriesRow } from '../store/rates/series.ts'
import type { CoverageKind } from '../store/tables.ts'
import type { AcceptedRate, Changes, ValidatedRows } from './accept.ts'
import { type Reading, saysOf, type Unsynchronized } from './ask.ts'
import { finalBy } from './plan.ts'
import type { SyncState } from './state.ts'

export const COVERAGE_KINDS = ['answered', 'final', 'exact'] as const

/** Covered days of the series of which they change. */
export type Coverages = Record<CoverageKind, Map<number, readonly Interval[]>>

type Outcome = {
  reading: Reading
  validated: ValidatedRows
  accepted: readonly AcceptedRate[]
  /** What was stored of the window before. */
  stored: readonly StoredRate[]
  changes: Changes
  window: Window
}

/** What is covered after an answer, of the series that it says something of. */
export function coverageAfter(
  state: SyncState,
  idOf: ReadonlyMap<string, number>,
  outcome: Outcome,
): Coverages {
  const { reading, validated, window } = outcome
  const acceptedOf = Map.groupBy(outcome.accepted, ({ code }) => code)
  const storedOf = Map.groupBy(outcome.stored, ({ series_id }) => series_id)
  const rounded = outcome.changes.writes.filter(({ rounded_to }) => rounded_to !== null)
  const roundedOf = Map.groupBy(rounded, ({ series_id }) => series_id)
  const moved: Coverages = { answered: new Map(), final: new Map(), exact: new Map() }
  for (const [code, id] of idOf) {
    if (!saysOf(reading, code)) continue
    const move = (kind: CoverageKind, added: readonly Interval[], removed: readonly IsoDate[]) => {
      const before = state.covered[kind].get(id) ?? []
      const after = withAndWithout(before, added, removed)
      if (!isSame(before, after)) moved[kind].set(id, after)
    }
    const valueDays = (acceptedOf.get(code) ?? []).map(({ day }) => day)
    const answered = answeredDays(valueDays, validated.undated.has(code), window, reading.askedOn)
    const storedDays = new Set(storedOf.get(id)?.map(({ rate_date }) => rate_date))
    const rejected = [...(validated.rejectedDays.get(code) ?? [])]
    // What is stored of a day goes on answering for it.
    move(
      'answered',
      answered,
      rejected.filter((day) => !storedDays.has(day)),
    )
    const final = reading.isConfirmed ? answered : []
    const newestValue = valueDays.reduce(latest, state.newestValues.get(id) ?? EARLIEST_DAY)
    const finalTo = finalBy(reading.askedOn, newestValue)
    move('final', without(final, { from: addDays(finalTo, 1), to: LATEST_DAY }), rejected)
    const roundedDays = roundedOf.get(id)?.map(({ rate_date }) => rate_date) ?? []
    move('exact', reading.exact ? answered : [], roundedDays)
  }
  return moved
}

/**
 * What is covered when the source has not synchronized some days: of these the days with a value alone. Each series of a
 * table lacks some of the table's days, and which is not known: days that are final stay covered.
 */
export function coverageWithout(
  { covered }: Pick<SyncState, 'covered'>,
  series: readonly Pick<SeriesRow, 'id'>[],
  { indicator, days }: Unsynchronized,
  stored: readonly StoredRate[],
): Coverages {
  const moved: Coverages = { answered: new Map(), final: new Map(), exact: new Map() }
  for (const { id } of series) {
    const values = runsOf(stored.flatMap((one) => (one.series_id === id ? one.rate_date : [])).sort())
    const final = indicator === undefined ? (covered.final.get(id) ?? []) : []
    const removed = final.reduce(without, gapsIn(values, days))
    for (const kind of ['answered', 'final'] as const) {
      const before = covered[kind].get(id) ?? []
      const after = removed.reduce(without, before)
      if (!isSame(before, after)) moved[kind].set(id, after)
    }
  }
  return moved
}

/** The days that had begun, and later ones with a value; of an undated row it is not known which day it was. */
function answeredDays(valueDays: IsoDate[], undated: boolean, window: Window, askedOn: IsoDate): Interval[] {
  const to = earliest(window.to, askedOn)
  const values = runsOf(valueDays.sort())
  return undated || window.from > to ? values : joined(values, { from: window.from, to })
}

function withAndWithout(
  before: readonly Interval[],
  added: readonly Interval[],
  removed: readonly string[],
): readonly Interval[] {
  let after = before
  for (const interval of added) after = joined(after, interval)
  for (const interval of runsOf(removed.toSorted())) after = without(after, interval)
  return after
}

function isSame(a: readonly Interval[], b: readonly Interval[]): boolean {
  return a.length === b.length && a.every((one, at) => one.from === b[at]?.from && one.to === b[at]?.to)
}
