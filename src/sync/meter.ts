// Counts and times what a run asks its provider, to say at any moment how far the run is.

import { addDays, type IsoDate } from '../dates.ts'
import { type Interval, joined } from '../intervals.ts'
import type { Ask, Feed, Session, Window } from '../providers/provider.ts'
import { floorOf, todoOf } from './order.ts'
import { REREAD_DAYS, windowsOf } from './plan.ts'
import { type Asked, msLeft, type RunProgress, requestsFor, yearsRead } from './progress.ts'
import { type SyncRecord, seriesOf } from './state.ts'

export type Meter = {
  /** The same conversation, counted. */
  over(session: Session): Session
  /** Whether the run began with history to read; never so for a run over a range. */
  readonly readsHistory: boolean
  progress(): RunProgress
}

/** `ticks` are milliseconds of a clock that is never set. */
export function createMeter(
  record: SyncRecord,
  plan: { range: Window | undefined; backfillFrom: IsoDate },
  ticks: () => number = () => performance.now(),
): Meter {
  const { range, backfillFrom } = plan
  const began = ticks()
  let since = began
  let last: Feed | undefined
  const asked = new Map<string, Asked>()
  const failed = new Set<string>()

  const feeds = record.provider.feeds.filter((feed) => seriesOf(record, feed).length > 0)
  const daysLeftOf = (feed: Feed): Interval[] => {
    let days: Interval[] = []
    for (const { id } of seriesOf(record, feed)) {
      for (const interval of todoOf(record, feed, id, backfillFrom)) days = joined(days, interval)
    }
    return days
  }
  // Of an empty series the newest days are read first, in a window of their own.
  const newest = addDays(record.tomorrow, -REREAD_DAYS)
  const isFresh = record.covered.answered.size === 0
  const apart = (days: Interval[]) =>
    isFresh
      ? days.flatMap(({ from, to }) =>
          from < newest && to === record.tomorrow
            ? [
                { from, to: addDays(newest, -1) },
                { from: newest, to },
              ]
            : [{ from, to }],
        )
      : days
  const requestsLeftOf = (feed: Feed) => {
    // A failure ends a walk, and the run goes on with another feed.
    if (failed.has(feed.name) && last !== feed) return 0
    const requestsAWindow = feed.indicators ? seriesOf(record, feed).length : 1
    if (!range) return requestsFor(apart(daysLeftOf(feed)), feed.chunkDays) * requestsAWindow
    const planned = windowsOf(range, feed.chunkDays).length * requestsAWindow
    return Math.max(0, planned - (asked.get(feed.name)?.requests ?? 0))
  }
  // A series that is asked for alone is part of its table.
  const feedOf = ({ table, indicator }: Ask) =>
    feeds.find((feed) => indicator !== undefined && feed.indicators?.includes(indicator)) ??
    feeds.find((feed) => feed.table === table)
  const count = (feed: Feed, answered: boolean) => {
    const now = ticks()
    const before = asked.get(feed.name) ?? { requests: 0, ms: 0 }
    asked.set(feed.name, { requests: before.requests + 1, ms: before.ms + now - since })
    since = now
    if (answered) failed.delete(feed.name)
    else failed.add(feed.name)
  }

  return {
    readsHistory:
      !range &&
      feeds.some((feed) => daysLeftOf(feed).some(({ from }) => from <= floorOf(feed, backfillFrom))),
    over: (session) => ({
      async read(ask) {
        let answered = false
        last = feedOf(ask)
        try {
          const answer = await session.read(ask)
          answered = true
          return answer
        } finally {
          if (last) count(last, answered)
        }
      },
      get supportsSingleSeries() {
        return session.supportsSingleSeries
      },
      get exact() {
        return session.exact
      },
      get sourceDay() {
        return session.sourceDay
      },
      notices: () => session.notices(),
    }),
    progress() {
      const left = new Map(feeds.map((feed) => [feed.name, requestsLeftOf(feed)]))
      const shown = last ?? feeds[0]
      return {
        feed: shown?.name ?? '',
        yearsRead: shown ? yearsRead(floorOf(shown, backfillFrom), daysLeftOf(shown), record.tomorrow) : 0,
        requests: [...asked.values()].reduce((sum, { requests }) => sum + requests, 0),
        requestsLeft: [...left.values()].reduce((sum, requests) => sum + requests, 0),
        msLeft: msLeft(left, asked, ticks() - began),
      }
    },
  }
}
