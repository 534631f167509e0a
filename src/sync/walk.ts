// Reads the days of a group from the newest to the oldest, in windows of at most its length. Days that the source has not
// synchronized do not end a walk: the days after and before them are requested again, as far as the run may (decisions 2.6).

import { addDays, dayOf, earliest, type IsoDate, LATEST_DAY, latest } from '../dates.ts'
import { type Interval, intersects, intervalAt, joined, without } from '../intervals.ts'
import type { SeriesGroup, Window } from '../providers/provider.ts'
import type { SeriesRow } from '../store/rates/series.ts'
import { type ChunkResult, syncChunk } from './chunk.ts'
import { nextWindow, REREAD_DAYS } from './plan.ts'
import { type SyncState, seriesOf } from './state.ts'

export type Walk = {
  /** The days to request of a series. */
  todoOf: (series: SeriesRow) => readonly Interval[]
  /** The series to request; by default all of the group. */
  series?: (() => readonly SeriesRow[]) | undefined
  /** Days that are not requested in any case. */
  skippedDays?: readonly Interval[]
  /** Days from this one on were requested before the walk: requests for them are extra ones. */
  requestedFrom?: IsoDate
  /** Called with each window that was read; true ends the walk. */
  isEnd?: (window: Window, result: ChunkResult) => boolean
}

/** A window that was read. */
export type WindowRead = { window: Window; result: ChunkResult }

const LONG_DAYS = 366

/** False when a window failed: the next run goes on there. */
export async function walk(state: SyncState, group: SeriesGroup, plan: Walk): Promise<boolean> {
  // By indicator; a table is one request for all its series.
  const requested = new Map<string | undefined, readonly Interval[]>()
  const keyOf = ({ external_code: code }: SeriesRow) => (group.indicators ? code : undefined)
  const daysDone = (key: string | undefined) => requested.get(key) ?? plan.skippedDays ?? []
  let requestedFrom = plan.requestedFrom ?? LATEST_DAY
  let skipsTableHoles = false
  for (;;) {
    const todo = (plan.series?.() ?? seriesOf(state, group)).map((series) => {
      const holes = holesOf(state, group, series)
      const skipped = skipsTableHoles ? [...holes, ...tableHoles(state, group)] : holes
      const days = [...daysDone(keyOf(series)), ...skipped].reduce(without, plan.todoOf(series) as Interval[])
      return { code: series.external_code, key: keyOf(series), holes, days }
    })
    const longest = nextWindow(
      todo.flatMap(({ days }) => days),
      addDays(LATEST_DAY, 1),
      group.chunkDays,
    )
    if (!longest) return true
    const leading = todo.filter(({ days }) => intervalAt(days, longest.to))
    const window = afterHoles(
      longest,
      leading.flatMap(({ holes }) => holes),
    )
    const asked = todo.filter(
      ({ days, holes }) =>
        days.some((one) => intersects(one, window)) && !holes.some((one) => intersects(one, window)),
    )
    const isRefused =
      group.indicators !== undefined && tableHoles(state, group).some((one) => intersects(one, window))
    if (window.to >= requestedFrom || isRefused) {
      const cost = group.indicators ? asked.length : 1
      if (state.extraRequests < cost) {
        // Of what a table lacks, its series most likely lack the same: that is said as such, and not as days left to read.
        state.needsExtraRequests ||= !isRefused
        const skipped = window.to >= requestedFrom ? { from: requestedFrom, to: LATEST_DAY } : window
        for (const { key } of todo) requested.set(key, joined(daysDone(key), skipped))
        continue
      }
      state.extraRequests -= cost
    }
    const result = await syncChunk(
      state,
      group,
      window,
      asked.map(({ code }) => code),
    )
    if (!result) return false
    requestedFrom = earliest(requestedFrom, window.from)
    for (const key of new Set(asked.map(({ key }) => key))) {
      const hole = result.unsynchronized.find(({ indicator }) => indicator === key)
      if (!hole) requested.set(key, joined(daysDone(key), window))
      // A whole year: of the days before it, those that the table refused too are taken for the same.
      else if (isRefused && lengthOf(hole.days) >= LONG_DAYS) skipsTableHoles = true
    }
    if (plan.isEnd?.(window, result)) return true
  }
}

/**
 * Reads the newest days of a window of which the source has not synchronized others, in at most three steps, so that today's
 * values arrive whatever lies before them.
 */
export async function readNewestDays(
  state: SyncState,
  group: SeriesGroup,
  { window, result }: WindowRead,
  lengths: readonly number[] = [group.chunkDays, REREAD_DAYS + 1, 2],
): Promise<WindowRead[]> {
  const [length, ...shorter] = lengths
  if (length === undefined) return []
  // Both sides of a pair have the same days missing more often than not, and are stored together.
  const holes = Map.groupBy(result.unsynchronized, ({ days }) => days.to)
  // A table that left series out may have all of them in fewer days.
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

/** The days of a table that the source has not synchronized; which of its series lack which of them is not known. */
export function tableHoles(state: SyncState, group: SeriesGroup): readonly Interval[] {
  return state.unsynchronizedTables.get(group.table) ?? []
}

function holesOf(state: SyncState, group: SeriesGroup, { id }: SeriesRow): readonly Interval[] {
  return group.indicators ? (state.unsynchronized.get(id) ?? []) : tableHoles(state, group)
}

/** The newest part of a window that is free of holes; its last day is. */
function afterHoles({ from, to }: Window, holes: readonly Interval[]): Window {
  let first = from
  for (const hole of holes) if (hole.to < to) first = latest(first, addDays(hole.to, 1))
  return { from: first, to }
}

function lengthOf({ from, to }: Interval): number {
  return dayOf(to) - dayOf(from) + 1
}
