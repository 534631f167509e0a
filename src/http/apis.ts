// Creates all APIs. MCP and the compat APIs are loaded with their first request.

import type { BlockList } from 'node:net'
import { type ClaimDeps, claimDocuments } from '../domain/documents/claims/claiming.ts'
import { extendClaim, finishDocument, releaseDocument } from '../domain/documents/claims/outcomes.ts'
import { waitForDocuments } from '../domain/documents/queries.ts'
import { createSummaries } from '../domain/documents/summary.ts'
import { openUploadLinks, type UploadLinks } from '../domain/documents/uploads/links.ts'
import type { IndicatorReader } from '../domain/indicators/reader.ts'
import type { InvoiceRates } from '../domain/invoices/rate-check.ts'
import type { NightlyBackup } from '../domain/operations/backup/nightly.ts'
import type { DatabaseState } from '../domain/operations/database-watch.ts'
import type { Samples } from '../domain/operations/sample-reads.ts'
import type { HealthQuery } from '../domain/rates/health.ts'
import type { PastRates } from '../domain/rates/history/past.ts'
import type { CacheState, RateCache } from '../domain/rates/rate-cache.ts'
import { DEFAULT_PROVIDER } from '../providers/list.ts'
import type { Log } from '../runtime/log.ts'
import type { Engine } from '../store/engine.ts'
import type { ReadDb } from '../store/tables.ts'
import type { Schedulers } from '../sync/schedulers.ts'
import type { Keyring } from './access/auth.ts'
import { documentsApi } from './documents/documents-api.ts'
import { uploadLinksApi } from './documents/uploads/link-endpoint.ts'
import { uploadBytes } from './documents/uploads/raw-body.ts'
import type { UploadDeps, UploadReceiver } from './documents/uploads/receive.ts'
import type { Api } from './endpoint/api.ts'
import { createLazyApis, type LazyApis } from './endpoint/lazy-apis.ts'
import { createExports } from './figures/exports.ts'
import type { OpenNetworks } from './listener/open-networks.ts'
import { type DocumentUploads, type DocumentWork, documentQueries } from './mcp/documents/document-queries.ts'
import { ratesApi } from './rates/rates-api.ts'
import { type MetricsSnapshot, metricsSnapshotOf } from './status/metrics-snapshot.ts'
import { descriptionApi, statusApi } from './status/status-api.ts'
import { cachedTotals } from './status/totals.ts'
import { type PageBundler, pageAssetsApi } from './web/assets.ts'
import { createOpenPage } from './web/open-page.ts'
import { pageApi } from './web/page-api.ts'
import type { Organization } from './web/sign-in.ts'

/** Parts of a running server, by subject. Each API gets those that it names. */
export type ServerParts = {
  /** Queries of `reads` never wait for transactions of `db`. */
  engine: Pick<Engine, 'db' | 'reads' | 'isReady'>
  database: DatabaseState
  rates: { cache: RateCache; past: PastRates; indicators: IndicatorReader }
  health: HealthQuery
  documents: Pick<UploadDeps, 'blobs' | 'limits' | 'turns' | 'invoices' | 'wakeHooks'> & {
    claiming: ClaimDeps
    /** Mails that were stored already, since the start, by id of the mailbox. */
    knownMails: ReadonlyMap<number, number>
    /** Monotonic milliseconds; default those of the process. */
    ticks?: (() => number) | undefined
  }
  keyring: Keyring
  scheduler: Schedulers
  backups: NightlyBackup | undefined
  /** Samples of a server on probation; undefined: it is on none. */
  samples: () => Samples | undefined
  /** True on a full disk. */
  onlyReads: boolean
  bundlePage: PageBundler | undefined
  /** Omits failures while the database is away (`DatabaseState.quiet`); `defects` logs all. */
  log: Log
  defects: Log
}

export type ApisOptions = {
  /** Proxies whose X-Forwarded-For is trusted. */
  proxies?: BlockList | undefined
  /** Host names of the server for browsers, beside its addresses and `localhost`. */
  hostNames?: readonly string[] | undefined
  /** Address of the page in links (`HostNames`). */
  publicUrl?: string | undefined
  /** Networks in which the page shows rates without signing in. */
  openPage?: BlockList | undefined
  /** Letterhead of the page. */
  organization?: Organization | undefined
  /** Compat APIs: networks that need no key, and whether rounded values are served; undefined: no compat APIs. */
  compat?: { open: OpenNetworks | undefined; serveRounded: boolean } | undefined
}

