// The read model. A series is read whole, once, into a column that is kept until the series changes; every
// rates answer is a pure function over such columns (rates.ts). All parts of a snapshot are of one revision, whatever
// is written meanwhile: what it needs at once is read in one transaction, and a column that is read later must not have
// changed since. Where the database is another machine's, a snapshot has all its columns, and goes on without it.

import type { IsoDate } from '../../dates.ts'
import type { CacheStats } from '../../lru.ts'
import type { Provider } from '../../providers/provider.ts'
import { dialectOf, snapshot } from '../../store/engine.ts'
import { selectMeta } from '../../store/meta.ts'
import { type Coverage, selectCoverage } from '../../store/rates/coverage.ts'
import { type ProviderRow, selectProviders } from '../../store/rates/providers.ts'
import { countRates, type RateCounts } from '../../store/rates/rates.ts'
import { type SeriesRow, selectSeries } from '../../store/rates/series.ts'
import type { Db } from '../../store/tables.ts'
import { type Column, type CoveredDays, dayNumbersOf } from './column.ts'
import {
  type Columns,
  countsOf,
  isOutdated,
  loaderOf,
  outdatedError,
  readAhead,
  readAll,
} from './loaded-columns.ts'

const NOT_COVERED: CoveredDays = new Int32Array()
const NO_PAIRS: SeriesByPair = new Map()

/** Series by base and quote currency, such as `USD/CRC`; within a pair by id. */
export type SeriesByPair = ReadonlyMap<string, readonly SeriesRow[]>

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
  /** The currency that a provider's conversions go through; undefined for one that the program does not know. */
  pivotOf(provider: string): string | undefined
  /** The first day of a series' history where its provider knows it. */
  startOf(series: SeriesRow): IsoDate | undefined
  /**
   * The columns of the series given, in their order; a promise only where one has to be read first.
   * @throws AppError `busy` when one has changed since: RateCache.read() asks the next snapshot then
   */
  columns(series: readonly SeriesRow[]): Column[] | Promise<Column[]>
  countRates(): Promise<RateCounts>
}

/** What a cache holds, and how often what was asked for was in it since the cache was opened. */
export type CacheState = CacheStats & { entries: number; bytes: number }

export type RateCache = {
  /** The snapshot of the newest revision that the cache has seen. */
  snapshot(): RateSnapshot
  /** What a query finds in the newest snapshot, or in the next one if that was outdated before all columns were read. */
  read<T>(query: (snapshot: RateSnapshot) => T | Promise<T>): T | Promise<T>
  /** Looks whether the data have changed and, if so, takes a new snapshot with the columns that are in use. */
  refresh(): Promise<void>
  state(): CacheState
}

/**
 * Opens the cache at the database's present revision. It reads in transactions of up to a tenth of a second: give it a
 * connection that no other query waits for.
 */
export async function openRateCache(db: Db, providers: readonly Published[]): Promise<RateCache> {
  const pivots = new Map(providers.map(({ code, pivot }) => [code, pivot]))
  const starts = startsOf(providers)
  const shared: Shared = { stats: { hits: 0, misses: 0 }, outdated: new Set(), pivots, starts }
  let snapshot = await takeSnapshot(db, shared)
  const turn = async () => {
    snapshot = await takeSnapshot(db, shared, snapshot)
    return snapshot
  }
  let turning = Promise.resolve(snapshot)
  const next = () => {
    turning = turning.then(turn, turn) // one at a time, or an older snapshot might come last
    return turning
  }
  return {
    snapshot: () => snapshot,
    read(query) {
      const found = query(snapshot)
      if (!(found instanceof Promise)) return found
      return found.catch(async (error: unknown) => {
        if (!isOutdated(error)) throw error
        return query(await next())
      })
    },
    async refresh() {
      await next()
    },
    state() {
      let bytes = 0
      for (const column of snapshot.loaded.values()) bytes += column.bytes
      return { entries: snapshot.loaded.size, bytes, ...shared.stats }
    },
  }
}

