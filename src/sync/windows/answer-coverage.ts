// Days covered by a valid answer (decisions#coverage). An answer covers its whole window, also without data. An
// unlisted series is covered if it was requested alone, or twice. Days of rejected rows are not covered, nor days
// without a value that had not begun.

import type { Window } from '../../providers/provider.ts'
import type { StoredRate } from '../../store/rates/rates.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { CoverageKind } from '../../store/tables.ts'
import { addDays, EARLIEST_DAY, earliest, type IsoDate, LATEST_DAY, latest } from '../../values/dates.ts'
import {
  addInterval,
  findGaps,
  type Interval,
  subtractInterval,
  toIntervals,
} from '../../values/intervals.ts'
import type { RunState } from '../state.ts'
import type { AcceptedRate, Changes } from './accept.ts'
import { type AnsweredWindow, answersSeries, type Unsynchronized } from './fetch-window.ts'
import { lastFinalDay } from './plan.ts'

export const COVERAGE_KINDS = ['answered', 'final', 'exact'] as const

/** Covered days of the series whose coverage changes. */
export type Coverages = Record<CoverageKind, Map<number, readonly Interval[]>>

type WindowResult = AnsweredWindow & {
  accepted: readonly AcceptedRate[]
  /** Values of the window before this answer. */
  before: readonly StoredRate[]
  changes: Changes
  /** Days with a withheld value, by series: rejected days. */
  withheldDays: ReadonlyMap<number, readonly IsoDate[]>
  /** Days without a value that are not covered yet, by series. */
  openDays: ReadonlyMap<number, readonly IsoDate[]>
}

/** Returns the changed coverage of the series that an answer covers. */
export function extendCoverage(state: RunState, outcome: WindowResult): Coverages {
  const { reading, validated, window } = outcome
  const acceptedByCode = Map.groupBy(outcome.accepted, ({ code }) => code)
  const storedBySeries = Map.groupBy(outcome.before, ({ series_id }) => series_id)
  const rounded = outcome.changes.writes.filter(({ rounded_to }) => rounded_to !== null)
  const roundedBySeries = Map.groupBy(rounded, ({ series_id }) => series_id)
  const result: Coverages = { answered: new Map(), final: new Map(), exact: new Map() }
  for (const { external_code: code, id } of outcome.series) {
    if (!answersSeries(reading, code)) continue
    const change = (kind: CoverageKind, added: readonly Interval[], removed: readonly IsoDate[]) => {
      const after = changeDays(state.covered[kind].get(id) ?? [], added, removed)
      if (after) result[kind].set(id, after)
    }
    const accepted = acceptedByCode.get(code) ?? []
    const valueDays = accepted.map(({ day }) => day)
    const openDays = toIntervals(outcome.openDays.get(id) ?? [])
    const answered = openDays.reduce(
      subtractInterval,
      answeredDays(valueDays, validated.undated.has(code), window, reading.requestedOn),
    )
    const storedRounding = new Map(storedBySeries.get(id)?.map((one) => [one.rate_date, one.rounded_to]))
    const rejected = [...(validated.rejectedDays.get(code) ?? []), ...(outcome.withheldDays.get(id) ?? [])]
    // A stored value still answers for its day.
    change(
      'answered',
      answered,
      rejected.filter((day) => !storedRounding.has(day)),
    )
    const final = reading.isConfirmed ? answered : []
    const newestValue = valueDays.reduce(latest, state.newestValues.get(id) ?? EARLIEST_DAY)
    const lastFinal = lastFinalDay(reading.requestedOn, newestValue)
    change('final', subtractInterval(final, { from: addDays(lastFinal, 1), to: LATEST_DAY }), rejected)
    const roundedWrites = roundedBySeries.get(id)?.map(({ rate_date }) => rate_date) ?? []
    // A source that does not round may be another cambista with rounded values, even the same as before.
    const roundedAgain = accepted.filter(
      ({ day, roundedTo }) => roundedTo !== null && typeof storedRounding.get(day) === 'number',
    )
    change('exact', reading.exact ? answered : [], [...roundedWrites, ...roundedAgain.map(({ day }) => day)])
  }
  return result
}

/**
 * Removes unsynchronized days without a value from the coverage. Each series of a table lacks only some of its days,
 * so days that are final stay covered.
 */
export function reduceCoverage(
  { covered }: Pick<RunState, 'covered'>,
  series: readonly Pick<SeriesRow, 'id'>[],
  { indicator, days }: Unsynchronized,
  stored: readonly StoredRate[],
): Coverages {
  const result: Coverages = { answered: new Map(), final: new Map(), exact: new Map() }
  for (const { id } of series) {
    const values = toIntervals(stored.flatMap((one) => (one.series_id === id ? one.rate_date : [])).sort())
    const final = indicator === undefined ? (covered.final.get(id) ?? []) : []
    const staleDays = final.reduce(subtractInterval, findGaps(values, days))
    for (const kind of ['answered', 'final'] as const) {
      const before = covered[kind].get(id) ?? []
      const after = staleDays.reduce(subtractInterval, before)
      if (!isSame(before, after)) result[kind].set(id, after)
    }
  }
  return result
}

/**
 * Returns the days that had begun, and later ones with a value. A row without a day, or of a later one, may be of any
 * day. Then only days with a value count.
 */
export function answeredDays(
  valueDays: IsoDate[],
  undated: boolean,
  window: Window,
  requestedOn: IsoDate,
): Interval[] {
  const to = earliest(window.to, requestedOn)
  const values = toIntervals(valueDays.sort())
  return undated || window.from > to ? values : addInterval(values, { from: window.from, to })
}

/** Returns the covered days with added intervals and without some days; undefined: they do not change. */
export function changeDays(
  before: readonly Interval[],
  added: readonly Interval[],
  removed: readonly string[],
): readonly Interval[] | undefined {
  const extended = added.reduce<readonly Interval[]>(addInterval, before)
  const after = toIntervals(removed.toSorted()).reduce(subtractInterval, extended as Interval[])
  return isSame(before, after) ? undefined : after
}

function isSame(a: readonly Interval[], b: readonly Interval[]): boolean {
  return a.length === b.length && a.every((one, at) => one.from === b[at]?.from && one.to === b[at]?.to)
}
