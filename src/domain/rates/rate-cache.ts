// The read model. A series is read whole, once, into a column that is kept until the series changes; every
// rates answer is a pure function over such columns (rates.ts). A column is one read, so it never mixes
// two revisions; columns of two series may be a chunk apart while a sync writes.

import { setImmediate } from 'node:timers/promises'
import type { IsoDate } from '../../dates.ts'
import { type CacheStats, createLruCache, type LruCache } from '../../lru.ts'
import { type Coverage, selectCoverage } from '../../store/coverage.ts'
import { selectMeta } from '../../store/meta.ts'
import { type ProviderRow, selectProviders } from '../../store/providers.ts'
import { countRates, type RateCounts, selectColumnOfSeries } from '../../store/rates.ts'
import { type SeriesRow, selectSeries } from '../../store/series.ts'
import type { Db } from '../../store/tables.ts'
import { bytesOf, type Column, type CoveredDays, columnOf, dayNumbersOf } from './column.ts'

const ANSWER_BYTES = 12 * 1024 * 1024
const PIECE_BYTES = 4 * 1024 * 1024
const READ_AHEAD_MS = 100 // a change must be seen within a second
const NEVER = -1
const NOT_COVERED: CoveredDays = new Int32Array()
const NO_PAIRS: SeriesByPair = new Map()

/** Series by base and quote currency, such as `USD/CRC`; within a pair by id. */
export type SeriesByPair = ReadonlyMap<string, readonly SeriesRow[]>

/** An answer as it was given: its validator, its bytes, and today's date if it depends on it. */
export type StoredAnswer = {
  readonly tag: string
  readonly today: IsoDate | undefined
  readonly body: string | Uint8Array
  /** The body with gzip, once somebody took it so. */
  readonly packed?: Uint8Array
}

/** The stored data at one revision. */
export type RateSnapshot = {
  readonly revision: number
  readonly epoch: string
  readonly providers: readonly ProviderRow[]
  readonly series: readonly SeriesRow[]
  /** The days of a series that were asked for and validly answered. */
  coveredOf(seriesId: number): CoveredDays
  /** A provider's series by what they give, such as `USD/CRC`; empty for a provider that is not there. */
  pairsOf(provider: string): SeriesByPair
  /** The columns of the series given, in their order; a promise only where one has to be read first. */
  columns(series: readonly SeriesRow[]): Column[] | Promise<Column[]>
  countRates(): Promise<RateCounts>
  /** What was answered from this snapshot, by URL, and pieces of answers. They hold as long as the snapshot. */
  readonly answers: LruCache<StoredAnswer>
  readonly pieces: LruCache<Buffer>
}

/** What a cache holds, and how often what was asked for was in it since the cache was opened. */
export type CacheState = CacheStats & { entries: number; bytes: number }

export type RateCache = {
  /** The snapshot of the newest revision that the cache has seen. */
  snapshot(): RateSnapshot
  /** Looks whether the data have changed and, if so, takes a new snapshot once the columns that are in use are there. */
  refresh(): Promise<void>
  caches(): { columns: CacheState; answers: CacheState; pieces: CacheState }
}

/** Opens the cache at the database's present revision. */
export async function openRateCache(db: Db): Promise<RateCache> {
  const none = { hits: 0, misses: 0 }
  const stats = { columns: { ...none }, answers: { ...none }, pieces: { ...none } }
  let snapshot = await readSnapshot(db, new Map(), stats)
  const turn = async () => {
    const { revision, epoch } = await selectMeta(db)
    // After a restore the same revision may be another's: nothing of before is kept.
    if (epoch !== snapshot.epoch) snapshot = await readSnapshot(db, new Map(), stats)
    else if (revision !== snapshot.revision) {
      const next = await readSnapshot(db, snapshot.loaded, stats)
      await readAhead(next, snapshot)
      snapshot = next
    }
  }
  let turning = Promise.resolve()
  return {
    snapshot: () => snapshot,
    refresh() {
      turning = turning.then(turn, turn) // one at a time, or an older snapshot might come last
      return turning
    },
    caches() {
      let bytes = 0
      for (const column of snapshot.loaded.values()) bytes += column.bytes
      return {
        columns: { entries: snapshot.loaded.size, bytes, ...stats.columns },
        answers: { ...snapshot.answers.size(), ...stats.answers },
        pieces: { ...snapshot.pieces.size(), ...stats.pieces },
      }
    },
  }
}

