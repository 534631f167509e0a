// The rates API: a key in X-API-Key, read-only (decisions#key-first).

import type { IndicatorReader } from '../../domain/indicators/reader.ts'
import type { NightlyBackup } from '../../domain/operations/backup/nightly.ts'
import type { DatabaseState } from '../../domain/operations/database-watch.ts'
import type { PastRates } from '../../domain/rates/history/past.ts'
import type { CacheState, RateCache } from '../../domain/rates/rate-cache.ts'
import type { Log } from '../../runtime/log.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import type { Clock } from '../../values/dates.ts'
import { type AdmitOpenPage, type FindSession, type Keyring, keyCredentials } from '../access/auth.ts'
import { createAnswerCache } from '../endpoint/answers/answer-cache.ts'
import type { Api } from '../endpoint/api.ts'
import { ageGuard } from '../endpoint/stored.ts'
import { createUnservedLog } from '../endpoint/unserved-log.ts'
import type { Exports } from '../figures/exports.ts'
import { RATES_ERRORS } from '../figures/rates-errors.ts'
import { convertEndpoints } from './convert.ts'
import { convertBatchEndpoint } from './convert-batch.ts'
import { exportEndpoints, indicatorExportEndpoints } from './export.ts'
import { createHistoryEncoder } from './history-encoder.ts'
import { indicatorEndpoints } from './indicators.ts'
import { pairHistoryEndpoints } from './pair-history.ts'
import { pricesEndpoints } from './prices.ts'
import { providersEndpoint } from './providers.ts'
import { ratesEndpoints } from './rates.ts'
import { revisionsEndpoint } from './revisions.ts'
import { schedulerEndpoint, syncRunsEndpoint } from './scheduler.ts'
import { seriesEndpoints } from './series.ts'
import { statementEndpoint } from './statement.ts'

type RatesDeps = {
  db: ReadDb
  cache: RateCache
  past: PastRates
  indicators: IndicatorReader
  keyring: Keyring
  findSession: FindSession
  /** For the page in an open network. */
  admitOpenPage: AdmitOpenPage
  clock: Clock
  log: Log
  scheduler: Schedulers
  backups: NightlyBackup | undefined
  exports: Exports
  database: Pick<DatabaseState, 'memoryAge'>
}

/** Creates the API, and its caches for metrics. */
export function ratesApi(deps: RatesDeps): { api: Api; caches: () => Record<string, CacheState> } {
  const answers = createAnswerCache()
  const histories = createHistoryEncoder()
  const { db, cache, past, indicators, clock, scheduler, backups } = deps
  const storedDeps = { cache, past, clock, answers }
  const api: Api = {
    prefixes: ['/'], // errors of a path that no API has are of its shape
    errors: RATES_ERRORS,
    tag: 'Rates',
    guard: ageGuard(deps.database),
    credentials: keyCredentials(deps.keyring, deps.findSession, deps.admitOpenPage),
    endpoints: [
      providersEndpoint(storedDeps),
      ...seriesEndpoints(storedDeps, histories),
      ...ratesEndpoints(storedDeps),
      ...convertEndpoints(storedDeps),
      convertBatchEndpoint(storedDeps),
      statementEndpoint({ db, cache, past, clock }),
      ...exportEndpoints(deps.exports),
      ...pairHistoryEndpoints(storedDeps),
      ...pricesEndpoints({ ...storedDeps, scheduler, unserved: createUnservedLog(deps.log, clock) }),
      revisionsEndpoint(db),
      ...indicatorEndpoints({ ...indicators, answers: createAnswerCache(), clock, db }),
      ...indicatorExportEndpoints(db),
      syncRunsEndpoint(db),
      schedulerEndpoint(db, scheduler, backups),
    ],
  }
  const caches = () => ({
    columns: cache.state(),
    answers: answers.state(),
    pieces: histories.state(),
  })
  return { api, caches }
}
