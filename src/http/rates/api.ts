// The rates API: a key in X-API-Key, read-only (decisions 1.6).

import type { Clock } from '../../dates.ts'
import type { NightlyBackup } from '../../domain/backup/nightly.ts'
import type { DatabaseState } from '../../domain/database-watch.ts'
import type { PastRates } from '../../domain/rates/past.ts'
import type { CacheState, RateCache } from '../../domain/rates/rate-cache.ts'
import type { Db } from '../../store/tables.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import { createAnswerCache } from '../api/answer-cache.ts'
import type { Api } from '../api/api.ts'
import { type Keyring, keyCredentials, type SessionOf } from '../api/auth.ts'
import { createKnownAddresses } from '../api/known-addresses.ts'
import { ageGuard } from '../api/stored.ts'
import { convertEndpoints } from './convert.ts'
import { convertBatchEndpoint } from './convert-batch.ts'
import { RATES_ERRORS } from './errors.ts'
import { type Exports, exportEndpoints } from './export.ts'
import { createHistoryEncoder } from './history-encoder.ts'
import { pairHistoryEndpoints } from './pair-history.ts'
import { providersEndpoints } from './providers.ts'
import { ratesEndpoints } from './rates.ts'
import { revisionsEndpoint } from './revisions.ts'
import { schedulerEndpoints } from './scheduler.ts'
import { seriesEndpoints } from './series.ts'
import { syncRunsEndpoints } from './sync-runs.ts'

export type RatesDeps = {
  db: Db
  cache: RateCache
  past: PastRates
  keyring: Keyring
  sessionOf?: SessionOf
  clock: Clock
  scheduler: Schedulers
  backups: NightlyBackup | undefined
  exports: Exports
  database: Pick<DatabaseState, 'memoryAge'>
}

/** The API, and what it keeps to be faster, to be looked at. */
export function ratesApi(deps: RatesDeps): { api: Api; caches: () => Record<string, CacheState> } {
  const answers = createAnswerCache()
  const histories = createHistoryEncoder()
  const stored = { ...deps, answers, histories, addresses: createKnownAddresses() }
  const api: Api = {
    prefixes: ['/'], // errors of a path that no API has are of its shape
    errors: RATES_ERRORS,
    tag: 'Rates',
    guard: ageGuard(deps.database),
    credentials: keyCredentials(deps.keyring, deps.sessionOf),
    endpoints: [
      ...providersEndpoints(stored),
      ...seriesEndpoints(stored),
      ...ratesEndpoints(stored),
      ...convertEndpoints(stored),
      convertBatchEndpoint(stored),
      ...exportEndpoints(deps.exports),
      ...pairHistoryEndpoints(stored),
      revisionsEndpoint(deps),
      ...syncRunsEndpoints(deps),
      ...schedulerEndpoints(deps),
    ],
  }
  const caches = () => ({
    columns: deps.cache.state(),
    answers: answers.state(),
    pieces: histories.state(),
  })
  return { api, caches }
}
