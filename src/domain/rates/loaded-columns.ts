// Columns of a snapshot in memory. Missing ones are read ahead, or at the first request.

import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../runtime/errors.ts'
import { snapshot } from '../../store/engine.ts'
import { selectCurrentSums } from '../../store/rates/rate-sums.ts'
import { type RateCounts, selectColumnsOfSeries } from '../../store/rates/rates.ts'
import { findSeriesRevision, type SeriesRow } from '../../store/rates/series.ts'
import type { ReadDb } from '../../store/tables.ts'
import { type Column, EXACT } from './column.ts'
import { parseSummedColumn } from './parsed-column.ts'

const READ_AHEAD_MS = 100 // changes must be visible within a second
const SERIES_AT_ONCE = 8 // series per query; on a remote database single ones take twice as long
const NEVER = -1
const OUTDATED = Symbol('the data have changed since the snapshot was taken')

type LoadedColumn = {
  /** Revision of the series. */
  revision: number
  column: Column
  /** Revision of the snapshot that used it last. */
  usedRevision: number
}
/** Columns by id of the series. */
export type LoadedColumns = Map<number, LoadedColumn>

/** Counts the values of the columns; undefined: some are not loaded. */
export function countLoaded(series: readonly SeriesRow[], loaded: LoadedColumns): RateCounts | undefined {
  const sum = { all: 0, rounded: 0, roundedSeries: new Map<number, number>() }
  for (const { id } of series) {
    const { column } = loaded.get(id) ?? {}
    if (!column) return undefined
    const rounded = column.rounded?.reduce((count, decimals) => count + Number(decimals !== EXACT), 0) ?? 0
    sum.all += column.days.length
    sum.rounded += rounded
    if (rounded > 0) sum.roundedSeries.set(id, rounded)
  }
  return sum
}

/** Reads the missing columns, and parses some while the database reads the next. */
export async function readAll(
  trx: ReadDb,
  series: readonly SeriesRow[],
  loaded: LoadedColumns,
): Promise<void> {
  const missing = new Map(series.filter(({ id }) => !loaded.has(id)).map((one) => [one.id, one.revision]))
  const ids = [...missing.keys()]
  const read = (some: readonly number[]) => {
    const reading = selectColumnsOfSeries(trx, some)
    reading.catch(() => {}) // awaited in the next round
    return reading
  }
  if (ids.length === 0) return
  const sums = await selectCurrentSums(trx, ids)
  let next = read(ids.slice(0, SERIES_AT_ONCE))
  for (let from = SERIES_AT_ONCE; missing.size > 0; from += SERIES_AT_ONCE) {
    const columns = await next
    if (from < ids.length) next = read(ids.slice(from, from + SERIES_AT_ONCE))
    for (const { id, ...rates } of columns) {
      await setImmediate()
      const column = parseSummedColumn({ name: `series ${id}`, ...rates }, sums.get(id))
      loaded.set(id, loadedColumn(column, missing.get(id) ?? NEVER))
      missing.delete(id)
    }
  }
}

/** Reads the columns that the previous snapshot used, so that no request waits for them in the new one. */
export async function readAhead(
  trx: ReadDb,
  next: { series: readonly SeriesRow[]; loaded: LoadedColumns; outdated: Set<number> },
  before: { revision: number; loaded: LoadedColumns },
): Promise<void> {
  const { series, loaded, outdated } = next
  const end = performance.now() + READ_AHEAD_MS
  for (const one of series) {
    if (loaded.has(one.id)) continue
    const isInUse = before.loaded.get(one.id)?.usedRevision === before.revision && performance.now() < end
    if (isInUse || outdated.has(one.id)) loaded.set(one.id, await readColumn(trx, one))
  }
}

/**
 * Returns a function that loads a series. Concurrent requests share one read, because hundreds of copies needed 4 GB.
 * Undefined: the series has changed since.
 */
export function createLoader(db: ReadDb, loaded: LoadedColumns, onLoad: (id: number) => void) {
  const reading = new Map<number, Promise<LoadedColumn | undefined>>()
  const read = (series: SeriesRow) =>
    snapshot(db, async (trx) => {
      const revision = await findSeriesRevision(trx, series.id)
      return revision === series.revision ? readColumn(trx, series) : undefined
    })
  return async (series: SeriesRow): Promise<LoadedColumn | undefined> => {
    const { id } = series
    const cached = loaded.get(id)
    if (cached) return cached
    try {
      const column = await reading.getOrInsertComputed(id, () => read(series))
      if (column) {
        loaded.set(id, column)
        onLoad(id)
      }
      return column
    } finally {
      reading.delete(id)
    }
  }
}

async function readColumn(db: ReadDb, { id, revision }: SeriesRow): Promise<LoadedColumn> {
  await setImmediate() // each half takes about 10 ms, so others are served in between
  const [rates = { count: 0, lines: '' }] = await selectColumnsOfSeries(db, [id])
  const sums = (await selectCurrentSums(db, [id])).get(id)
  await setImmediate()
  return loadedColumn(parseSummedColumn({ ...rates, name: `series ${id}` }, sums), revision)
}

function loadedColumn(column: Column, revision: number): LoadedColumn {
  return { revision, column, usedRevision: NEVER }
}

/** Error of a snapshot whose columns can no longer be read; RateCache.read() repeats the query on the next one. */
export function outdatedError(data: 'rates' | 'indicators' = 'rates'): AppError {
  return new AppError('busy', `The ${data} are being changed: try again in a moment`, { cause: OUTDATED })
}

export function isOutdated(error: unknown): boolean {
  return error instanceof AppError && error.cause === OUTDATED
}
