// The stored rates as they were at an instant (decisions 2.22): a snapshot like that of the present, for the same queries.
// It is made backwards: of what is stored now, what came later is taken away and what was replaced later is put back. So a
// series of which nothing has changed since costs no memory. What the record does not say is an error, never a guess.

import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { type Interval, joined } from '../../intervals.ts'
import { createLruCache } from '../../lru.ts'
import { createSemaphore } from '../../semaphore.ts'
import { snapshot } from '../../store/engine.ts'
import { selectMeta } from '../../store/meta.ts'
import { selectCoverage } from '../../store/rates/coverage.ts'
import type { ProviderRow } from '../../store/rates/providers.ts'
import {
  type CatalogueChange,
  type CoverageChange,
  selectCatalogueChangesAfter,
  selectCoverageChangesAfter,
  selectRecordBounds,
} from '../../store/rates/record.ts'
import { findSeriesRevision, type SeriesRow } from '../../store/rates/series.ts'
import { selectValueRecord } from '../../store/rates/stored-at.ts'
import type { Db } from '../../store/tables.ts'
import { bytesOf, type Column, type CoveredDays, dayNumbersOf } from './column.ts'
import { UNKNOWN_DAYS } from './coverage.ts'
import { outdatedError } from './loaded-columns.ts'
import { type CoveredDaysChange, coveredBefore, pastColumn } from './past-column.ts'
import { byPair, type RateSnapshot, type SeriesByPair } from './rate-cache.ts'

const COLUMN_BYTES = 16 * 1024 * 1024
const STATE_BYTES = 4 * 1024 * 1024
const ROW_BYTES = 300 // a series or provider that is another one than now
const SHARED_BYTES = 100 // of a column that is that of now
const AT_ONCE = 2
const CHANGES_AT_ONCE = 2000 // some milliseconds; then others have their turn

const NOT_COVERED: CoveredDays = new Int32Array()
const NO_PAIRS: SeriesByPair = new Map()

export type PastRates = {
  /**
   * Answers from what was stored at an instant (milliseconds since 1970), made from what is stored now; a few at once, for
   * each may need a copy of every series.
   * @throws AppError `not-found` when the record does not reach so far or has a gap there; `busy` when the present has
   * changed: RateCache.read() asks the next snapshot then
   */
  read<T>(present: RateSnapshot, instant: number, find: (then: RateSnapshot) => T | Promise<T>): Promise<T>
}

/** What was stored beside the values, and what of them came later. */
type PastState = {
  providers: readonly ProviderRow[]
  series: readonly SeriesRow[]
  /** Undefined: there is no record of it. */
  covered: ReadonlyMap<number, CoveredDays> | undefined
  imported: ReadonlyMap<number, readonly Interval[]>
}

type PastColumn = { column: Column; bytes: number }

/** The last instants that were asked for are kept, within a bound. Give it a connection that no other query waits for. */
export function openPastRates(db: Db): PastRates {
  const kept = new WeakMap<RateSnapshot, ReturnType<typeof keptPasts>>() // a snapshot of before takes them along
  const semaphore = createSemaphore(AT_ONCE)
  return {
    async read(present, instant, find) {
      using _permit = await semaphore.acquire()
      return await find(await kept.getOrInsertComputed(present, () => keptPasts(db, present))(instant))
    },
  }
}

function keptPasts(db: Db, present: RateSnapshot) {
  const states = madeOnce(STATE_BYTES, bytesOfState)
  const columns = madeOnce<PastColumn>(COLUMN_BYTES, ({ bytes }) => bytes)
  return async (instant: number): Promise<RateSnapshot> => {
    const state = await states(String(instant), () => readState(db, present, instant))
    const columnOf = async (series: SeriesRow) => {
      const [now] = await present.columns([series])
      if (!now) throw outdatedError()
      const read = () => readColumn(db, { series, now, state }, instant)
      return (await columns(`${instant} ${series.id}`, read)).column
    }
    return snapshotOf(present, state, columnOf)
  }
}

function snapshotOf(
  present: RateSnapshot,
  { providers, series, covered }: PastState,
  columnOf: (series: SeriesRow) => Promise<Column>,
): RateSnapshot {
  const pairs = new Map<string, SeriesByPair>()
  for (const { id, code } of providers) {
    pairs.set(code, byPair(series.filter(({ provider_id }) => provider_id === id)))
  }
  return {
    ...present,
    providers,
    series,
    coveredOf: (id) => (covered ? (covered.get(id) ?? NOT_COVERED) : UNKNOWN_DAYS),
    pairsOf: (provider) => pairs.get(provider) ?? NO_PAIRS,
    async columns(wanted) {
      const found: Column[] = []
      for (const one of wanted) found.push(await columnOf(one))
      return found
    },
  }
}

