// Counts and times what a run asks its provider, to say at any moment how far the run is.

import { addDays, type IsoDate } from '../dates.ts'
import { type Interval, joined } from '../intervals.ts'
import {
  type FetchRequest,
  type SeriesGroup,
  type Session,
  UnsynchronizedFailure,
  type Window,
} from '../providers/provider.ts'
import { floorOf, todoOfSeries } from './order.ts'
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
  let last: SeriesGroup | undefined
  const asked = new Map<string, Asked>()
  const failed = new Set<string>()

  const groups = record.provider.groups.filter((group) => seriesOf(record, group).length > 0)
  const daysLeftOf = (group: SeriesGroup): Interval[] => {
    let days: Interval[] = []
    for (const { id } of seriesOf(record, group)) {
      for (const interval of todoOfSeries(record, group, id, backfillFrom)) days = joined(days, interval)
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
  const requestsLeftOf = (group: SeriesGroup) => {
    // A failure ends a walk, and the run goes on with another group.
    if (failed.has(group.name) && last !== group) return 0
    const requestsAWindow = group.indicators ? seriesOf(record, group).length : 1
    if (!range) return requestsFor(apart(daysLeftOf(group)), group.chunkDays) * requestsAWindow
    const planned = windowsOf(range, group.chunkDays).length * requestsAWindow
    return Math.max(0, planned - (asked.get(group.name)?.requests ?? 0))
  }
  // A series that is asked for alone is part of its table.
  const groupOf = ({ table, indicator }: FetchRequest) =>
    groups.find((group) => indicator !== undefined && group.indicators?.includes(indicator)) ??
    groups.find((group) => group.table === table)
  const count = (group: SeriesGroup, answered: boolean) => {
    const now = ticks()
    const before = asked.get(group.name) ?? { requests: 0, ms: 0 }
    asked.set(group.name, { requests: before.requests + 1, ms: before.ms + now - since })
    since = now
    if (answered) failed.delete(group.name)
    else failed.add(group.name)
  }

  return {
    readsHistory:
      !range &&
      groups.some((group) => daysLeftOf(group).some(({ from }) => from <= floorOf(group, backfillFrom))),
    over: (session) => ({
      async read(request) {
        let answered = false
        last = groupOf(request)
        try {
          const answer = await session.read(request)
          answered = true
          return answer
        } catch (error) {
          answered = error instanceof UnsynchronizedFailure
          throw error
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
      const left = new Map(groups.map((group) => [group.name, requestsLeftOf(group)]))
      const shown = last ?? groups[0]
      return {
        group: shown?.name ?? '',
        yearsRead: shown ? yearsRead(floorOf(shown, backfillFrom), daysLeftOf(shown), record.tomorrow) : 0,
        requests: [...asked.values()].reduce((sum, { requests }) => sum + requests, 0),
        requestsLeft: [...left.values()].reduce((sum, requests) => sum + requests, 0),
        msLeft: msLeft(left, asked, ticks() - began),
      }
    },
  }
}
