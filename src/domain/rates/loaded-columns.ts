// The columns that a snapshot has in memory, and how those come there that it has not: read ahead, or when one is asked for.

import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { snapshot } from '../../store/engine.ts'
import { type RateCounts, selectColumnsOfSeries } from '../../store/rates/rates.ts'
import { findSeriesRevision, type SeriesRow } from '../../store/rates/series.ts'
import type { Db } from '../../store/tables.ts'
import { bytesOf, type Column, columnOf, EXACT } from './column.ts'

const READ_AHEAD_MS = 100 // a change must be seen within a second
const READ_AT_ONCE = 8 // series; of one at a time a database elsewhere takes twice as long
const NEVER = -1
const OUTDATED = Symbol('the data have changed since the snapshot was taken')

type LoadedColumn = {
  /** Of the series. */
  revision: number
  column: Column
  bytes: number
  /** The revision of the snapshot from which it was asked for last. */
  askedAt: number
}
/** By id of the series. */
export type Columns = Map<number, LoadedColumn>

/** How many values the columns have; undefined: not all of them are there. */
export function countsOf(series: readonly SeriesRow[], loaded: Columns): RateCounts | undefined {
  const sum = { all: 0, rounded: 0, roundedSeries: new Set<number>() }
  for (const { id } of series) {
    const { column } = loaded.get(id) ?? {}
    if (!column) return undefined
    const rounded = column.rounded?.reduce((count, decimals) => count + Number(decimals !== EXACT), 0) ?? 0
    sum.all += column.days.length
    sum.rounded += rounded
    if (rounded > 0) sum.roundedSeries.add(id)
  }
  return sum
}

/** Reads the columns that are missing; while the database reads the next ones, these are parsed. */
export async function readAll(trx: Db, series: readonly SeriesRow[], loaded: Columns): Promise<void> {
  const missing = new Map(series.filter(({ id }) => !loaded.has(id)).map((one) => [one.id, one.revision]))
  const ids = [...missing.keys()]
  const read = (some: readonly number[]) => {
    const reading = selectColumnsOfSeries(trx, some)
    reading.catch(() => {}) // it is waited for a moment later
    return reading
  }
  if (ids.length === 0) return
  let next = read(ids.slice(0, READ_AT_ONCE))
  for (let from = READ_AT_ONCE; missing.size > 0; from += READ_AT_ONCE) {
    const columns = await next
    if (from < ids.length) next = read(ids.slice(from, from + READ_AT_ONCE))
    for (const { id, ...rates } of columns) {
      await setImmediate()
      loaded.set(id, loadedColumn(columnOf(rates), missing.get(id) ?? NEVER))
      missing.delete(id)
    }
  }
}

/** Reads the columns that were asked for from the snapshot before, so that no request waits for them in the new one. */
export async function readAhead(
  trx: Db,
  { series, loaded, outdated }: { series: readonly SeriesRow[]; loaded: Columns; outdated: Set<number> },
  before: { revision: number; loaded: Columns },
): Promise<void> {
  const end = performance.now() + READ_AHEAD_MS
  for (const one of series) {
    if (loaded.has(one.id)) continue
    const isInUse = before.loaded.get(one.id)?.askedAt === before.revision && performance.now() < end
    if (isInUse || outdated.has(one.id)) loaded.set(one.id, await readColumn(trx, one))
  }
}

/** Reads each series once: hundreds of clients with a copy each were 4 GB. Undefined: it has changed since. */
export function loaderOf(db: Db, loaded: Columns) {
  const reading = new Map<number, Promise<LoadedColumn | undefined>>()
  const read = (series: SeriesRow) =>
    snapshot(db, async (trx) => {
      const revision = await findSeriesRevision(trx, series.id)
      return revision === series.revision ? readColumn(trx, series) : undefined
    })
  return async (series: SeriesRow): Promise<LoadedColumn | undefined> => {
    const { id } = series
    const known = loaded.get(id)
    if (known) return known
    try {
      const one = await reading.getOrInsertComputed(id, () => read(series))
      if (one) loaded.set(id, one)
      return one
    } finally {
      reading.delete(id)
    }
  }
}

async function readColumn(db: Db, { id, revision }: SeriesRow): Promise<LoadedColumn> {
  await setImmediate() // each half takes some ten milliseconds; in between others have their turn
  const [rates = { count: 0, lines: '' }] = await selectColumnsOfSeries(db, [id])
  await setImmediate()
  return loadedColumn(columnOf(rates), revision)
}

function loadedColumn(column: Column, revision: number): LoadedColumn {
  return { revision, column, bytes: bytesOf(column), askedAt: NEVER }
}

/** A snapshot of which not all can be read any more: what was asked is asked of the next one. */
export function outdatedError(): AppError {
  return new AppError('busy', 'The rates are being changed: try again in a moment', { cause: OUTDATED })
}

export function isOutdated(error: unknown): boolean {
  return error instanceof AppError && error.cause === OUTDATED
}
