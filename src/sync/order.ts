// What a run reads, in which order: the newest days of everything first, then what is missing, newest first. A series
// that its table does not list is asked for alone. A failed window ends its walk, and the next run goes on there.

import { addDays, dayOf, EARLIEST_DAY, earliest, type IsoDate, latest } from '../dates.ts'
import { type Interval, without } from '../intervals.ts'
import type { Feed, Window } from '../providers/provider.ts'
import type { SeriesRow } from '../store/series.ts'
import { alone, type ChunkResult, syncChunk } from './chunk.ts'
import { beginningOf, daysToAsk, EMPTY_YEAR_DAYS, nextWindow, REREAD_DAYS, windowsOf } from './plan.ts'
import { currencyOf, type SyncRecord, type SyncState, seriesOf } from './state.ts'

const CHUNK_ALONE_DAYS = 366

/** The days that a run without a range may ask for. */
export function plannedRange(state: SyncRecord, backfillFrom: IsoDate): Window {
  let from = state.tomorrow
  for (const feed of state.provider.feeds) {
    if (seriesOf(state, feed).length === 0) continue
    for (const { id } of seriesOf(state, feed)) {
      for (const days of todoOf(state, feed, id, backfillFrom)) from = earliest(from, days.from)
    }
  }
  return { from, to: state.tomorrow }
}

/** Reads exactly the days given. */
export async function readRange(state: SyncState, feeds: readonly Feed[], range: Window): Promise<void> {
  for (const feed of feeds) {
    if (seriesOf(state, feed).length === 0) continue
    const unlisted = new Set<string>()
    for (const window of windowsOf(range, feed.chunkDays)) {
      const result = await syncChunk(state, feed, window)
      if (!result) break
      if (window.to >= state.today) reportAbsent(state, feed, result)
      for (const code of askableAlone(state, feed, result)) unlisted.add(code)
    }
    for (const code of unlisted) {
      for (const window of windowsOf(range, CHUNK_ALONE_DAYS)) {
        if (!(await syncChunk(state, aloneFeed(feed, code), window))) break
      }
    }
  }
}

/** Reads the newest days of everything, then what is missing since `backfillFrom`. */
export async function readEverything(
  state: SyncState,
  feeds: readonly Feed[],
  backfillFrom: IsoDate,
): Promise<void> {
  const begun = new Map<Feed, { from: IsoDate; deaf: ReadonlySet<string> }>()
  for (const feed of feeds) {
    if (seriesOf(state, feed).length === 0) continue
    const window = newestWindow(state, feed, backfillFrom)
    begun.set(feed, { from: window.from, deaf: await readNewest(state, feed, window) })
  }
  for (const [feed, { from, deaf }] of begun) {
    const whole = await readMissing(state, feed, { before: from, backfillFrom, deaf })
    if (!whole || feed.indicators !== undefined || !state.session.supportsSingleSeries) continue
    // What a table is silent about, each series in windows of its own.
    for (const { external_code: code } of seriesOf(state, feed)) {
      if (deaf.has(code)) continue
      await readMissing(state, aloneFeed(feed, code), { before: from, backfillFrom, deaf })
    }
  }
}

/** Returns the series that cannot be asked for alone, although the table does not list them. */
async function readNewest(state: SyncState, feed: Feed, window: Window): Promise<Set<string>> {
  const deaf = new Set<string>()
  const result = await syncChunk(state, feed, window)
  if (!result) return deaf
  reportAbsent(state, feed, result)
  for (const code of askableAlone(state, feed, result)) {
    if (!(await syncChunk(state, aloneFeed(feed, code), window))) deaf.add(code)
  }
  return deaf
}

/** Reads what is still to be asked for before a day, newest first; false when a window failed. */
async function readMissing(
  state: SyncState,
  feed: Feed,
  plan: { before: IsoDate; backfillFrom: IsoDate; deaf: ReadonlySet<string> },
): Promise<boolean> {
  let { before } = plan
  let emptyTo: IsoDate | undefined
  for (;;) {
    const todo = followed(state, feed, plan.deaf).map(({ id, external_code: code }) => ({
      code,
      days: todoOf(state, feed, id, plan.backfillFrom),
    }))
    const window = nextWindow(
      todo.flatMap(({ days }) => days),
      before,
      feed.chunkDays,
    )
    if (!window) return true
    const overlaps = ({ from, to }: Interval) => from <= window.to && to >= window.from
    const codes = todo.filter(({ days }) => days.some(overlaps)).map(({ code }) => code)
    const result = await syncChunk(state, feed, window, codes)
    if (!result) return false
    before = window.from
    emptyTo = result.hasRows ? undefined : (emptyTo ?? window.to)
    if (emptyTo !== undefined && isBeforeAll(state, feed, window.from, emptyTo)) return true
  }
}

