// Every API that there is. What a start need not wait for is loaded with the first request for it.

import type { BlockList } from 'node:net'
import type { NightlyBackup } from '../domain/backup/nightly.ts'
import type { DatabaseState } from '../domain/database-watch.ts'
import type { Arrivals } from '../domain/documents/arrivals.ts'
import { type Claiming, claimDocuments } from '../domain/documents/claims/claims.ts'
import { finishDocument } from '../domain/documents/claims/outcomes.ts'
import { documentBy, documentsOn, documentsOnceThere } from '../domain/documents/queries.ts'
import type { HealthQuestion } from '../domain/rates/health.ts'
import type { PastRates } from '../domain/rates/past.ts'
import type { CacheState, RateCache } from '../domain/rates/rate-cache.ts'
import type { Log } from '../log.ts'
import type { Semaphore } from '../semaphore.ts'
import type { Blobs } from '../store/blobs/blobs.ts'
import type { Db } from '../store/tables.ts'
import type { Schedulers } from '../sync/schedulers.ts'
import type { Api } from './api/api.ts'
import type { Keyring } from './api/auth.ts'
import type { LateApis } from './api/late.ts'
import type { OpenNetworks } from './compat/admission.ts'
import { documentsApi } from './documents/api.ts'
import type { UploadLimits } from './documents/uploads/receive.ts'
import type { DocumentQueries, DocumentWork } from './mcp/documents/queries.ts'
import { pageApi } from './page/api.ts'
import { pageAssetsApi } from './page/assets.ts'
import type { SignInDeps } from './page/sign-in.ts'
import { ratesApi } from './rates/api.ts'
import { createExports } from './rates/export.ts'
import { descriptionApi, statusApi } from './status/api.ts'
import { keptTotals, type Totals } from './status/totals.ts'

export type HttpDeps = HealthQuestion & {
  db: Db
  /** The same, for what only reads: it waits for no transaction of `db`. */
  reads: Db
  /** Sessions and tickets of the page, where several nodes answer a browser. */
  sharedSessions: SignInDeps['shared']
  /** Whether the database answers and is that of this program. */
  isReady: () => Promise<boolean>
  database: DatabaseState
  cache: RateCache
  past: PastRates
  keyring: Keyring
  scheduler: Schedulers
  backups: NightlyBackup | undefined
  /** To be called after each commit of documents. */
  wakeHooks: () => void
  /** It leaves out what fails because the database is away (`DatabaseState.quiet`); that of defects does not. */
  log: Log
  defects: Log
  blobs: Blobs
  arrivals: Arrivals
  claiming: Claiming
  limits: UploadLimits
}

export type ApisOptions = {
  /** Proxies whose X-Forwarded-For is believed. */
  proxies?: BlockList | undefined
  /** Names that the server is asked by in a browser, beside its addresses and `localhost`. */
  hostNames?: readonly string[] | undefined
  /** The shapes of other services: networks that need no key, and whether rounded values are answered; undefined: none. */
  compat?: { open: OpenNetworks | undefined; serveRounded: boolean } | undefined
}

/** Every API, in the order of the description, those that are loaded later, and what the metrics look at. */
export function apisOf(
  deps: HttpDeps,
  { compat, proxies, hostNames = [] }: ApisOptions,
): {
  apis: Api[]
  /** Of them the paths that are open to everybody, to ask whether the server is well. */
  probes: Api
  late: readonly LateApis[]
  /** Of them those that further addresses have too. */
  shapes: readonly LateApis[]
  uploads: Pick<Semaphore, 'status'>
  caches: () => Record<string, CacheState>
  totals: () => Promise<Totals>
} {
  const reading = { ...deps, db: deps.reads }
  const names = { hostNames, proxies }
  const exports = createExports(reading)
  const { sharedSessions: shared, db: writes } = deps
  const { api: page, sessionOf } = pageApi({ ...reading, writes, exports, names, shared })
  const rates = ratesApi({ ...reading, exports, sessionOf })
  const documents = documentsApi({ ...deps, sessionOf })
  const totals = keptTotals(deps.reads)
  const status = statusApi({ ...reading, totals, sessionOf })
  let loaded: Api[] | undefined // on whichever port they are asked for: wrong keys and answers are of all ports
  const shapes: LateApis | undefined = compat && {
    prefix: '/compat',
    async load() {
      const { compatApis } = await import('./compat/api.ts')
      loaded ??= compatApis({ ...reading, proxies, ...compat })
      return loaded
    },
  }
  let mcp: Api[] | undefined
  const agents: LateApis = {
    prefix: '/mcp',
    async load() {
      const { mcpApi } = await import('./mcp/api.ts')
      mcp ??= [mcpApi({ ...reading, names, documents: documentWork(deps) })]
      return mcp
    },
  }
  const probes = { ...status, endpoints: status.endpoints.filter(({ open }) => open) }
  const late = shapes ? [agents, shapes] : [agents]
  const own: Api[] = [status, page, rates.api, documents.api]
  const all = async () => [...own, ...(await Promise.all(late.map(({ load }) => load()))).flat()]
  const apis = [...own, descriptionApi(all), pageAssetsApi(names)]
  const { uploads } = documents
  const { caches } = rates
  return { apis, probes, late, shapes: shapes ? [shapes] : [], uploads, caches, totals }
}

/** What the tools of agents ask the database (decisions 6.1). */
function documentWork({ reads, blobs, arrivals, claiming }: HttpDeps): DocumentQueries & DocumentWork {
  return {
    page: (access, asked) => documentsOn(reads, access, asked),
    pageOnceThere: (access, asked, patience) =>
      documentsOnceThere({ db: reads, arrivals }, access, asked, patience),
    find: (access, id) => documentBy(reads, access, id),
    claim: (worker, asked, patience) => claimDocuments(claiming, worker, asked, patience),
    finish: (worker, held, told) => finishDocument(claiming, worker, held, told),
    blobs,
  }
}
