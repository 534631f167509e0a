// The stored rates at a past instant (decisions#as-of), as a snapshot for the usual queries. The snapshot is computed
// backwards from the stored data: later values are removed and replaced values restored. So a series without changes
// needs no memory. Gaps in the change log are errors, never guesses.

import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../../runtime/errors.ts'
import { createLruCache } from '../../../runtime/lru.ts'
import { createSemaphore } from '../../../runtime/semaphore.ts'
import { snapshot } from '../../../store/engine.ts'
import { selectMeta } from '../../../store/meta.ts'
import {
  type CatalogueChange,
  type ChangeLogBounds,
  type CoverageChange,
  selectChangeLogBounds,
  selectLaterCatalogueChanges,
  selectLaterCoverageChanges,
} from '../../../store/rates/change-log.ts'
import { selectCoverage } from '../../../store/rates/coverage.ts'
import type { ProviderRow } from '../../../store/rates/providers.ts'
import { findSeriesRevision, type SeriesRow } from '../../../store/rates/series.ts'
import { selectValueLog } from '../../../store/rates/stored-at.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { dayNumber, EARLIEST_DAY, LATEST_DAY } from '../../../values/dates.ts'
import { addInterval, type Interval } from '../../../values/intervals.ts'
import {
  type Column,
  type CoveredDays,
  columnBytes,
  type Damage,
  EMPTY_COLUMN,
  toCoveredDays,
  withDamage,
} from '../column.ts'
import { UNKNOWN_DAYS, withoutDays } from '../covered-days.ts'
import { outdatedError } from '../loaded-columns.ts'
import { createPairFinder, NOT_COVERED, type RateSnapshot } from '../rate-cache.ts'
import { type CoveredDaysChange, pastColumn, undoCoverage } from './past-column.ts'

const COLUMN_BYTES = 16 * 1024 * 1024
const STATE_BYTES = 4 * 1024 * 1024
const ROW_BYTES = 300 // a series or provider that differs from the current one
const SHARED_BYTES = 100 // a column that equals the current one
const QUERIES_AT_ONCE = 2
/** Damage of a series whose revisions are damaged: any day may have had another value. */
const ALL_DAYS = [{ first: dayNumber(EARLIEST_DAY), last: dayNumber(LATEST_DAY) }]
const CHANGES_AT_ONCE = 2000 // takes some milliseconds; then yields

export type PastRates = {
  /**
   * Answers a query from the data at an instant (milliseconds since 1970). At most 2 run at once, because each may
   * copy every series.
   * @throws AppError `not-found` when the change log begins later or has a gap there; `busy` when the data have
   * changed: RateCache.read() then repeats it
   */
  read<T>(present: RateSnapshot, instant: number, find: (then: RateSnapshot) => T | Promise<T>): Promise<T>
}

/** Stored data except values, and the days whose values came later. */
type PastState = {
  providers: readonly ProviderRow[]
  series: readonly SeriesRow[]
  /** Undefined: not recorded. */
  covered: ReadonlyMap<number, CoveredDays> | undefined
  imported: ReadonlyMap<number, readonly Interval[]>
}

/** The reason for an instant without an answer: before the change log, or in a gap of it. */
export type ChangeLogLimits = { record_from: string } | { gap: { from: string; to: string } }

/** Returns true for the details of an error about an instant outside the change log. */
export function isChangeLogLimits(details: unknown): details is ChangeLogLimits {
  return typeof details === 'object' && details !== null && ('gap' in details || 'record_from' in details)
}

type PastColumn = { column: Column; bytes: number }

/**
 * Opens the past rates. The most recently used instants are cached within a bound. Pass a connection that no other
 * query waits for.
 */
export function openPastRates(db: ReadDb): PastRates {
  const readers = new WeakMap<RateSnapshot, ReturnType<typeof createPastReader>>() // the next snapshot has its own
  const semaphore = createSemaphore(QUERIES_AT_ONCE)
  return {
    async read(present, instant, find) {
      using _permit = await semaphore.acquire()
      return await find(
        await readers.getOrInsertComputed(present, () => createPastReader(db, present))(instant),
      )
    },
  }
}

