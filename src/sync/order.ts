// What a run reads, in which order: the newest days of everything first, then what is missing, newest first. A series
// that its table does not list is asked for alone. A failed window ends its walk, and the next run goes on there.

import { addDays, dayOf, EARLIEST_DAY, earliest, type IsoDate, LATEST_DAY, latest } from '../dates.ts'
import { EMPTY_DAYS } from '../domain/rates/holes.ts'
import { type Interval, joined, without } from '../intervals.ts'
import type { SeriesGroup, Window } from '../providers/provider.ts'
import type { SeriesRow } from '../store/rates/series.ts'
import { alone, type ChunkResult, syncChunk } from './chunk.ts'
import { beginningOf, daysToAsk, nextWindow, REREAD_DAYS } from './plan.ts'
import { EXTRA_REQUESTS } from './record.ts'
import { currencyOf, type SyncRecord, type SyncState, seriesOf } from './state.ts'
import { readNewestDays, tableHoles, type Walk, walk } from './walk.ts'

const CHUNK_ALONE_DAYS = 366

/** The days that a run without a range may ask for. */
export function plannedRange(state: SyncRecord, backfillFrom: IsoDate): Window {
  let from = state.tomorrow
  for (const group of state.provider.groups) {
    if (seriesOf(state, group).length === 0) continue
    for (const { id } of seriesOf(state, group)) {
      for (const days of todoOfSeries(state, group, id, backfillFrom)) from = earliest(from, days.from)
    }
  }
  return { from, to: state.tomorrow }
}

/** Reads exactly the days given. */
export async function readRange(
  state: SyncState,
  groups: readonly SeriesGroup[],
  range: Window,
): Promise<void> {
  for (const group of groups) {
    if (seriesOf(state, group).length === 0) continue
    const unlisted = new Set<string>()
    await walk(state, group, {
      todoOf: () => [range],
      isEnd(window, result) {
        if (window.to >= state.today) reportAbsent(state, group, result)
        for (const code of askableAlone(state, group, result)) unlisted.add(code)
        return false
      },
    })
    for (const code of unlisted) await walk(state, groupOfOne(group, code), { todoOf: () => [range] })
    const tableDays = tableHoles(state, group)
    for (const { external_code: code } of tableDays.length > 0 ? rotatedSeries(state, group) : []) {
      if (!unlisted.has(code)) await walk(state, groupOfOne(group, code), { todoOf: () => tableDays })
    }
  }
}

/** Reads the newest days of everything, then what is missing since `backfillFrom`. */
export async function readEverything(
  state: SyncState,
  groups: readonly SeriesGroup[],
  backfillFrom: IsoDate,
): Promise<void> {
  const begun = new Map<SeriesGroup, Newest>()
  for (const group of groups) {
    if (seriesOf(state, group).length === 0) continue
    begun.set(group, await readNewest(state, group, newestWindow(state, group, backfillFrom)))
  }
  // What is left of the newest days around holes comes before all history, for requests around holes are few.
  for (const [group, newest] of begun) {
    const older = { from: EARLIEST_DAY, to: addDays(newest.from, -1) }
    const days = {
      groupDays: joined(newest.groupDays, older),
      seriesDays: joined(newest.seriesDays, older),
    }
    if (!(await readHistory(state, group, { ...newest, ...days }, backfillFrom))) begun.delete(group)
  }
  for (const [group, newest] of begun) await readHistory(state, group, newest, backfillFrom)
}

