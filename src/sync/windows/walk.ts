// Reads the days of a group from the newest to the oldest, in windows of at most its length. Days that the source has
// not synchronized do not end a walk. Extra requests read the days after and before them (decisions#mirror).

import type { SeriesGroup, Window } from '../../providers/provider.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { addDays, earliest, type IsoDate, LATEST_DAY, latest } from '../../values/dates.ts'
import {
  addInterval,
  countDays,
  findInterval,
  type Interval,
  intersects,
  subtractInterval,
} from '../../values/intervals.ts'
import { enabledSeries, type RunState } from '../state.ts'
import { type ChunkResult, syncChunk } from './chunk.ts'
import { nextWindow, REREAD_DAYS } from './plan.ts'

export type Walk = {
  /** Returns the days to read of a series. */
  daysToRead: (series: SeriesRow) => readonly Interval[]
  /** Returns the series to read; by default all of the group. */
  series?: (() => readonly SeriesRow[]) | undefined
  /** Days to skip. */
  skippedDays?: readonly Interval[]
  /** First day that was requested before the walk. Requests from this day on are extra ones. */
  firstRequested?: IsoDate
  /** Called after each window; true ends the walk. */
  isEnd?: (window: Window, result: ChunkResult) => boolean
}

/** Window with its result. */
export type WindowRead = { window: Window; result: ChunkResult }

const LONG_DAYS = 366

/** Returns false when a window failed. The next run resumes there. */
export async function walk(state: RunState, group: SeriesGroup, plan: Walk): Promise<boolean> {
  // Requested days by indicator. A table is one request for all its series.
  const requested = new Map<string | undefined, readonly Interval[]>()
  const requestKey = ({ external_code: code }: SeriesRow) => (group.indicators ? code : undefined)
  const daysDone = (key: string | undefined) => requested.get(key) ?? plan.skippedDays ?? []
  let firstRequested = plan.firstRequested ?? LATEST_DAY
  let skipsTableHoles = false
  for (;;) {
    const todo = (plan.series?.() ?? enabledSeries(state, group)).map((series) => {
      const holes = seriesHoles(state, group, series)
      const skipped = skipsTableHoles ? [...holes, ...tableHoles(state, group)] : holes
      const days = [...daysDone(requestKey(series)), ...skipped].reduce(
        subtractInterval,
        plan.daysToRead(series) as Interval[],
      )
      return { code: series.external_code, key: requestKey(series), holes, days }
    })
    const longest = nextWindow(
      todo.flatMap(({ days }) => days),
      addDays(LATEST_DAY, 1),
      group.chunkDays,
    )
    if (!longest) return true
    const leading = todo.filter(({ days }) => findInterval(days, longest.to))
    const window = afterHoles(
      longest,
      leading.flatMap(({ holes }) => holes),
    )
    const due = todo.filter(
      ({ days, holes }) =>
        days.some((one) => intersects(one, window)) && !holes.some((one) => intersects(one, window)),
    )
    const isRefused =
      group.indicators !== undefined && tableHoles(state, group).some((one) => intersects(one, window))
    if (window.to >= firstRequested || isRefused) {
      const cost = group.indicators ? due.length : 1
      if (state.extraRequests < cost) {
        // Holes of a table most likely affect all its series. The run reports them as holes, not as days that need
        // extra requests.
        state.needsExtraRequests ||= !isRefused
        const skipped = window.to >= firstRequested ? { from: firstRequested, to: LATEST_DAY } : window
        for (const { key } of todo) requested.set(key, addInterval(daysDone(key), skipped))
        continue
      }
      state.extraRequests -= cost
    }
    const result = await syncChunk(
      state,
      group,
      window,
      due.map(({ code }) => code),
    )
    if (!result) return false
    firstRequested = earliest(firstRequested, window.from)
    for (const key of new Set(due.map(({ key }) => key))) {
      const hole = result.unsynchronized.find(({ indicator }) => indicator === key)
      if (!hole) requested.set(key, addInterval(daysDone(key), window))
      // After a hole of a year, the remaining holes of the table count as holes of this series.
      else if (isRefused && countDays(hole.days) >= LONG_DAYS) skipsTableHoles = true
    }
    if (plan.isEnd?.(window, result)) return true
  }
}

/**
 * Reads the newest days of a window with holes, in at most three steps. So the values of today arrive although the
 * source lacks older days.
 */
export async function readNewestDays(
  state: RunState,
  group: SeriesGroup,
  { window, result }: WindowRead,
  lengths: readonly number[] = [group.chunkDays, REREAD_DAYS + 1, 2],
): Promise<WindowRead[]> {
  const [length, ...shorter] = lengths
  if (length === undefined) return []
  // Both sides of a pair mostly have the same holes, and are stored together.
  const holes = Map.groupBy(result.unsynchronized, ({ days }) => days.to)
  // A table that omitted series may have all of them in fewer days.
  if (holes.size === 0 && result.leftOut.size > 0) holes.set(addDays(window.from, -1), [])
  const reads: WindowRead[] = []
  for (const [end, missing] of holes) {
    const days = { from: latest(addDays(end, 1), addDays(window.to, 1 - length)), to: window.to }
    if (days.from > days.to) continue
    if (days.from === window.from) {
      reads.push(...(await readNewestDays(state, group, { window, result }, shorter)))
      continue
    }
    const codes = group.indicators && missing.flatMap(({ indicator }) => indicator ?? [])
    state.extraRequests -= codes?.length ?? 1
    const newer = await syncChunk(state, group, days, codes)
    if (!newer) continue
    const read = { window: days, result: newer }
    reads.push(read, ...(await readNewestDays(state, group, read, shorter)))
  }
  return reads
}

/** Returns the days of a table that the source has not synchronized. Each of its series may lack some of them. */
export function tableHoles(state: RunState, group: SeriesGroup): readonly Interval[] {
  return state.unsynchronizedTables.get(group.table) ?? []
}

function seriesHoles(state: RunState, group: SeriesGroup, { id }: SeriesRow): readonly Interval[] {
  return group.indicators ? (state.unsynchronized.get(id) ?? []) : tableHoles(state, group)
}

/** Returns the part of a window after its last hole. The last day of the window is in no hole. */
export function afterHoles({ from, to }: Window, holes: readonly Interval[]): Window {
  let first = from
  for (const hole of holes) if (hole.to < to) first = latest(first, addDays(hole.to, 1))
  return { from: first, to }
}