function createPastReader(db: ReadDb, present: RateSnapshot) {
  const states = createSharedCache(STATE_BYTES, stateBytes)
  const columns = createSharedCache<PastColumn>(COLUMN_BYTES, ({ bytes }) => bytes)
  return async (instant: number): Promise<RateSnapshot> => {
    const state = await states(String(instant), () => readState(db, present, instant))
    const readPastColumn = async (series: SeriesRow) => {
      const [now] = await present.columns([series])
      if (!now) throw outdatedError()
      const read = () => readColumn(db, { series, now, state }, instant)
      return (await columns(`${instant} ${series.id}`, read)).column
    }
    return makePastSnapshot(present, state, readPastColumn)
  }
}

function makePastSnapshot(
  present: RateSnapshot,
  { providers, series, covered }: PastState,
  readPastColumn: (series: SeriesRow) => Promise<Column>,
): RateSnapshot {
  const judged = new Map<number, CoveredDays>() // covered days of columns with damage
  const coveredDays = (id: number) => (covered ? (covered.get(id) ?? NOT_COVERED) : UNKNOWN_DAYS)
  const readJudged = async (one: SeriesRow) => {
    const column = await readPastColumn(one)
    const days = coveredDays(one.id)
    if (column.damage && days !== UNKNOWN_DAYS) judged.set(one.id, withoutPastDays(days, column.damage))
    return column
  }
  return {
    ...present,
    providers,
    series,
    coveredDays: (id) => judged.get(id) ?? coveredDays(id),
    pairs: createPairFinder(providers, series),
    columns: (requested) => Array.fromAsync(requested, readJudged),
  }
}

/** Removes damaged days, apart from those after the covered ones: no value of them was known. */
function withoutPastDays(covered: CoveredDays, { days }: Damage): CoveredDays {
  const newest = covered.at(-1)
  if (newest === undefined) return covered
  const rest = days.filter(({ first }) => first <= newest)
  return withoutDays(
    covered,
    rest.map(({ first, last }) => ({ first, last: Math.min(last, newest) })),
  )
}

/** Reads the stored data except values, in one transaction and of the snapshot's revision. */
async function readState(db: ReadDb, present: RateSnapshot, instant: number): Promise<PastState> {
  const { bounds, coverage, changes, catalogue } = await snapshot(db, async (trx) => {
    const { revision, epoch } = await selectMeta(trx)
    if (revision !== present.revision || epoch !== present.epoch) throw outdatedError()
    return {
      bounds: await selectChangeLogBounds(trx),
      coverage: await selectCoverage(trx),
      changes: await selectLaterCoverageChanges(trx, instant),
      catalogue: await selectLaterCatalogueChanges(trx, instant),
    }
  })
  const { from, coverageFrom, gaps } = bounds
  if (from === undefined) throw new AppError('not-found', "this store's record has not begun")
  if (instant < from)
    throw changeLogError(`as_of is before the record of this store, which begins at ${formatInstant(from)}`, {
      record_from: formatInstant(from),
    })
  rejectGap(gaps, instant)
  const isRecorded = coverageFrom === undefined || coverageFrom <= instant
  const { covered, imported } = await pastDays(coverage, changes)
  return {
    ...pastCatalogue(present, catalogue, isRecorded),
    covered: isRecorded ? covered : undefined,
    imported,
  }
}

/** Rejects an instant in a gap of the change log. @throws AppError `not-found` */
export function rejectGap(gaps: ChangeLogBounds['gaps'], instant: number): void {
  const gap = gaps.find((one) => one.from <= instant && instant < one.to)
  if (!gap) return
  const [from, to] = [formatInstant(gap.from), formatInstant(gap.to)]
  const words = `what this store had from ${from} until it was restored at ${to} is lost`
  throw changeLogError(words, { gap: { from, to } })
}

