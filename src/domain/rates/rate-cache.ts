// The read model. A series is read once as a whole into a column, which is cached until the series changes. Answers
// about rates are pure functions over columns (rates.ts). The parts of a snapshot have the same revision. Its first
// data are read in one transaction, and a column that is read later must be unchanged. For a remote database a
// snapshot has all columns, so that it works during an outage.

import type { Provider } from '../../providers/provider.ts'
import type { CacheStats } from '../../runtime/lru.ts'
import { engineSql, snapshot } from '../../store/engine.ts'
import { selectMeta } from '../../store/meta.ts'
import { selectNewestInstant } from '../../store/rates/change-log.ts'
import { type Coverage, selectCoverage } from '../../store/rates/coverage.ts'
import { hasInvented, type ProviderRow, selectProviders } from '../../store/rates/providers.ts'
import { countRates, type RateCounts } from '../../store/rates/rates.ts'
import { type SeriesRow, selectSeries } from '../../store/rates/series.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { IsoDate } from '../../values/dates.ts'
import { type Column, type CoveredDays, columnBytes, type Damage, toCoveredDays } from './column.ts'
import { withoutDays } from './covered-days.ts'
import {
  countLoaded,
  createLoader,
  isOutdated,
  type LoadedColumns,
  outdatedError,
  readAhead,
  readAll,
} from './loaded-columns.ts'

/** Covered days of a series without any. */
export const NOT_COVERED: CoveredDays = new Int32Array()
/** A sync that fills the history stores several windows a second. */
const MOST_TRIES = 3
const NO_PAIRS: SeriesByPair = new Map()

/** Series by base and quote currency, such as `USD/CRC`; within a pair by id. */
export type SeriesByPair = ReadonlyMap<string, readonly SeriesRow[]>

/** The stored data at one revision. */
export type RateSnapshot = {
  readonly revision: number
  readonly epoch: string
  /** Instant of the newest commit, in milliseconds since 1970; undefined: nothing was ever stored. */
  readonly newestInstant: number | undefined
  readonly providers: readonly ProviderRow[]
  readonly isInvented: boolean
  readonly series: readonly SeriesRow[]
  /** Days of a series that were requested and validly answered. */
  coveredDays(seriesId: number): CoveredDays
  /** Series of a provider by pair, such as `USD/CRC`; empty for an unknown provider. */
  pairs(provider: string): SeriesByPair
  /** Currency through which a provider's conversions go; undefined for an unknown provider. */
  pivot(provider: string): string | undefined
  /** First day of a series' history, if its provider knows it. */
  historyStart(series: SeriesRow): IsoDate | undefined
  /**
   * Returns the columns of the series, in their order; a promise only if one must be read first.
   * @throws AppError `busy` when one has changed since: RateCache.read() then queries the next snapshot
   */
  columns(series: readonly SeriesRow[]): Column[] | Promise<Column[]>
  countRates(): Promise<RateCounts>
  /** Days of the series read so far whose stored values are damaged. */
  listDamage(): Damage[]
}

/** Size of a cache, and its hits and misses since it was opened. */
export type CacheState = CacheStats & { entries: number; bytes: number }

export type RateCache = {
  /** Snapshot of the newest revision read so far. */
  snapshot(): RateSnapshot
  /** Queries the newest snapshot, or one of the next two if that was outdated before all columns were read. */
  read<T>(query: (snapshot: RateSnapshot) => T | Promise<T>): T | Promise<T>
  /** Takes a new snapshot with the columns in use if the data have changed. */
  refresh(): Promise<void>
  state(): CacheState
}

/**
 * Opens the cache at the current revision of the database. Its transactions take up to 100 ms: pass a connection that
 * no other query waits for. `onDamage` is called once for the damaged values of a series.
 */
export async function openRateCache(
  db: ReadDb,
  providers: readonly Published[],
  onDamage: (damage: Damage) => void = () => {},
): Promise<RateCache> {
  const pivots = new Map(providers.map(({ code, pivot }) => [code, pivot]))
  const starts = findStarts(providers)
  const reported = new Set<string>()
  const reportDamage = (damage: Damage) => {
    const key = JSON.stringify(damage)
    if (!reported.has(key)) onDamage(damage)
    reported.add(key)
  }
  const stats = { hits: 0, misses: 0 }
  const shared: Shared = { stats, outdated: new Set(), pivots, starts, reportDamage }
  let snapshot = await takeSnapshot(db, shared)
  const renew = async () => {
    snapshot = await takeSnapshot(db, shared, snapshot)
    return snapshot
  }
  let renewal = Promise.resolve(snapshot)
  const next = () => {
    renewal = renewal.then(renew, renew) // never concurrent, otherwise an older snapshot might be the last
    return renewal
  }
  const repeat = async <T>(first: Promise<T>, query: (snapshot: RateSnapshot) => T | Promise<T>) => {
    let result: T | Promise<T> = first
    for (let tries = 1; ; tries += 1) {
      try {
        return await result
      } catch (error) {
        if (!isOutdated(error) || tries === MOST_TRIES) throw error
        result = query(await next())
      }
    }
  }
  return {
    snapshot: () => snapshot,
    read(query) {
      const result = query(snapshot)
      if (!(result instanceof Promise)) return result
      return repeat(result, query)
    },
    async refresh() {
      await next()
    },
    state() {
      let bytes = 0
      for (const { column } of snapshot.loaded.values()) bytes += columnBytes(column)
      return { entries: snapshot.loaded.size, bytes, ...shared.stats }
    },
  }
}