type OwnSnapshot = RateSnapshot & { loaded: Columns }
/** What all snapshots of a cache have in common. */
type Shared = {
  stats: CacheStats
  /** Series whose columns were asked for together with one that had changed: the next snapshot is to have them. */
  outdated: Set<number>
  /** By code of the provider. */
  pivots: ReadonlyMap<string, string>
  /** First days of histories, by provider and the code of the series. */
  starts: ReadonlyMap<string, ReadonlyMap<string, IsoDate>>
}
type Published = Pick<Provider, 'code' | 'pivot' | 'groups' | 'catalogue'>
type Catalogue = { providers: ProviderRow[]; series: SeriesRow[]; coverage: Coverage }

/** The stored data as they are now; the snapshot of before, if they have not changed since. */
async function takeSnapshot(db: Db, shared: Shared, before?: OwnSnapshot): Promise<OwnSnapshot> {
  const taken = await readSnapshot(db, shared, before)
  // Not all: a query may have found another one outdated meanwhile.
  for (const id of taken.loaded.keys()) shared.outdated.delete(id)
  return taken
}

function readSnapshot(db: Db, shared: Shared, before: OwnSnapshot | undefined): Promise<OwnSnapshot> {
  return snapshot(db, async (trx) => {
    const { revision, epoch } = await selectMeta(trx)
    // After a restore the same revision may be another's: nothing of before is kept.
    const same = before?.epoch === epoch ? before : undefined
    if (same?.revision === revision) return same
    const providers = await selectProviders(trx)
    const series = await selectSeries(trx)
    const coverage = await selectCoverage(trx)
    const loaded: Columns = new Map()
    for (const { id, revision } of series) {
      const known = same?.loaded.get(id)
      if (known?.revision === revision) loaded.set(id, known)
    }
    if (dialectOf(trx).readsAhead) await readAll(trx, series, loaded)
    else if (same) await readAhead(trx, { series, loaded, outdated: shared.outdated }, same)
    return makeSnapshot(db, { revision, epoch }, { providers, series, coverage }, loaded, shared)
  })
}

function makeSnapshot(
  db: Db,
  meta: { revision: number; epoch: string },
  { providers, series, coverage }: Catalogue,
  loaded: Columns,
  { stats, outdated, pivots, starts }: Shared,
): OwnSnapshot {
  const covered = new Map<number, CoveredDays>()
  for (const [id, intervals] of coverage) covered.set(id, dayNumbersOf(intervals))
  const pairs = new Map<string, SeriesByPair>()
  for (const { id, code } of providers) {
    pairs.set(code, byPair(series.filter(({ provider_id }) => provider_id === id)))
  }
  const codes = new Map(providers.map(({ id, code }) => [id, code]))
  const load = loaderOf(db, loaded)
  const loadEach = async (wanted: readonly SeriesRow[]) => {
    const columns: Column[] = []
    for (const series of wanted) {
      const one = await load(series)
      if (!one) {
        for (const { id } of wanted) outdated.add(id)
        throw outdatedError()
      }
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
    pivotOf: (provider) => pivots.get(provider),
    startOf: (one) => starts.get(codes.get(one.provider_id) ?? '')?.get(one.external_code),
    loaded,
    columns(wanted) {
      const columns: Column[] = []
      for (const { id } of wanted) {
        const known = loaded.get(id)
        if (!known) {
          stats.misses += 1
          return loadEach(wanted)
        }
        known.askedAt = meta.revision
        columns.push(known.column)
      }
      stats.hits += 1
      return columns
    },
    async countRates() {
      counts ??= countsOf(series, loaded) ?? (await countRates(db))
      return counts
    },
  }
}

export function byPair(series: readonly SeriesRow[]): SeriesByPair {
  return Map.groupBy(series, ({ base_currency, quote_currency }) => `${base_currency}/${quote_currency}`)
}

/** First days of histories by provider, then by the code of the series. */
function startsOf(providers: readonly Published[]): Map<string, Map<string, IsoDate>> {
  const starts = new Map<string, Map<string, IsoDate>>()
  for (const { code, groups, catalogue } of providers) {
    const own = new Map<string, IsoDate>()
    for (const { startsOn, table, indicators } of groups) {
      if (startsOn === undefined) continue
      const listed = catalogue.filter((one) => one.table === table).flatMap((one) => one.externalCode ?? [])
      for (const series of indicators ?? listed) own.set(series, startsOn)
    }
    starts.set(code, own)
  }
  return starts
}