/** Creates the APIs in the order of OpenAPI, the lazy ones, and the source of the metrics. */
export function createApis(
  parts: ServerParts,
  { compat, proxies, hostNames = [], publicUrl, organization, openPage: openNetworks }: ApisOptions,
  finished: () => CacheState,
): {
  apis: Api[]
  /** The unauthenticated health endpoints. */
  probes: Api
  late: readonly LazyApis[]
  /** Lazy APIs that further addresses serve too. */
  shapes: readonly LazyApis[]
  readMetrics: () => Promise<MetricsSnapshot>
} {
  const { database, health, keyring, scheduler, backups, samples, onlyReads, log } = parts
  const { db, reads, isReady } = parts.engine
  const { cache, past, indicators } = parts.rates
  const { blobs, limits, turns, invoices, knownMails, wakeHooks, claiming, ticks } = parts.documents
  const { waiters, clock } = claiming
  const isInvented = () => cache.snapshot().isInvented
  const names = { hostNames, proxies, publicUrl }
  const exports = createExports({ db: reads, cache })
  const openPage = createOpenPage({ networks: openNetworks, names, clock })
  const page = pageApi({ db, reads, blobs, keyring, clock, log, names, exports, openPage, organization })
  const { findSession } = page
  const rates = ratesApi({
    ...{ db: reads, database, cache, past, indicators, exports, clock, log },
    ...{ keyring, findSession, admitOpenPage: openPage.admit, scheduler, backups },
  })
  const summaries = createSummaries({ db: reads, leases: claiming.leases.sql, clock, ticks })
  const invoiceRates: InvoiceRates = { cache, clock, provider: DEFAULT_PROVIDER }
  const documents = documentsApi({
    ...{ db, reads, blobs, limits, turns, invoices, wakeHooks, claiming, summaries, invoiceRates },
    ...{ keyring, findSession, log },
  })
  const { uploads } = documents
  const links = openUploadLinks({ db, reads, clock }, limits.maxBody)
  const totals = cachedTotals(reads)
  const status = statusApi({
    ...{ db: reads, isReady, database, cache, health, blobs, totals, samples, onlyReads },
    ...{ keyring, findSession, scheduler, backups, log },
  })
  const compatDeps = { db: reads, cache, indicators, clock, log, keyring, database, scheduler, proxies }
  const shapes =
    compat &&
    createLazyApis('/compat', async () => {
      const { compatApis } = await import('./compat/compat-api.ts')
      return () => compatApis({ ...compatDeps, ...compat })
    })
  const agents = createLazyApis('/mcp', async () => {
    const { mcpApi } = await import('./mcp/mcp-api.ts')
    const queries = documentQueries(reads, blobs, invoiceRates, summaries.total)
    const work = { ...queries, ...documentWork(reads, claiming, uploads, links) }
    const rateDeps = { db: reads, cache, health, indicators }
    return () => [mcpApi({ rates: rateDeps, invoiceRates, documents: work, keyring, database, names, log })]
  })
  const probes = { ...status, endpoints: status.endpoints.filter(({ permission }) => permission === 'open') }
  const late = shapes ? [agents, shapes] : [agents]
  const linksApi = uploadLinksApi({ links, uploads, keyring, names })
  const own: Api[] = [status, page.api, rates.api, documents.api, linksApi]
  const all = async () => [...own, ...(await Promise.all(late.map(({ load }) => load()))).flat()]
  const apis = [...own, descriptionApi(all), pageAssetsApi(names, openPage, isInvented, parts.bundlePage)]
  const caches = () => ({ ...rates.caches(), finished: finished() })
  const readMetrics = metricsSnapshotOf({
    ...{ db: reads, database, cache, caches, health, scheduler, backups },
    ...{ blobs, uploads: turns, invoices, knownMails, waiters, totals, summaries },
  })
  return { apis, probes, late, shapes: shapes ? [shapes] : [], readMetrics }
}

/** Database functions for the tools of agents (decisions#mcp). */
function documentWork(
  db: ReadDb,
  claiming: ClaimDeps,
  uploads: UploadReceiver,
  links: UploadLinks,
): DocumentWork & DocumentUploads {
  const { waiters } = claiming
  return {
    pageOnceThere: (access, asked, patience) => waitForDocuments({ db, waiters }, access, asked, patience),
    claim: (worker, asked, patience) => claimDocuments(claiming, worker, asked, patience),
    finish: (worker, held, told) => finishDocument(claiming, worker, held, told),
    extend: (worker, ref, seconds) => extendClaim(claiming, worker, ref, seconds),
    release: (worker, ref) => releaseDocument(claiming, worker, ref),
    uploadText: (client, document, bytes) => uploadBytes(uploads, client, document, bytes),
    makeLink: links.make,
  }
}
