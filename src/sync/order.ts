// What a run reads, in which order: the newest days of everything first, then what is missing, newest first. A series
// that its table does not list is asked for alone. A failed window ends its walk, and the next run goes on there.

import { addDays, dayOf, EARLIEST_DAY, earliest, type IsoDate, latest } from '../dates.ts'
import { EMPTY_DAYS } from '../domain/rates/holes.ts'
import { type Interval, without } from '../intervals.ts'
import type { SeriesGroup, Window } from '../providers/provider.ts'
import type { SeriesRow } from '../store/rates/series.ts'
import { alone, type ChunkResult, syncChunk } from './chunk.ts'
import { beginningOf, daysToAsk, nextWindow, REREAD_DAYS, windowsOf } from './plan.ts'
import { currencyOf, type SyncRecord, type SyncState, seriesOf } from './state.ts'

const CHUNK_ALONE_DAYS = 366

/** The days that a run without a range may ask for. */
export function plannedRange(state: SyncRecord, backfillFrom: IsoDate): Window {
  let from = state.tomorrow
  for (const group of state.provider.groups) {
    if (seriesOf(state, group).length === 0) continue
    for (const { id } of seriesOf(state, group)) {
      for (const days of todoOf(state, group, id, backfillFrom)) from = earliest(from, days.from)
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
    for (const window of windowsOf(range, group.chunkDays)) {
      const result = await syncChunk(state, group, window)
      if (!result) break
      if (window.to >= state.today) reportAbsent(state, group, result)
      for (const code of askableAlone(state, group, result)) unlisted.add(code)
    }
    for (const code of unlisted) {
      for (const window of windowsOf(range, CHUNK_ALONE_DAYS)) {
        if (!(await syncChunk(state, groupOfOne(group, code), window))) break
      }
    }
  }
}

/** Reads the newest days of everything, then what is missing since `backfillFrom`. */
export async function readEverything(
  state: SyncState,
  groups: readonly SeriesGroup[],
  backfillFrom: IsoDate,
): Promise<void> {
  const begun = new Map<SeriesGroup, { from: IsoDate; deaf: ReadonlySet<string> }>()
  for (const group of groups) {
    if (seriesOf(state, group).length === 0) continue
    const window = newestWindow(state, group, backfillFrom)
    begun.set(group, { from: window.from, deaf: await readNewest(state, group, window) })
  }
  for (const [group, { from, deaf }] of begun) {
    const whole = await readMissing(state, group, { before: from, backfillFrom, deaf })
    if (!whole || group.indicators !== undefined || !state.session.supportsSingleSeries) continue
    // What a table is silent about, each series in windows of its own.
    for (const { external_code: code } of seriesOf(state, group)) {
      if (deaf.has(code)) continue
      await readMissing(state, groupOfOne(group, code), { before: from, backfillFrom, deaf })
    }
  }
}

/** Returns the series that cannot be asked for alone, although the table does not list them. */
async function readNewest(state: SyncState, group: SeriesGroup, window: Window): Promise<Set<string>> {
  const deaf = new Set<string>()
  const result = await syncChunk(state, group, window)
  if (!result) return deaf
  reportAbsent(state, group, result)
  for (const code of askableAlone(state, group, result)) {
    if (!(await syncChunk(state, groupOfOne(group, code), window))) deaf.add(code)
  }
  return deaf
}

/** Reads what is still to be asked for before a day, newest first; false when a window failed. */
async function readMissing(
  state: SyncState,
  group: SeriesGroup,
  plan: { before: IsoDate; backfillFrom: IsoDate; deaf: ReadonlySet<string> },
): Promise<boolean> {
  let { before } = plan
  let emptyTo: IsoDate | undefined
  for (;;) {
    const todo = followed(state, group, plan.deaf).map(({ id, external_code: code }) => ({
      code,
      days: todoOf(state, group, id, plan.backfillFrom),
    }))
    const window = nextWindow(
      todo.flatMap(({ days }) => days),
      before,
      group.chunkDays,
    )
    if (!window) return true
    const overlaps = ({ from, to }: Interval) => from <= window.to && to >= window.from
    const codes = todo.filter(({ days }) => days.some(overlaps)).map(({ code }) => code)
    const result = await syncChunk(state, group, window, codes)
    if (!result) return false
    before = window.from
    emptyTo = result.hasRows ? undefined : (emptyTo ?? window.to)
    if (emptyTo !== undefined && isBeforeAll(state, group, window.from, emptyTo)) return true
  }
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
  const days = series.flatMap(({ id }) => todoOf(state, group, id, backfillFrom))
  return nextWindow(days, addDays(state.tomorrow, 1), group.chunkDays) ?? newest
}

/** The oldest day that a group is asked for by itself. */
export function floorOf(group: SeriesGroup, backfillFrom: IsoDate): IsoDate {
  return latest(group.startsOn ?? backfillFrom, backfillFrom)
}

/** What a series is still to be asked for in this run; nothing before its beginning, where that has shown itself. */
export function todoOf(
  state: SyncRecord,
  group: SeriesGroup,
  id: number,
  backfillFrom: IsoDate,
): readonly Interval[] {
  const known = { covered: state.covered.answered.get(id) ?? [], firstValue: state.firstValues.get(id) }
  let todo = daysToAsk(state.covered.final.get(id) ?? [], floorOf(group, backfillFrom), state.tomorrow)
  for (const answered of state.answered.get(id) ?? []) todo = without(todo, answered)
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
function reportAbsent(state: SyncState, group: SeriesGroup, { unlisted, listsAny }: ChunkResult): void {
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
  const absent = [...unlisted].map(nameOf)
  for (const entry of state.provider.catalogue) {
    if (entry.table !== group.table || entry.externalCode !== undefined) continue
    const made = state.series.some(
      (one) => one.base_currency === entry.base && one.quote_currency === entry.quote,
    )
    if (made) continue
    absent.push(currencyOf(state.provider, { base_currency: entry.base, quote_currency: entry.quote }))
  }
  if (absent.length > 0) state.problems.add(`${group.name}: absent from the answer: ${absent.join(', ')}`)
}
