// Chooses the next window of the indicators. Pure. The newest days come first: of daily indicators, then of weekly
// ones, then of the others. History follows, newest first, a year a window (decisions#indicators).

import { historyBegin } from '../../domain/indicators/history-share.ts'
import type { StoredIndicator } from '../../store/indicators/indicators.ts'
import type { ValueDays } from '../../store/indicators/values.ts'
import {
  addDays,
  currentDay,
  currentTime,
  dayNumber,
  EARLIEST_DAY,
  earliest,
  type IsoDate,
  LATEST_DAY,
} from '../../values/dates.ts'
import { findGaps, type Interval, subtractInterval } from '../../values/intervals.ts'
import { EXTRA_REQUESTS } from '../run-context.ts'
import { lastFinalDay, nextWindow, REREAD_DAYS } from '../windows/plan.ts'
import { afterHoles } from '../windows/walk.ts'

/** Days of a run by code, around those that the source has not synchronized itself (decisions#mirror). */
export type SourceHoles = {
  unsynchronized: Map<string, readonly Interval[]>
  /** Newest days that the run has not requested yet. */
  remaining: Map<string, readonly Interval[]>
}

/** Stored data from which the next window follows. */
export type IndicatorPlan = SourceHoles & {
  rows: readonly StoredIndicator[]
  covered: ReadonlyMap<string, readonly Interval[]>
  days: ReadonlyMap<string, ValueDays>
  /** End of the last good run of the rates. */
  goodRunEnd: string
  /** Requests for history of this day. */
  historyRequests: number
  /** True: the newest days alone. */
  isNewestOnly: boolean
  timeZone: string
}

/** Window of one indicator. */
export type IndicatorWindow = { row: StoredIndicator; window: Interval; isHistory: boolean }

/** Periodicities as the bank writes them; the others are longer. */
const DAILY = 'diaria'
const WEEKLY = ['semanal', 'nueva semanal']
const LONG_WINDOW_DAYS = 400
export const HISTORY_DAYS = 366
const WEEK_DAYS = 7
const RETRY_MS = 3_600_000
const HISTORY_REQUESTS_A_DAY = 600
const WINDOW_REQUESTS = 2 // at most: an empty year is requested twice
const MOST_HOLES = 3 // in the newest days, before today's value is requested alone
const QUIET = { from: '04:00', to: '06:30' } // the rates are read then
const LOCAL_ZONE = 'America/Costa_Rica'

/** Returns the next window; undefined: nothing is due now. `now`: time of the plan. */
export function nextIndicatorWindow(plan: IndicatorPlan, now: Date): IndicatorWindow | undefined {
  const today = currentDay(() => now, plan.timeZone)
  const rows = plan.rows.filter(({ enabled }) => enabled)
  for (const rank of [0, 1, 2]) {
    for (const row of rows.filter((one) => periodRank(one) === rank)) {
      const window = newestWindow(row, plan, { now, today })
      if (window) return { row, window, isHistory: false }
    }
  }
  return isHistoryTime(plan, now) ? nextHistoryWindow(plan, rows, today) : undefined
}

/** Returns true for an indicator without a known periodicity too. */
function isDaily({ periodicity }: Pick<StoredIndicator, 'periodicity'>): boolean {
  return periodicity === null || periodicity === DAILY
}

function periodRank(row: StoredIndicator): number {
  if (isDaily(row)) return 0
  return WEEKLY.includes(row.periodicity ?? '') ? 1 : 2
}

/** Returns the newest days when they are due. Around unsynchronized days: the last part that remains. */
function newestWindow(
  row: StoredIndicator,
  plan: IndicatorPlan,
  time: { now: Date; today: IsoDate },
): Interval | undefined {
  const { today } = time
  const part = plan.remaining.get(row.code)?.findLast(({ from }) => from <= today)
  if (!part) return isDue(row, plan, time) ? newestDays(row, plan, today) : undefined
  const holeCounts = plan.unsynchronized.values().map(({ length }) => length)
  if (part.to < today)
    return holeCounts.reduce((sum, count) => sum + count, 0) > EXTRA_REQUESTS ? undefined : part
  const isLast = (plan.unsynchronized.get(row.code)?.length ?? 0) >= MOST_HOLES
  return isLast ? { ...part, from: today } : part
}

/** Returns the newest days, and those after the newest value, since values may be late. */
function newestDays(row: StoredIndicator, { days }: IndicatorPlan, today: IsoDate): Interval {
  const to = addDays(today, 1)
  if (periodRank(row) === 2) return { from: addDays(to, -LONG_WINDOW_DAYS), to }
  const firstLateDay = addDays(lastFinalDay(today, days.get(row.code)?.newest ?? EARLIEST_DAY), 1)
  return { from: earliest(firstLateDay, addDays(to, -REREAD_DAYS)), to }
}

function isDue(
  row: StoredIndicator,
  { goodRunEnd, timeZone }: IndicatorPlan,
  { now, today }: { now: Date; today: IsoDate },
): boolean {
  const { state, asked_at: asked, tried_at: tried, refusal_day: refusalDay } = row
  const days = state === 'refused' || !isDaily(row) ? WEEK_DAYS : 1
  const isOld = (day: IsoDate) => day > today || dayNumber(today) - dayNumber(day) >= days // a later one: a wrong clock
  if (refusalDay !== null && refusalDay <= today) {
    const wait = state === 'refused' ? WEEK_DAYS : 1
    if (dayNumber(today) - dayNumber(refusalDay) < wait) return false
  }
  if (asked !== null && state !== 'waiting') {
    if (!isOld(currentDay(() => new Date(asked), timeZone))) return false
    if (asked >= goodRunEnd && asked <= now.toISOString()) return false // waits for the rates of the day
  }
  if (tried === null || tried < goodRunEnd || tried > now.toISOString()) return true
  return tried === asked || now.getTime() - Date.parse(tried) >= RETRY_MS
}

/** Returns whether years of the past may be requested now. */
export function isHistoryTime({ historyRequests, isNewestOnly }: IndicatorPlan, now: Date): boolean {
  const time = currentTime(() => now, LOCAL_ZONE)
  return (
    !isNewestOnly &&
    historyRequests + WINDOW_REQUESTS <= HISTORY_REQUESTS_A_DAY &&
    !(time >= QUIET.from && time < QUIET.to)
  )
}

/** Returns the newest missing window of all indicators that the source answers. */
function nextHistoryWindow(
  { covered, unsynchronized }: IndicatorPlan,
  rows: readonly StoredIndicator[],
  today: IsoDate,
): IndicatorWindow | undefined {
  let best: IndicatorWindow | undefined
  for (const row of rows) {
    if (row.state !== 'active' || row.history_failure === today) continue
    const own = covered.get(row.code) ?? []
    const from = historyBegin(row, own) ?? EARLIEST_DAY
    const holes = unsynchronized.get(row.code) ?? []
    const missing = holes.reduce(subtractInterval, findGaps(own, { from, to: addDays(today, -1) }))
    const longest = nextWindow(missing, LATEST_DAY, HISTORY_DAYS)
    if (longest && (!best || longest.to > best.window.to))
      best = { row, window: afterHoles(longest, holes), isHistory: true }
  }
  return best
}
