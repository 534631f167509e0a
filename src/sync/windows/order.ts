// Order of the requests of a run: the newest days of all groups first, then missing days, newest first. Series that
// their table does not list are requested alone. A failed window ends its walk; the next run resumes there.

import { EMPTY_DAYS } from '../../domain/rates/holes.ts'
import type { Provider, SeriesGroup, Window } from '../../providers/provider.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { addDays, EARLIEST_DAY, earliest, type IsoDate, LATEST_DAY, latest } from '../../values/dates.ts'
import { addInterval, countDays, type Interval, subtractInterval } from '../../values/intervals.ts'
import { EXTRA_REQUESTS } from '../run-context.ts'
import { enabledSeries, type RunContext, type RunState, seriesCurrency } from '../state.ts'
import { type ChunkResult, narrowGroup, syncChunk } from './chunk.ts'
import { findBeginning, nextWindow, pendingDays, REREAD_DAYS } from './plan.ts'
import { readNewestDays, tableHoles, type Walk, walk } from './walk.ts'
import { withDaysAroundWithheld } from './withholding.ts'

const SINGLE_SERIES_DAYS = 366

/** Returns the days that a run without a range may request. */
export function plannedRange(state: RunContext, backfillFrom: IsoDate): Window {
  let from = state.tomorrow
  for (const group of state.provider.groups) {
    for (const { id } of enabledSeries(state, group)) {
      for (const days of remainingDays(state, group, id, backfillFrom)) from = earliest(from, days.from)
    }
  }
  return { from, to: state.tomorrow }
}

/** Reads the days of a range. */
export async function readRange(
  state: RunState,
  groups: readonly SeriesGroup[],
  range: Window,
): Promise<void> {
  for (const group of groups) {
    if (enabledSeries(state, group).length === 0) continue
    const unlisted = new Set<string>()
    await walk(state, group, {
      daysToRead: () => [range],
      isEnd(window, result) {
        if (window.to >= state.today) reportAbsent(state, group, result)
        for (const code of requestableAlone(state, group, result)) unlisted.add(code)
        return false
      },
    })
    for (const code of unlisted)
      await walk(state, singleSeriesGroup(group, code), { daysToRead: () => [range] })
    const tableDays = tableHoles(state, group)
    for (const { external_code: code } of tableDays.length > 0 ? rotatedSeries(state, group) : []) {
      if (!unlisted.has(code))
        await walk(state, singleSeriesGroup(group, code), { daysToRead: () => tableDays })
    }
  }
}

/** Reads the newest days of everything, then what is missing since `backfillFrom`. */
export async function readEverything(
  state: RunState,
  groups: readonly SeriesGroup[],
  backfillFrom: IsoDate,
): Promise<void> {
  const newestByGroup = new Map<SeriesGroup, Newest>()
  for (const group of groups) {
    if (enabledSeries(state, group).length === 0) continue
    newestByGroup.set(group, await readNewest(state, group, newestWindow(state, group, backfillFrom)))
  }
  // The rest of the newest days comes before history, since extra requests around holes are limited.
  for (const [group, newest] of newestByGroup) {
    const older = { from: EARLIEST_DAY, to: addDays(newest.from, -1) }
    const days = {
      groupDays: addInterval(newest.groupDays, older),
      seriesDays: addInterval(newest.seriesDays, older),
    }
    if (!(await readHistory(state, group, { ...newest, ...days }, backfillFrom))) newestByGroup.delete(group)
  }
  for (const [group, newest] of newestByGroup) await readHistory(state, group, newest, backfillFrom)
}

/** Reads the remaining days of a group. Returns false when a window failed. */
async function readHistory(
  state: RunState,
  group: SeriesGroup,
  { from, groupDays, seriesDays, tableOnly }: Newest,
  backfillFrom: IsoDate,
): Promise<boolean> {
  const daysToRead = ({ id }: SeriesRow) => remainingDays(state, group, id, backfillFrom)
  const series = () => leadingSeries(state, group, tableOnly)
  const isEnd = endOfTable(state, group)
  const isWhole = await walk(state, group, {
    daysToRead,
    series,
    skippedDays: groupDays,
    firstRequested: from,
    isEnd,
  })
  if (!isWhole || group.indicators !== undefined || !state.connection.supportsSingleSeries) return isWhole
  // Reads the days that the table does not list, for each series in its own windows.
  for (const { external_code: code } of rotatedSeries(state, group)) {
    if (tableOnly.has(code)) continue
    await walk(state, singleSeriesGroup(group, code), {
      daysToRead,
      skippedDays: seriesDays,
      firstRequested: from,
    })
  }
  return true
}