/** Reads the days of a group that are still to be asked for; false when a window failed. */
async function readHistory(
  state: SyncState,
  group: SeriesGroup,
  { from, groupDays, seriesDays, deaf }: Newest,
  backfillFrom: IsoDate,
): Promise<boolean> {
  const todoOf = ({ id }: SeriesRow) => todoOfSeries(state, group, id, backfillFrom)
  const series = () => followed(state, group, deaf)
  const isEnd = endOfTable(state, group)
  const isWhole = await walk(state, group, {
    todoOf,
    series,
    skippedDays: groupDays,
    requestedFrom: from,
    isEnd,
  })
  if (!isWhole || group.indicators !== undefined || !state.session.supportsSingleSeries) return isWhole
  // What a table is silent about, each series in windows of its own.
  for (const { external_code: code } of rotatedSeries(state, group)) {
    if (deaf.has(code)) continue
    await walk(state, groupOfOne(group, code), { todoOf, skippedDays: seriesDays, requestedFrom: from })
  }
  return true
}

/** What came of the newest window of a group. */
type Newest = {
  from: IsoDate
  /** Days that are not requested again with the group, and of a series alone. */
  groupDays: readonly Interval[]
  seriesDays: readonly Interval[]
  /** The series that cannot be asked for alone, although the table does not list them. */
  deaf: ReadonlySet<string>
}

async function readNewest(state: SyncState, group: SeriesGroup, window: Window): Promise<Newest> {
  const deaf = new Set<string>()
  const { from } = window
  const whole = [{ from, to: LATEST_DAY }]
  const first = await syncChunk(state, group, window)
  if (!first) return { from, groupDays: whole, seriesDays: whole, deaf }
  const newer = await readNewestDays(state, group, { window, result: first })
  const results = [first, ...newer.map(({ result }) => result)]
  for (const result of results) reportAbsent(state, group, result)
  let isSynchronized = first.unsynchronized.length === 0
  const answered = newer.filter(({ result }) => result.unsynchronized.length === 0)
  const groupDays = isSynchronized
    ? whole
    : answered.map(({ window }) => window).reduce<Interval[]>(joined, [])
  // A few days without any row list nothing.
  const listing = results.filter((result) => result === first || result.listsAny)
  for (const code of new Set(listing.flatMap((result) => [...askableAlone(state, group, result)]))) {
    const one = groupOfOne(group, code)
    const result = await syncChunk(state, one, window)
    if (!result) deaf.add(code)
    else if (result.unsynchronized.length > 0) isSynchronized = false
  }
  return { from, groupDays, seriesDays: isSynchronized ? whole : [], deaf }
}

/** Finds the end of a walk over a table: once a year has brought nothing, the rest is asked for series by series. */
function endOfTable(state: SyncState, group: SeriesGroup): NonNullable<Walk['isEnd']> {
  let emptyTo: IsoDate | undefined
  return (window, { hasRows, unsynchronized }) => {
    emptyTo = hasRows || unsynchronized.length > 0 ? undefined : (emptyTo ?? window.to)
    return emptyTo !== undefined && isBeforeAll(state, group, window.from, emptyTo)
  }
}

/** The series of a group; each run begins with others, for its extra requests may not suffice for all. */
function rotatedSeries(state: SyncState, group: SeriesGroup): SeriesRow[] {
  const series = seriesOf(state, group)
  const begin = (state.runId * EXTRA_REQUESTS) % Math.max(1, series.length)
  return [...series.slice(begin), ...series.slice(0, begin)]
}

/**
 * The series whose days are asked for with a group. One that its table never lists would have the whole history of the
 * table read again: it is asked for alone.
 */
function followed(state: SyncState, group: SeriesGroup, deaf: ReadonlySet<string>): SeriesRow[] {
  const series = seriesOf(state, group)
  if (group.indicators !== undefined) return series
  const listed = series.filter(
    ({ id, external_code }) => state.covered.answered.has(id) && !deaf.has(external_code),
  )
  return listed.length > 0 ? listed : series
}

/** Whether a table has had nothing for a year, and nothing older is stored: the rest is asked for series by series. */
function isBeforeAll(state: SyncState, group: SeriesGroup, from: IsoDate, emptyTo: IsoDate): boolean {
  if (group.indicators !== undefined || !state.session.supportsSingleSeries) return false
  if (dayOf(emptyTo) - dayOf(from) + 1 < EMPTY_DAYS) return false
  return seriesOf(state, group).every(({ id }) => (state.firstValues.get(id) ?? from) >= from)
}

