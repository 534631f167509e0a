// How a run walks: forward to tomorrow first, then backward to the beginning. A failed chunk ends its
// direction, and the next run goes on there.

import { addDays, type IsoDate, latest } from '../dates.ts'
import type { Feed, Window } from '../providers/provider.ts'
import { upsertCoverage } from '../store/feeds.ts'
import { type ChunkResult, syncChunk } from './chunk.ts'
import { type SyncRecord, type SyncState, seriesOf } from './state.ts'
import { daysBetween, EMPTY_YEAR_DAYS, forwardFrom, windowDown, windowUp } from './window.ts'

export type ForwardEnd = {
  /** The first day that was asked for. */
  from: IsoDate
  /** The answer that reached tomorrow; undefined when a chunk failed. */
  last: ChunkResult | undefined
}

/** Reads from the newest covered day, and some before it, to tomorrow. */
export async function extendForward(state: SyncState, feed: Feed): Promise<ForwardEnd> {
  let edge = newestEdge(state, feed)
  const first = forwardFrom(edge, state.tomorrow)
  let from = first
  let days = feed.chunkDays
  for (;;) {
    const window = windowUp(from, days, state.tomorrow)
    const result = await syncChunk(state, feed, window)
    if (!result || window.to === state.tomorrow) return { from: first, last: result }
    const reached = newestEdge(state, feed)
    if (reached !== undefined && reached !== edge) {
      edge = reached
      from = addDays(reached, 1)
      days = feed.chunkDays
    } else {
      // Nothing published so far: ask again from the same edge and further, so that an empty answer is never
      // stepped over on its own word.
      days *= 2
    }
  }
}

/**
 * Reads from the oldest covered day down to the beginning. True when it got there or the history has begun
 * later (a year brought nothing), false when a chunk failed.
 * @param below where to begin when nothing is covered yet
 */
export async function extendBackward(
  state: SyncState,
  feed: Feed,
  below: IsoDate,
  backfillFrom: IsoDate,
): Promise<boolean> {
  const floor = floorOf(feed, backfillFrom)
  let edge = oldestEdge(state, feed) ?? below
  let days = feed.chunkDays
  let emptyFrom = edge
  while (edge > floor) {
    const window = windowDown(edge, days, floor)
    const result = await syncChunk(state, feed, window)
    if (!result) return false
    const reached = oldestEdge(state, feed)
    if (result.hasRows) emptyFrom = window.from
    const begun = daysBetween(window.from, emptyFrom) >= EMPTY_YEAR_DAYS
    if (reached !== undefined && reached >= edge) {
      // The answer does not list what was asked for: ask for more days, until it is a year.
      if (begun || result.newest !== undefined || window.from === floor) return true
      days *= 2
      continue
    }
    if (begun && feed.startsOn === undefined) {
      await closeHistory(state, feed, floor)
      return true
    }
    edge = reached ?? window.from
    days = feed.chunkDays
  }
  return true
}

/** A year before the first value brought nothing, asked for alone: there is nothing older to ask for. */
async function closeHistory(state: SyncState, feed: Feed, floor: IsoDate): Promise<void> {
  if (feed.indicator === undefined) return
  const closed = new Map<number, Window>()
  for (const { id } of seriesOf(state, feed)) {
    const known = state.coverage.get(id)
    if (known) closed.set(id, { from: floor, to: known.to })
  }
  await upsertCoverage(state.db, closed)
  state.coverage = new Map([...state.coverage, ...closed])
}

/** The oldest day that a feed is ever asked for. */
export function floorOf(feed: Feed, backfillFrom: IsoDate): IsoDate {
  return latest(feed.startsOn ?? backfillFrom, backfillFrom)
}

export function newestEdge(state: SyncRecord, feed: Feed): IsoDate | undefined {
  let newest: IsoDate | undefined
  for (const { id } of seriesOf(state, feed)) {
    const to = state.coverage.get(id)?.to
    if (to !== undefined && (newest === undefined || to > newest)) newest = to
  }
  return newest
}

export function oldestEdge(state: SyncRecord, feed: Feed): IsoDate | undefined {
  let oldest: IsoDate | undefined
  for (const { id } of seriesOf(state, feed)) {
    const from = state.coverage.get(id)?.from
    if (from !== undefined && (oldest === undefined || from < oldest)) oldest = from
  }
  return oldest
}