/**
 * The series whose days are asked for with a feed. One that its table never lists would have the whole history of the
 * table read again: it is asked for alone.
 */
function followed(state: SyncState, feed: Feed, deaf: ReadonlySet<string>): SeriesRow[] {
  const series = seriesOf(state, feed)
  if (feed.indicators !== undefined) return series
  const listed = series.filter(
    ({ id, external_code }) => state.covered.answered.has(id) && !deaf.has(external_code),
  )
  return listed.length > 0 ? listed : series
}

/** Whether a table has had nothing for a year, and nothing older is stored: the rest is asked for series by series. */
function isBeforeAll(state: SyncState, feed: Feed, from: IsoDate, emptyTo: IsoDate): boolean {
  if (feed.indicators !== undefined || !state.session.supportsSingleSeries) return false
  if (dayOf(emptyTo) - dayOf(from) + 1 < EMPTY_YEAR_DAYS) return false
  return seriesOf(state, feed).every(({ id }) => (state.firstValues.get(id) ?? from) >= from)
}

/** The window that holds the newest days, with as many older ones as one request takes. */
function newestWindow(state: SyncState, feed: Feed, backfillFrom: IsoDate): Window {
  const newest = { from: addDays(state.tomorrow, -REREAD_DAYS), to: state.tomorrow }
  const series = seriesOf(state, feed).filter(({ id }) => state.covered.answered.has(id))
  const days = series.flatMap(({ id }) => todoOf(state, feed, id, backfillFrom))
  return nextWindow(days, addDays(state.tomorrow, 1), feed.chunkDays) ?? newest
}

/** The oldest day that a feed is asked for by itself. */
export function floorOf(feed: Feed, backfillFrom: IsoDate): IsoDate {
  return latest(feed.startsOn ?? backfillFrom, backfillFrom)
}

/** What a series is still to be asked for in this run; nothing before its beginning, where that has shown itself. */
export function todoOf(
  state: SyncRecord,
  feed: Feed,
  id: number,
  backfillFrom: IsoDate,
): readonly Interval[] {
  const known = { covered: state.covered.answered.get(id) ?? [], firstValue: state.firstValues.get(id) }
  let todo = daysToAsk(state.covered.final.get(id) ?? [], floorOf(feed, backfillFrom), state.tomorrow)
  for (const answered of state.answered.get(id) ?? []) todo = without(todo, answered)
  // A history with a known first day does not end with an empty year.
  const begun = feed.startsOn === undefined ? beginningOf(known) : undefined
  return begun === undefined ? todo : without(todo, { from: EARLIEST_DAY, to: addDays(begun, -1) })
}

/** Series of a table that an answer does not list, where each can be asked for alone. */
function askableAlone(state: SyncState, feed: Feed, { unlisted }: ChunkResult): Iterable<string> {
  return feed.indicators === undefined && state.session.supportsSingleSeries ? unlisted : []
}

function aloneFeed(feed: Feed, code: string): Feed {
  return { ...alone(feed, code), name: `${feed.name}/${code}`, chunkDays: CHUNK_ALONE_DAYS }
}

/** Says which currencies of the catalogue an answer that reaches up to today leaves out (upstream 3). */
function reportAbsent(state: SyncState, feed: Feed, { unlisted, listsAny }: ChunkResult): void {
  const nameOf = (code: string) => {
    const series = state.series.find(({ external_code }) => external_code === code)
    return series ? currencyOf(state.provider, series) : code
  }
  if (feed.indicators !== undefined) {
    for (const code of unlisted) state.problems.add(`${code}: absent from the answer: ${nameOf(code)}`)
    return
  }
  // A whole table with nothing in it lists nothing: that is the public API's "no data".
  if (!listsAny) return
  const absent = [...unlisted].map(nameOf)
  for (const entry of state.provider.catalogue) {
    if (entry.table !== feed.table || entry.externalCode !== undefined) continue
    const made = state.series.some(
      (one) => one.base_currency === entry.base && one.quote_currency === entry.quote,
    )
    if (made) continue
    absent.push(currencyOf(state.provider, { base_currency: entry.base, quote_currency: entry.quote }))
  }
  if (absent.length > 0) state.problems.add(`${feed.name}: absent from the answer: ${absent.join(', ')}`)
}