/** Result of the newest window of a group. */
type Newest = {
  from: IsoDate
  /** Days that are not requested again: with the group, and for a series alone. */
  groupDays: readonly Interval[]
  seriesDays: readonly Interval[]
  /** Unlisted series whose own request failed. */
  tableOnly: ReadonlySet<string>
}

async function readNewest(state: RunState, group: SeriesGroup, window: Window): Promise<Newest> {
  const tableOnly = new Set<string>()
  const { from } = window
  const whole = [{ from, to: LATEST_DAY }]
  const first = await syncChunk(state, group, window)
  if (!first) return { from, groupDays: whole, seriesDays: whole, tableOnly }
  const newer = await readNewestDays(state, group, { window, result: first })
  const results = [first, ...newer.map(({ result }) => result)]
  for (const result of results) reportAbsent(state, group, result)
  let isSynchronized = first.unsynchronized.length === 0
  const answered = newer.filter(({ result }) => result.unsynchronized.length === 0)
  const groupDays = isSynchronized
    ? whole
    : answered.map(({ window }) => window).reduce<Interval[]>(addInterval, [])
  // A window of a few days without rows lists no series.
  const listing = results.filter((result) => result === first || result.listsAny)
  for (const code of new Set(listing.flatMap((result) => [...requestableAlone(state, group, result)]))) {
    const one = singleSeriesGroup(group, code)
    const result = await syncChunk(state, one, window)
    if (!result) tableOnly.add(code)
    else if (result.unsynchronized.length > 0) isSynchronized = false
  }
  return { from, groupDays, seriesDays: isSynchronized ? whole : [], tableOnly }
}

/** Returns a function that ends the walk over a table after an empty year. Each series is requested alone from there. */
function endOfTable(state: RunState, group: SeriesGroup): NonNullable<Walk['isEnd']> {
  let lastEmptyDay: IsoDate | undefined
  return (window, { hasRows, unsynchronized }) => {
    lastEmptyDay = hasRows || unsynchronized.length > 0 ? undefined : (lastEmptyDay ?? window.to)
    return lastEmptyDay !== undefined && isBeforeAll(state, group, window.from, lastEmptyDay)
  }
}

/** Returns the series of a group, rotated by the number of the run. Extra requests may not suffice for all. */
function rotatedSeries(state: RunState, group: SeriesGroup): SeriesRow[] {
  const series = enabledSeries(state, group)
  const begin = (state.runId * EXTRA_REQUESTS) % Math.max(1, series.length)
  return [...series.slice(begin), ...series.slice(0, begin)]
}

/**
 * Returns the series whose days are requested with a group. Series that the table never lists are requested alone.
 * Otherwise the whole history of the table would be read again.
 */
function leadingSeries(state: RunState, group: SeriesGroup, tableOnly: ReadonlySet<string>): SeriesRow[] {
  const series = enabledSeries(state, group)
  if (group.indicators !== undefined) return series
  const listed = series.filter(
    ({ id, external_code }) => state.covered.answered.has(id) && !tableOnly.has(external_code),
  )
  return listed.length > 0 ? listed : series
}

/**
 * Returns true when a table has been empty for a year and no older value is stored. The rest is requested for each
 * series.
 */
function isBeforeAll(state: RunState, group: SeriesGroup, from: IsoDate, lastEmptyDay: IsoDate): boolean {
  if (group.indicators !== undefined || !state.connection.supportsSingleSeries) return false
  if (countDays({ from, to: lastEmptyDay }) < EMPTY_DAYS) return false
  return enabledSeries(state, group).every(({ id }) => (state.firstValues.get(id) ?? from) >= from)
}