type LoadedSnapshot = RateSnapshot & { loaded: LoadedColumns }
/** Shared state of all snapshots of a cache. */
type Shared = {
  stats: CacheStats
  /** Series whose columns were requested together with a changed one; the next snapshot loads them. */
  outdated: Set<number>
  /** Pivots by code of the provider. */
  pivots: ReadonlyMap<string, string>
  /** First days of histories, by the codes of provider and series. */
  starts: ReadonlyMap<string, IsoDate>
  reportDamage: (damage: Damage) => void
}
type Published = Pick<Provider, 'code' | 'pivot' | 'groups' | 'catalogue'>
type Catalogue = { providers: ProviderRow[]; series: SeriesRow[]; coverage: Coverage }

/** Takes a snapshot of the current data; returns the previous one if they have not changed. */
async function takeSnapshot(db: ReadDb, shared: Shared, previous?: LoadedSnapshot): Promise<LoadedSnapshot> {
  const newSnapshot = await snapshot(db, async (trx) => {
    const { revision, epoch } = await selectMeta(trx)
    // After a restore the same revision may belong to other data, so nothing is reused.
    const same = previous?.epoch === epoch ? previous : undefined
    if (same?.revision === revision) return same
    const providers = await selectProviders(trx)
    const series = await selectSeries(trx)
    const coverage = await selectCoverage(trx)
    const newestInstant = await selectNewestInstant(trx)
    const loaded: LoadedColumns = new Map()
    for (const { id, revision } of series) {
      const cached = same?.loaded.get(id)
      if (cached?.revision === revision) loaded.set(id, cached)
    }
    if (engineSql(trx).readsAhead) await readAll(trx, series, loaded)
    else if (same) await readAhead(trx, { series, loaded, outdated: shared.outdated }, same)
    const meta = { revision, epoch, newestInstant }
    return makeSnapshot(db, meta, { providers, series, coverage }, loaded, shared)
  })
  // Only loaded ones: a query may have found further outdated series during the read.
  for (const id of newSnapshot.loaded.keys()) shared.outdated.delete(id)
  return newSnapshot
}

function makeSnapshot(
  db: ReadDb,
  meta: Pick<RateSnapshot, 'revision' | 'epoch' | 'newestInstant'>,
  { providers, series, coverage }: Catalogue,
  loaded: LoadedColumns,
  { stats, outdated, pivots, starts, reportDamage }: Shared,
): LoadedSnapshot {
  const covered = new Map([...coverage].map(([id, intervals]) => [id, toCoveredDays(intervals)]))
  const codes = new Map(providers.map(({ id, code }) => [id, code]))
  const startsById = new Map(
    series.map((one) => [one.id, starts.get(`${codes.get(one.provider_id)} ${one.external_code}`)]),
  )
  /** Makes the damaged days of a loaded column holes. */
  const judgeColumn = (id: number) => {
    const { damage } = loaded.get(id)?.column ?? {}
    if (!damage) return
    covered.set(id, withoutDays(covered.get(id) ?? NOT_COVERED, damage.days))
    reportDamage(damage)
  }
  for (const id of loaded.keys()) judgeColumn(id)
  const load = createLoader(db, loaded, judgeColumn)
  const loadEach = async (requested: readonly SeriesRow[]) => {
    const columns: Column[] = []
    for (const series of requested) {
      const one = await load(series)
      if (!one) {
        for (const { id } of requested) outdated.add(id)
        throw outdatedError()
      }
      one.usedRevision = meta.revision
      columns.push(one.column)
    }
    return columns
  }
  let counts: RateCounts | undefined
  return {
    ...meta,
    providers,
    isInvented: hasInvented(providers),
    series,
    coveredDays: (id) => covered.get(id) ?? NOT_COVERED,
    pairs: createPairFinder(providers, series),
    pivot: (provider) => pivots.get(provider),
    historyStart: ({ id }) => startsById.get(id),
    loaded,
    columns(requested) {
      const columns: Column[] = []
      for (const { id } of requested) {
        const cached = loaded.get(id)
        if (!cached) {
          stats.misses += 1
          return loadEach(requested)
        }
        cached.usedRevision = meta.revision
        columns.push(cached.column)
      }
      stats.hits += 1
      return columns
    },
    async countRates() {
      counts ??= countLoaded(series, loaded) ?? (await countRates(db))
      return counts
    },
    listDamage: () => [...loaded.values()].flatMap(({ column }) => column.damage ?? []),
  }
}

/** Returns a function from the code of a provider to its series. */
export function createPairFinder(
  providers: readonly ProviderRow[],
  series: readonly SeriesRow[],
): RateSnapshot['pairs'] {
  const bySource = Map.groupBy(series, ({ provider_id }) => provider_id)
  const pairs = new Map(providers.map(({ id, code }) => [code, byPair(bySource.get(id) ?? [])]))
  return (provider) => pairs.get(provider) ?? NO_PAIRS
}

export function byPair(series: readonly SeriesRow[]): SeriesByPair {
  return Map.groupBy(series, ({ base_currency, quote_currency }) => `${base_currency}/${quote_currency}`)
}

/** First days of histories, by the codes of provider and series. */
function findStarts(providers: readonly Published[]): Map<string, IsoDate> {
  const starts = new Map<string, IsoDate>()
  for (const { code, groups, catalogue } of providers) {
    for (const { startsOn, table, indicators } of groups) {
      if (startsOn === undefined) continue
      const listed = catalogue.filter((one) => one.table === table).flatMap((one) => one.externalCode ?? [])
      for (const series of indicators ?? listed) starts.set(`${code} ${series}`, startsOn)
    }
  }
  return starts
}