/** What was stored beside the values; all of it is read at one moment, and that of the snapshot. */
async function readState(db: Db, present: RateSnapshot, instant: number): Promise<PastState> {
  const { bounds, coverage, changes, catalogue } = await snapshot(db, async (trx) => {
    const { revision, epoch } = await selectMeta(trx)
    if (revision !== present.revision || epoch !== present.epoch) throw outdatedError()
    return {
      bounds: await selectRecordBounds(trx),
      coverage: await selectCoverage(trx),
      changes: await selectCoverageChangesAfter(trx, instant),
      catalogue: await selectCatalogueChangesAfter(trx, instant),
    }
  })
  const { from, coverageFrom, gaps } = bounds
  if (from === undefined) throw new AppError('not-found', "this store's record has not begun")
  if (instant < from) throw new AppError('not-found', `this store's record begins at ${textOf(from)}`)
  const gap = gaps.find((one) => one.from <= instant && instant < one.to)
  if (gap) {
    const words = `what this store had from ${textOf(gap.from)} until it was restored at ${textOf(gap.to)} is lost`
    throw new AppError('not-found', words)
  }
  const isRecorded = coverageFrom === undefined || coverageFrom <= instant
  const { covered, imported } = await daysBefore(coverage, changes)
  return {
    ...catalogueBefore(present, catalogue, isRecorded),
    covered: isRecorded ? covered : undefined,
    imported,
  }
}

/** The covered days of each series before the changes, and the days whose values came with an import. */
async function daysBefore(
  now: ReadonlyMap<number, readonly Interval[]>,
  changes: readonly CoverageChange[],
): Promise<{ covered: Map<number, CoveredDays>; imported: Map<number, Interval[]> }> {
  const imported = new Map<number, Interval[]>()
  const ofSeries = new Map<number, CoveredDaysChange[]>()
  for (const { kind, days, series } of changes) {
    for (const id of series) {
      if (kind === 'imported') imported.set(id, joined(imported.get(id) ?? [], days))
      else ofSeries.getOrInsertComputed(id, () => []).push({ kind, days })
    }
  }
  const covered = new Map<number, CoveredDays>()
  let done = 0
  for (const id of new Set([...now.keys(), ...ofSeries.keys()])) {
    const own = ofSeries.get(id) ?? []
    covered.set(id, dayNumbersOf(coveredBefore(now.get(id) ?? [], own)))
    done += own.length
    if (done < CHANGES_AT_ONCE) continue
    done = 0
    await setImmediate()
  }
  return { covered, imported }
}

/**
 * Providers and series before the changes. What was enabled is not known before the record of it: there each side counts
 * as enabled, so that a side that may have been is looked for among its covered days, which are not known either.
 */
function catalogueBefore(
  { providers, series }: RateSnapshot,
  changes: readonly CatalogueChange[],
  isRecorded: boolean,
): Pick<PastState, 'providers' | 'series'> {
  const enabled = { provider: new Map<number, boolean>(), series: new Map<number, boolean>() }
  const added = { provider: new Set<number>(), series: new Set<number>() }
  for (const { kind, provider_id, series_id } of changes) {
    const what = provider_id === null ? 'series' : 'provider'
    const id = provider_id ?? series_id ?? 0
    if (kind === 'added') added[what].add(id)
    else enabled[what].set(id, kind === 'disabled')
  }
  const before = <R extends { id: number; enabled: boolean }>(rows: readonly R[], what: keyof typeof added) =>
    rows
      .filter(({ id }) => !added[what].has(id))
      .map((row) => {
        const was = isRecorded ? (enabled[what].get(row.id) ?? row.enabled) : true
        return was === row.enabled ? row : { ...row, enabled: was }
      })
  return { providers: before(providers, 'provider'), series: before(series, 'series') }
}

async function readColumn(
  db: Db,
  { series: { id, revision }, now, state }: { series: SeriesRow; now: Column; state: PastState },
  instant: number,
): Promise<PastColumn> {
  await setImmediate() // each takes some milliseconds; in between others have their turn
  const record = await snapshot(db, async (trx) => {
    if ((await findSeriesRevision(trx, id)) !== revision) throw outdatedError()
    return selectValueRecord(trx, id, instant)
  })
  const column = pastColumn(now, { ...record, imported: state.imported.get(id) ?? [] }, instant)
  return { column, bytes: column === now ? SHARED_BYTES : bytesOf(column) }
}

/** A cache of what takes time to make: who asks for what is being made waits for it. */
function madeOnce<T extends NonNullable<unknown>>(maxBytes: number, bytesOfOne: (one: T) => number) {
  const cache = createLruCache<T>(maxBytes)
  const making = new Map<string, Promise<T>>()
  return async (key: string, make: () => Promise<T>): Promise<T> => {
    const known = cache.get(key)
    if (known) return known
    try {
      const made = await making.getOrInsertComputed(key, make)
      cache.put(key, made, bytesOfOne(made))
      return made
    } finally {
      making.delete(key)
    }
  }
}

function bytesOfState({ providers, series, covered, imported }: PastState): number {
  let bytes = (providers.length + series.length) * ROW_BYTES
  for (const days of covered?.values() ?? []) bytes += days.byteLength
  for (const days of imported.values()) bytes += days.length * ROW_BYTES
  return bytes
}

function textOf(instant: number): string {
  return new Date(instant).toISOString()
}
