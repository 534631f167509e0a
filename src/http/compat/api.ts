// The shapes of other services, a folder or a file each. Each is an API with its own errors; all share who may ask.

import type { BlockList } from 'node:net'
import type { Clock } from '../../dates.ts'
import type { DatabaseState } from '../../domain/database-watch.ts'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import type { Log } from '../../log.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import { createAnswerCache } from '../api/answer-cache.ts'
import type { Api } from '../api/api.ts'
import type { Keyring } from '../api/auth.ts'
import { ageGuard } from '../api/stored.ts'
import { createAdmission, type OpenNetworks } from './admission.ts'
import { bccrApi } from './bccr/asmx.ts'
import { frankfurterV1Api } from './frankfurter/v1.ts'
import { frankfurterV2Api } from './frankfurter/v2.ts'
import { haciendaApis } from './hacienda.ts'
import { keyedApis } from './keyed/keyed.ts'
import { createMissed } from './missed.ts'
import { parametersOf } from './parameters.ts'
import { sddeApi } from './sdde/sdde.ts'
import { PROVIDER, type ShapeDeps, shapeCredentials } from './shape.ts'
import { valorApi } from './valor.ts'

export type CompatDeps = {
  cache: RateCache
  clock: Clock
  log: Log
  keyring: Keyring
  database: Pick<DatabaseState, 'memoryAge'>
  proxies: BlockList | undefined
  /** Networks that need no key. */
  open: OpenNetworks | undefined
  /** Whether rounded values are answered too. */
  serveRounded: boolean
  scheduler: Pick<Schedulers, 'tasks'>
}

const REFUSALS = {
  404: 'Not held, or no path of that service',
  406: 'That service has no such form of it',
  422: 'A parameter that is invalid',
  429: 'Too many wrong keys from this address',
}

export function compatApis({ keyring, database, proxies, open, scheduler, ...own }: CompatDeps): Api[] {
  const { clock, log } = own
  const admission = createAdmission({ keyring, clock, log, proxies, open })
  const deps: ShapeDeps = {
    ...own,
    answers: createAnswerCache(),
    admission,
    missed: createMissed(log, clock),
    async nextSync() {
      const tasks = await scheduler.tasks()
      return tasks.find(({ provider }) => provider === PROVIDER)?.nextRun
    },
  }
  const credentials = shapeCredentials(admission)
  const apis = [
    bccrApi(deps, proxies),
    sddeApi(deps),
    ...haciendaApis(deps),
    frankfurterV1Api(deps),
    frankfurterV2Api(deps),
    ...keyedApis(deps),
    valorApi(deps),
  ]
  return apis.map((api) => ({
    guard: ageGuard(database),
    credentials,
    tag: 'Compatibility',
    refusals: REFUSALS,
    ...api,
    endpoints: api.endpoints.map((endpoint) => ({ ...endpoint, takes: parametersOf(endpoint.path) })),
  }))
}
