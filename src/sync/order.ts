// What a run reads, in which order: the newest days of everything first, then history. A series that lags
// behind its table is asked for alone, from its own edge.

import { earliest, type IsoDate, latest } from '../dates.ts'
import type { Feed, Window } from '../providers/provider.ts'
import { type ChunkResult, syncChunk } from './chunk.ts'
import { extendBackward, extendForward, floorOf, newestEdge } from './directions.ts'
import { currencyOf, type SyncRecord, type SyncState, seriesOf } from './state.ts'
import { forwardFrom, windowsOf } from './window.ts'

const CHUNK_ALONE_DAYS = 366

/** The days that a run without a range may ask for. */
export function plannedRange(state: SyncRecord, backfillFrom: IsoDate): Window {
  let from = state.tomorrow
  for (const feed of state.provider.feeds) {
    const floor = floorOf(feed, backfillFrom)
    for (const { id } of seriesOf(state, feed)) {
      const covered = state.coverage.get(id)
      from = earliest(from, forwardFrom(covered?.to, state.tomorrow))
      if (!covered || covered.from > floor) from = earliest(from, floor)
    }
  }
  return { from, to: state.tomorrow }
}

export async function readRange(state: SyncState, feeds: readonly Feed[], range: Window): Promise<void> {
  for (const feed of feeds) {
    if (seriesOf(state, feed).length === 0) continue
    for (const direction of windowsOf(range, feed.chunkDays, newestEdge(state, feed))) {
      for (const window of direction) {
        const result = await syncChunk(state, feed, window)
        if (!result) break
        if (window.to >= state.today) reportAbsent(state, feed, result.listed)
      }
    }
  }
}

export async function readEverything(
  state: SyncState,
  feeds: readonly Feed[],
  backfillFrom: IsoDate,
): Promise<void> {
  const reached = new Map<Feed, IsoDate>()
  for (const feed of feeds) {
    if (seriesOf(state, feed).length === 0) continue
    const { from, last } = await extendForward(state, feed)
    reached.set(feed, from)
    if (!last) continue
    reportAbsent(state, feed, last.listed)
    for (const alone of laggards(state, feed, last)) {
      const own = await extendForward(state, alone)
      if (newestEdge(state, alone) === undefined) reached.set(alone, own.from)
    }
  }
  for (const [feed, below] of reached) {
    const whole = await extendBackward(state, feed, below, backfillFrom)
    if (!whole || feed.indicator !== undefined) continue
    for (const alone of unfinished(state, feed, backfillFrom)) {
      await extendBackward(state, alone, below, backfillFrom)
    }
  }
}

/** Series that the table's answers did not bring to its newest day, each to be asked for alone. */
function laggards(state: SyncState, feed: Feed, last: ChunkResult): Feed[] {
  const reached = newestEdge(state, feed)
  if (feed.indicator !== undefined || reached === undefined) return []
  // Newer values than the edge of all: the table said nothing for some days between, and can bring none over them.
  const edge = latest(reached, last.newest ?? reached)
  return (
    seriesOf(state, feed)
      .filter(({ id }) => (state.coverage.get(id)?.to ?? '') < edge)
      // A source without single series would only show the same table again.
      .filter(({ external_code }) => state.session.asksAlone || last.listed.has(external_code))
      .map(({ external_code }) => aloneFeed(feed, external_code))
  )
}

/** Series whose history does not reach down as far as asked for, each to be asked for alone. */
function unfinished(state: SyncState, feed: Feed, backfillFrom: IsoDate): Feed[] {
  return seriesOf(state, feed)
    .filter(({ id }) => (state.coverage.get(id)?.from ?? '') > backfillFrom)
    .map(({ external_code }) => aloneFeed(feed, external_code))
}

function aloneFeed(feed: Feed, indicator: string): Feed {
  return { ...feed, name: `${feed.name}/${indicator}`, indicator, chunkDays: CHUNK_ALONE_DAYS }
}

/** Says which currencies of the catalogue an answer that reaches up to today leaves out (upstream 3). */
function reportAbsent(state: SyncState, feed: Feed, listed: ReadonlySet<string>): void {
  // A whole table with nothing in it lists nothing: that is the public API's "no data".
  if (feed.indicator === undefined && listed.size === 0) return
  const absent = seriesOf(state, feed)
    .filter(({ external_code }) => !listed.has(external_code))
    .map(currencyOf)
  for (const entry of state.provider.catalogue) {
    if (feed.indicator !== undefined || entry.table !== feed.table || entry.externalCode !== undefined)
      continue
    const made = state.series.some(
      (one) => one.base_currency === entry.base && one.quote_currency === entry.quote,
    )
    if (!made) absent.push(currencyOf({ base_currency: entry.base, quote_currency: entry.quote }))
  }
  if (absent.length > 0) state.problems.add(`${feed.name}: absent from the answer: ${absent.join(', ')}`)
}