/** The window that holds the newest days, with as many older ones as one request takes. */
function newestWindow(state: SyncState, group: SeriesGroup, backfillFrom: IsoDate): Window {
  const newest = { from: addDays(state.tomorrow, -REREAD_DAYS), to: state.tomorrow }
  const series = seriesOf(state, group).filter(({ id }) => state.covered.answered.has(id))
  const days = series.flatMap(({ id }) => todoOfSeries(state, group, id, backfillFrom))
  return nextWindow(days, addDays(state.tomorrow, 1), group.chunkDays) ?? newest
}

/** The oldest day that a group is asked for by itself. */
export function floorOf(group: SeriesGroup, backfillFrom: IsoDate): IsoDate {
  return latest(group.startsOn ?? backfillFrom, backfillFrom)
}

/** What a series is still to be asked for in this run; nothing before its beginning, where that has shown itself. */
export function todoOfSeries(
  state: SyncRecord,
  group: SeriesGroup,
  id: number,
  backfillFrom: IsoDate,
): readonly Interval[] {
  const known = { covered: state.covered.answered.get(id) ?? [], firstValue: state.firstValues.get(id) }
  let todo = daysToAsk(state.covered.final.get(id) ?? [], floorOf(group, backfillFrom), state.tomorrow)
  for (const answered of state.answered.get(id) ?? []) todo = without(todo, answered)
  for (const missing of state.unsynchronized.get(id) ?? []) todo = without(todo, missing)
  // A history with a known first day does not end with an empty year.
  const begun = group.startsOn === undefined ? beginningOf(known) : undefined
  return begun === undefined ? todo : without(todo, { from: EARLIEST_DAY, to: addDays(begun, -1) })
}

/** Series of a table that an answer does not list, where each can be asked for alone. */
function askableAlone(state: SyncState, group: SeriesGroup, { unlisted }: ChunkResult): Iterable<string> {
  return group.indicators === undefined && state.session.supportsSingleSeries ? unlisted : []
}

function groupOfOne(group: SeriesGroup, code: string): SeriesGroup {
  return { ...alone(group, code), name: `${group.name}/${code}`, chunkDays: CHUNK_ALONE_DAYS }
}

/** Says which currencies of the catalogue an answer that reaches up to today leaves out (upstream 3). */
function reportAbsent(state: SyncState, group: SeriesGroup, result: ChunkResult): void {
  const { listsAny, leftOut } = result
  const unlisted = [...result.unlisted].filter((code) => !leftOut.has(code))
  const nameOf = (code: string) => {
    const series = state.series.find(({ external_code }) => external_code === code)
    return series ? currencyOf(state.provider, series) : code
  }
  if (group.indicators !== undefined) {
    for (const code of unlisted) state.problems.add(`${code}: absent from the answer: ${nameOf(code)}`)
    return
  }
  // A whole table with nothing in it lists nothing: that is the public API's "no data".
  if (!listsAny) return
  const absent = unlisted.map(nameOf)
  // A code that is not known may be that of a series which is still to be learned.
  const learnable = [...leftOut].every((code) =>
    state.series.some(({ external_code }) => external_code === code),
  )
  for (const entry of state.provider.catalogue) {
    if (entry.table !== group.table || entry.externalCode !== undefined) continue
    const made = state.series.some(
      (one) => one.base_currency === entry.base && one.quote_currency === entry.quote,
    )
    if (made || !learnable) continue
    absent.push(currencyOf(state.provider, { base_currency: entry.base, quote_currency: entry.quote }))
  }
  if (absent.length > 0) state.problems.add(`${group.name}: absent from the answer: ${absent.join(', ')}`)
}