/** Returns the error of an instant outside the change log. Its details are `ChangeLogLimits`. */
function changeLogError(words: string, limits: ChangeLogLimits): AppError {
  return new AppError('not-found', words, { details: limits })
}

/** Covered days of each series before the changes, and the days whose values were imported later. */
async function pastDays(
  now: ReadonlyMap<number, readonly Interval[]>,
  changes: readonly CoverageChange[],
): Promise<{ covered: Map<number, CoveredDays>; imported: Map<number, Interval[]> }> {
  const imported = new Map<number, Interval[]>()
  const ofSeries = new Map<number, CoveredDaysChange[]>()
  for (const { kind, days, series } of changes) {
    for (const id of series) {
      if (kind === 'imported') imported.set(id, addInterval(imported.get(id) ?? [], days))
      else ofSeries.getOrInsertComputed(id, () => []).push({ kind, days })
    }
  }
  const covered = new Map<number, CoveredDays>()
  let count = 0
  for (const id of new Set([...now.keys(), ...ofSeries.keys()])) {
    const changesOfSeries = ofSeries.get(id) ?? []
    covered.set(id, toCoveredDays(undoCoverage(now.get(id) ?? [], changesOfSeries)))
    count += changesOfSeries.length
    if (count < CHANGES_AT_ONCE) continue
    count = 0
    await setImmediate()
  }
  return { covered, imported }
}

/**
 * Providers and series before the changes. Before the record of enabled ones every side counts as enabled. A side
 * that may have been enabled then needs its covered days, which are not recorded either.
 */
function pastCatalogue(
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
  const restoreRows = <R extends { id: number; enabled: boolean }>(
    rows: readonly R[],
    what: keyof typeof added,
  ) =>
    rows
      .filter(({ id }) => !added[what].has(id))
      .map((row) => {
        const wasEnabled = isRecorded ? (enabled[what].get(row.id) ?? row.enabled) : true
        return wasEnabled === row.enabled ? row : { ...row, enabled: wasEnabled }
      })
  return { providers: restoreRows(providers, 'provider'), series: restoreRows(series, 'series') }
}

async function readColumn(
  db: ReadDb,
  { series: { id, revision }, now, state }: { series: SeriesRow; now: Column; state: PastState },
  instant: number,
): Promise<PastColumn> {
  await setImmediate() // takes some milliseconds, so others are served in between
  const valueLog = await snapshot(db, async (trx) => {
    if ((await findSeriesRevision(trx, id)) !== revision) throw outdatedError()
    return selectValueLog(trx, id, instant)
  })
  if (!valueLog) {
    return { column: withDamage(EMPTY_COLUMN, `series ${id}`, ALL_DAYS), bytes: SHARED_BYTES }
  }
  const column = pastColumn(
    now,
    { ...valueLog, name: `series ${id}`, imported: state.imported.get(id) ?? [] },
    instant,
  )
  return { column, bytes: column === now ? SHARED_BYTES : columnBytes(column) }
}

/** Creates a cache of slowly computed values; concurrent requests for a key share one computation. */
function createSharedCache<T extends NonNullable<unknown>>(
  maxBytes: number,
  sizeInBytes: (one: T) => number,
) {
  const cache = createLruCache<T>(maxBytes)
  const pending = new Map<string, Promise<T>>()
  return async (key: string, make: () => Promise<T>): Promise<T> => {
    const cached = cache.get(key)
    if (cached) return cached
    try {
      const value = await pending.getOrInsertComputed(key, make)
      cache.put(key, value, sizeInBytes(value))
      return value
    } finally {
      pending.delete(key)
    }
  }
}

function stateBytes({ providers, series, covered, imported }: PastState): number {
  let bytes = (providers.length + series.length) * ROW_BYTES
  for (const days of covered?.values() ?? []) bytes += days.byteLength
  for (const days of imported.values()) bytes += days.length * ROW_BYTES
  return bytes
}

function formatInstant(instant: number): string {
  return new Date(instant).toISOString()
}