/** Returns the window of the newest days, with as many older ones as one request returns. */
function newestWindow(state: RunState, group: SeriesGroup, backfillFrom: IsoDate): Window {
  const newest = { from: addDays(state.tomorrow, -REREAD_DAYS), to: state.tomorrow }
  const series = enabledSeries(state, group).filter(({ id }) => state.covered.answered.has(id))
  const days = series.flatMap(({ id }) => remainingDays(state, group, id, backfillFrom))
  return nextWindow(days, addDays(state.tomorrow, 1), group.chunkDays) ?? newest
}

/** Returns the oldest day to request of a group. */
export function historyFloor(group: SeriesGroup, backfillFrom: IsoDate): IsoDate {
  return latest(group.startsOn ?? backfillFrom, backfillFrom)
}

/** Returns a function for the oldest day to request of a provider's first group. */
export function providerFloor(backfillFrom: IsoDate): (provider: Provider) => IsoDate {
  return ({ groups: [first] }) => (first ? historyFloor(first, backfillFrom) : backfillFrom)
}

/** Returns the days of a series that this run has not requested yet, from its beginning if that is known. */
export function remainingDays(
  state: RunContext,
  group: SeriesGroup,
  id: number,
  backfillFrom: IsoDate,
): readonly Interval[] {
  const history = { covered: state.covered.answered.get(id) ?? [], firstValue: state.firstValues.get(id) }
  const floor = historyFloor(group, backfillFrom)
  const pending = pendingDays(state.covered.final.get(id) ?? [], floor, state.tomorrow)
  const requested = [...(state.answered.get(id) ?? []), ...(state.unsynchronized.get(id) ?? [])]
  const withheld = withDaysAroundWithheld(state, id, pending, { floor, longest: group.chunkDays })
  const todo = requested.reduce(subtractInterval, withheld as Interval[])
  // A history with a known first day does not end with an empty year.
  const beginning = group.startsOn === undefined ? findBeginning(history) : undefined
  return beginning === undefined
    ? todo
    : subtractInterval(todo, { from: EARLIEST_DAY, to: addDays(beginning, -1) })
}

/** Returns unlisted series of a table, if each can be requested alone. */
function requestableAlone(state: RunState, group: SeriesGroup, { unlisted }: ChunkResult): Iterable<string> {
  return group.indicators === undefined && state.connection.supportsSingleSeries ? unlisted : []
}

function singleSeriesGroup(group: SeriesGroup, code: string): SeriesGroup {
  return { ...narrowGroup(group, code), name: `${group.name}/${code}`, chunkDays: SINGLE_SERIES_DAYS }
}

/** Reports currencies of the catalogue that an answer up to today omits (upstream 3). */
function reportAbsent(state: RunState, group: SeriesGroup, result: ChunkResult): void {
  const { listsAny, leftOut } = result
  const unlisted = [...result.unlisted].filter((code) => !leftOut.has(code))
  const seriesName = (code: string) => {
    const series = state.series.find(({ external_code }) => external_code === code)
    return series ? seriesCurrency(state.provider, series) : code
  }
  if (group.indicators !== undefined) {
    for (const code of unlisted) {
      state.problems.add({ message: `${code}: absent from the answer: ${seriesName(code)}` }, code)
    }
    return
  }
  // A whole table without rows lists no series: the public API sends this for "no data".
  if (!listsAny) return
  const absent = unlisted.map(seriesName)
  // An unknown code may be of a series that is not inserted yet.
  const learnable = [...leftOut].every((code) =>
    state.series.some(({ external_code }) => external_code === code),
  )
  for (const entry of state.provider.catalogue) {
    if (entry.table !== group.table || entry.externalCode !== undefined) continue
    const isInserted = state.series.some(
      (one) => one.base_currency === entry.base && one.quote_currency === entry.quote,
    )
    if (isInserted || !learnable) continue
    absent.push(seriesCurrency(state.provider, { base_currency: entry.base, quote_currency: entry.quote }))
  }
  if (absent.length === 0) return
  state.problems.add({ message: `${group.name}: absent from the answer: ${absent.join(', ')}` }, group.table)
}