type LoadedColumn = {
  /** Of the series. */
  revision: number
  column: Column
  bytes: number
  /** The revision of the snapshot from which it was asked for last. */
  askedAt: number
}
type CacheCounts = { columns: CacheStats; answers: CacheStats; pieces: CacheStats }
type OwnSnapshot = RateSnapshot & {
  loaded: Map<number, LoadedColumn>
  /** Reads a column that is not there yet. */
  load(series: SeriesRow): Promise<LoadedColumn>
}

/** Reads the columns that are asked for from the snapshot before, so that no request waits for them in the new one. */
async function readAhead(next: OwnSnapshot, before: OwnSnapshot): Promise<void> {
  const end = performance.now() + READ_AHEAD_MS
  for (const series of next.series) {
    const isInUse = before.loaded.get(series.id)?.askedAt === before.revision
    if (isInUse && performance.now() < end) await next.load(series)
  }
}

async function readSnapshot(
  db: Db,
  before: Map<number, LoadedColumn>,
  stats: CacheCounts,
): Promise<OwnSnapshot> {
  for (;;) {
    const { revision, epoch } = await selectMeta(db)
    const providers = await selectProviders(db)
    const series = await selectSeries(db)
    const coverage = await selectCoverage(db)
    // Another process may have committed between the queries: then they do not belong together.
    if ((await selectMeta(db)).revision === revision)
      return makeSnapshot(db, { revision, epoch }, { providers, series, coverage }, before, stats)
  }
}

function makeSnapshot(
  db: Db,
  meta: { revision: number; epoch: string },
  catalogue: { providers: ProviderRow[]; series: SeriesRow[]; coverage: Coverage },
  before: Map<number, LoadedColumn>,
  stats: CacheCounts,
): OwnSnapshot {
  const { providers, series } = catalogue
  const covered = new Map<number, CoveredDays>()
  for (const [id, intervals] of catalogue.coverage) covered.set(id, dayNumbersOf(intervals))
  const loaded = new Map<number, LoadedColumn>()
  for (const { id, revision } of series) {
    const known = before.get(id)
    if (known?.revision === revision) loaded.set(id, known)
  }
  const pairs = new Map<string, SeriesByPair>()
  for (const { id, code } of providers) {
    pairs.set(code, byPair(series.filter(({ provider_id }) => provider_id === id)))
  }
  const load = loaderOf(db, loaded)
  const loadEach = async (wanted: readonly SeriesRow[]) => {
    const columns: Column[] = []
    for (const series of wanted) {
      const one = await load(series)
      one.askedAt = meta.revision
      columns.push(one.column)
    }
    return columns
  }
  let counts: RateCounts | undefined
  return {
    ...meta,
    providers,
    series,
    coveredOf: (id) => covered.get(id) ?? NOT_COVERED,
    pairsOf: (provider) => pairs.get(provider) ?? NO_PAIRS,
    loaded,
    load,
    answers: createLruCache(ANSWER_BYTES, stats.answers),
    pieces: createLruCache(PIECE_BYTES, stats.pieces),
    columns(wanted) {
      const columns: Column[] = []
      for (const { id } of wanted) {
        const known = loaded.get(id)
        if (!known) {
          stats.columns.misses += 1
          return loadEach(wanted)
        }
        known.askedAt = meta.revision
        columns.push(known.column)
      }
      stats.columns.hits += 1
      return columns
    },
    async countRates() {
      counts ??= await countRates(db)
      return counts
    },
  }
}

/** The series by their pair. */
export function byPair(series: readonly SeriesRow[]): SeriesByPair {
  return Map.groupBy(series, ({ base_currency, quote_currency }) => `${base_currency}/${quote_currency}`)
}

/** Reads each series once: hundreds of clients with a copy each were 4 GB. */
function loaderOf(db: Db, loaded: Map<number, LoadedColumn>): OwnSnapshot['load'] {
  const reading = new Map<number, Promise<LoadedColumn>>()
  return async (series) => {
    const { id } = series
    const known = loaded.get(id)
    if (known) return known
    try {
      const read = await reading.getOrInsertComputed(id, () => readColumn(db, series))
      loaded.set(id, read)
      return read
    } finally {
      reading.delete(id)
    }
  }
}

async function readColumn(db: Db, { id, revision }: SeriesRow): Promise<LoadedColumn> {
  await setImmediate() // each half takes some ten milliseconds; in between others have their turn
  const rates = await selectColumnOfSeries(db, id)
  await setImmediate()
  const column = columnOf(rates)
  return { revision, column, bytes: bytesOf(column), askedAt: NEVER }
}
