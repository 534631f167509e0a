// Exports all rates as a stream of text: values with digits, rounding and instants, and the covered days. An export
// is of one revision, whatever is written while a client reads.

import { AppError } from '../../../runtime/errors.ts'
import { engineSql } from '../../../store/engine.ts'
import type { SeriesRow } from '../../../store/rates/series.ts'
import { type StoredAtRun, selectStoredAtRuns } from '../../../store/rates/stored-at.ts'
import type { ReadDb } from '../../../store/tables.ts'
import type { IsoDate } from '../../../values/dates.ts'
import { type Column, coveredIntervals, EMPTY_COLUMN } from '../column.ts'
import { outdatedError } from '../loaded-columns.ts'
import type { RateCache, RateSnapshot } from '../rate-cache.ts'
import { type ExportFormat, encodeExport, exportedSeries, WRITERS } from './export-format.ts'

/** Data of an export: the columns and some instants. */
export type ExportData = {
  snapshot: RateSnapshot
  columns: readonly Column[]
  runs: readonly (readonly StoredAtRun[])[]
}

const MAX_ATTEMPTS = 5
/** Instants of columns that were read before. */
const RUNS = new WeakMap<Column, readonly StoredAtRun[]>()

/**
 * Reads the data of an export, all of one revision.
 * @throws AppError `busy` when they change during each of 5 attempts
 */
export async function readExportData(db: ReadDb, cache: RateCache): Promise<ExportData> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const { snapshot, columns } = await cache.read(async (snapshot) => ({
      snapshot,
      columns: await snapshot.columns(snapshot.series),
    }))
    const runs = await selectExportedRuns(db, snapshot, columns)
    if (runs) return { snapshot, columns, runs }
    await cache.refresh()
  }
  throw new AppError('busy', 'The rates are being changed: try again in a moment')
}

/**
 * Returns a function that reads the data of an export ahead, one call at a time. A later export then works during an
 * outage of the database. The function does nothing if the engine reads no series ahead.
 */
export function createExportReader(db: ReadDb, cache: RateCache): () => void {
  if (!engineSql(db).readsAhead) return () => {}
  let reading: Promise<unknown> | undefined
  let isOutdated = false
  const read = () => {
    isOutdated = reading !== undefined
    reading ??= readExportData(db, cache)
      .catch(() => {}) // the export itself reports the error
      .then(() => {
        reading = undefined
        if (isOutdated) read()
      })
  }
  return read
}

/**
 * Returns the instant at which the value of a day was stored, in milliseconds since 1970.
 * @throws AppError `busy` when the values have changed since the column: RateCache.read() then repeats the query
 */
export async function readStoredInstant(
  db: ReadDb,
  series: SeriesRow,
  column: Column,
  day: IsoDate,
): Promise<number> {
  const runs = await readStoredRuns(db, series, column)
  const run = runs?.findLast(({ from }) => from <= day)
  if (!run) throw outdatedError()
  return run.storedAt
}

/** Text of an export, in parts. */
export function exportedText(
  { snapshot, columns, runs }: ExportData,
  format: ExportFormat,
): Generator<Buffer, void> {
  const codes = new Map(snapshot.providers.map(({ id, code }) => [id, code]))
  const all = snapshot.series.map((series, at) => ({
    owner: exportedSeries(series, codes.get(series.provider_id) ?? ''),
    covered: coveredIntervals(snapshot.coveredDays(series.id)),
    column: columns[at] ?? EMPTY_COLUMN,
    runs: runs[at] ?? [],
  }))
  return encodeExport(all, WRITERS[format], snapshot.providers)
}

/** Selects the instants of every series; undefined when one has changed since the snapshot. */
async function selectExportedRuns(
  db: ReadDb,
  { series }: RateSnapshot,
  columns: readonly Column[],
): Promise<(readonly StoredAtRun[])[] | undefined> {
  const all: (readonly StoredAtRun[])[] = []
  for (const [at, one] of series.entries()) {
    const runs = await readStoredRuns(db, one, columns[at] ?? EMPTY_COLUMN)
    if (!runs) return undefined
    all.push(runs)
  }
  return all
}

/** Returns the instants of a series, by day; undefined when its values have changed since the column. */
async function readStoredRuns(
  db: ReadDb,
  series: SeriesRow,
  column: Column,
): Promise<readonly StoredAtRun[] | undefined> {
  const runs = RUNS.get(column) ?? (await selectStoredAtRuns(db, series))
  if (runs) RUNS.set(column, runs)
  return runs
}
