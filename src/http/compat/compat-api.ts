// APIs of other services, a folder or a file each. Each has its own errors; all share admission.

import type { BlockList } from 'node:net'
import type { IndicatorReader } from '../../domain/indicators/reader.ts'
import type { DatabaseState } from '../../domain/operations/database-watch.ts'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import type { Log } from '../../runtime/log.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import type { Clock } from '../../values/dates.ts'
import type { Keyring } from '../access/auth.ts'
import { createAnswerCache } from '../endpoint/answers/answer-cache.ts'
import type { Api } from '../endpoint/api.ts'
import { readRetryDelay } from '../endpoint/retry-delay.ts'
import { ageGuard } from '../endpoint/stored.ts'
import { createUnservedLog } from '../endpoint/unserved-log.ts'
import type { OpenNetworks } from '../listener/open-networks.ts'
import { createAdmission } from './admission.ts'
import { bccrApi } from './bccr/asmx.ts'
import { ecbApi } from './ecb/ecb.ts'
import { frankfurterV1Api } from './frankfurter/v1.ts'
import { frankfurterV2Api } from './frankfurter/v2.ts'
import { gometaApi } from './gometa.ts'
import { haciendaApis } from './hacienda.ts'
import { keyedApis } from './keyed/keyed.ts'
import { paginaswebApi } from './paginasweb.ts'
import parameters from './parameters.json' with { type: 'json' }
import { sddeApi } from './sdde/sdde.ts'
import { type CompatDeps, compatCredentials } from './shape.ts'
import { valorApi } from './valor.ts'

export type CompatApisDeps = {
  db: ReadDb
  cache: RateCache
  indicators: Pick<IndicatorReader, 'cache'>
  clock: Clock
  log: Log
  keyring: Keyring
  database: Pick<DatabaseState, 'memoryAge'>
  proxies: BlockList | undefined
  /** Networks that need no key. */
  open: OpenNetworks | undefined
  /** Answers rounded values too. */
  serveRounded: boolean
  scheduler: Pick<Schedulers, 'tasks'>
}

const REFUSALS = {
  404: 'Not held, or no path of that service',
  406: 'That service has no such form of it',
  422: 'A parameter that is invalid',
  429: 'Too many wrong keys from this address',
}

export function compatApis({
  keyring,
  database,
  proxies,
  open,
  scheduler,
  indicators,
  ...own
}: CompatApisDeps): Api[] {
  const { clock, log } = own
  const admission = createAdmission({ keyring, clock, log, proxies, open })
  const deps: Omit<CompatDeps, 'followsKey'> = {
    ...own,
    answers: createAnswerCache(),
    indicators: { cache: indicators.cache, answers: createAnswerCache() },
    admission,
    unserved: createUnservedLog(log, clock),
    retryDelay: (provider) => readRetryDelay(scheduler, provider, clock),
  }
  const credentials = compatCredentials(admission)
  const [bank, any] = [
    { ...deps, followsKey: false },
    { ...deps, followsKey: true },
  ]
  const apis = [
    bccrApi(bank, proxies),
    sddeApi(bank),
    ...haciendaApis(bank),
    gometaApi(bank),
    paginaswebApi(bank),
    ecbApi(any),
    frankfurterV1Api(any),
    frankfurterV2Api(any),
    ...keyedApis(any),
    valorApi(any),
  ]
  return apis.map((api) => ({
    guard: ageGuard(database),
    credentials,
    tag: 'Compatibility',
    refusals: REFUSALS,
    ...api,
    endpoints: api.endpoints.map((endpoint) => ({ ...endpoint, takes: endpointParameters(endpoint.path) })),
  }))
}

/** Returns the query parameters of an endpoint for the OpenAPI description, by name: those of its groups. */
function endpointParameters(path: string): Record<string, string> {
  const groups: Readonly<Record<string, object>> = parameters.groups
  const apiPath = path.replace(/^\/compat/, '')
  const [, names = []] =
    Object.entries(parameters.endpoints).find(([pattern]) => new RegExp(pattern).test(apiPath)) ?? []
  return Object.assign({}, ...names.map((name) => groups[name]))
}
