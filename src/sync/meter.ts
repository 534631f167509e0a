// Counts and times the requests of a run, to report its progress.

import {
  type FetchRequest,
  type SeriesGroup,
  type SourceConnection,
  UnsynchronizedFailure,
  type Window,
} from '../providers/provider.ts'
import { addDays, type IsoDate } from '../values/dates.ts'
import { addInterval, type Interval } from '../values/intervals.ts'
import { countRequests, msLeft, type RequestTotals, type RunProgress, yearsRead } from './progress.ts'
import { enabledSeries, type RunContext } from './state.ts'
import { historyFloor, remainingDays } from './windows/order.ts'
import { REREAD_DAYS, splitWindows } from './windows/plan.ts'

export type Meter = {
  /** Returns the connection with counted requests. */
  over(connection: SourceConnection): SourceConnection
  /** True when the run began with history to read; false for a run over a range. */
  readonly readsHistory: boolean
  progress(): RunProgress
}

export function createMeter(
  context: RunContext,
  { range, backfillFrom }: { range: Window | undefined; backfillFrom: IsoDate },
): Meter {
  const began = performance.now()
  let since = began
  let last: SeriesGroup | undefined
  const totals = new Map<string, RequestTotals>()
  const failedGroups = new Set<string>()

  const groups = context.provider.groups.filter((group) => enabledSeries(context, group).length > 0)
  const remainingGroupDays = (group: SeriesGroup): Interval[] => {
    const days = enabledSeries(context, group).flatMap(({ id }) =>
      remainingDays(context, group, id, backfillFrom),
    )
    return days.reduce<Interval[]>(addInterval, [])
  }
  const isFresh = context.covered.answered.size === 0
  const remainingRequests = (group: SeriesGroup) => {
    // After a failure the run continues with another group.
    if (failedGroups.has(group.name) && last !== group) return 0
    const requestsAWindow = group.indicators ? enabledSeries(context, group).length : 1
    if (range) {
      const planned = splitWindows(range, group.chunkDays).length * requestsAWindow
      return Math.max(0, planned - (totals.get(group.name)?.requests ?? 0))
    }
    const days = remainingGroupDays(group)
    const windows = isFresh ? splitNewest(days, context.tomorrow) : days
    return countRequests(windows, group.chunkDays) * requestsAWindow
  }
  const count = (group: SeriesGroup, answered: boolean) => {
    const now = performance.now()
    const before = totals.get(group.name) ?? { requests: 0, ms: 0 }
    totals.set(group.name, { requests: before.requests + 1, ms: before.ms + now - since })
    since = now
    if (answered) failedGroups.delete(group.name)
    else failedGroups.add(group.name)
  }

  return {
    readsHistory:
      !range &&
      groups.some((group) =>
        remainingGroupDays(group).some(({ from }) => from <= historyFloor(group, backfillFrom)),
      ),
    over: (connection) => {
      // The other members are inherited.
      const read: SourceConnection['read'] = async (request) => {
        let answered = false
        last = findGroup(groups, request)
        try {
          const answer = await connection.read(request)
          answered = true
          return answer
        } catch (error) {
          answered = error instanceof UnsynchronizedFailure
          throw error
        } finally {
          if (last) count(last, answered)
        }
      }
      return Object.assign(Object.create(connection), { read })
    },
    progress() {
      const remaining = new Map(groups.map((group) => [group.name, remainingRequests(group)]))
      const group = last ?? groups[0]
      return {
        group: group?.name ?? '',
        yearsRead: group
          ? yearsRead(historyFloor(group, backfillFrom), remainingGroupDays(group), context.tomorrow)
          : 0,
        requests: [...totals.values()].reduce((sum, { requests }) => sum + requests, 0),
        requestsLeft: [...remaining.values()].reduce((sum, requests) => sum + requests, 0),
        msLeft: msLeft(remaining, totals, performance.now() - began),
      }
    },
  }
}

/** The newest days of an empty series are read first, in their own window. */
function splitNewest(days: readonly Interval[], tomorrow: IsoDate): Interval[] {
  const newest = addDays(tomorrow, -REREAD_DAYS)
  return days.flatMap(({ from, to }) =>
    from < newest && to === tomorrow
      ? [
          { from, to: addDays(newest, -1) },
          { from: newest, to },
        ]
      : [{ from, to }],
  )
}

/** A series that is requested alone belongs to its table. */
function findGroup(groups: readonly SeriesGroup[], { table, indicator }: FetchRequest) {
  return (
    groups.find((group) => indicator !== undefined && group.indicators?.includes(indicator)) ??
    groups.find((group) => group.table === table)
  )
}
