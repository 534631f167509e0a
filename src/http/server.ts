// The HTTP server: what is mounted, what every request passes, where errors end.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BlockList } from 'node:net'
import { H3, type H3Event, HTTPError } from 'h3'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import type { NightlyBackup } from '../domain/backup/nightly.ts'
import type { HealthQuestion } from '../domain/rates/health.ts'
import type { CacheState, RateCache } from '../domain/rates/rate-cache.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Semaphore } from '../semaphore.ts'
import { isOfDatabase, storageError } from '../storage-error.ts'
import type { Blobs } from '../store/blobs/blobs.ts'
import type { Db } from '../store/tables.ts'
import type { Schedulers } from '../sync/schedulers.ts'
import { type Api, apiOf, mountApis } from './api/api.ts'
import type { AuthorizedToken, Keyring } from './api/auth.ts'
import { drainAfter } from './api/body.ts'
import { createCors } from './api/cors.ts'
import { type ErrorShape, errorAnswer } from './api/errors.ts'
import { nodeOf, SENT, send } from './api/send.ts'
import type { OpenNetworks } from './compat/admission.ts'
import { compatApis, routeToShape } from './compat/api.ts'
import { documentsApi } from './documents/api.ts'
import type { UploadLimits } from './documents/uploads.ts'
import type { ConnectionLimits } from './listener/connections.ts'
import { bareHeaders, listenOn, type Place } from './listener/listen.ts'
import { clientOf, isSharedBy, peerOf } from './listener/proxy.ts'
import { pathOf } from './listener/request-line.ts'
import { openTls, type Tls, type TlsFiles } from './listener/tls.ts'
import { ratesApi } from './rates/api.ts'
import { descriptionApi, statusApi } from './status/api.ts'
import type { Metrics } from './status/metrics.ts'
import { metricsSnapshotOf } from './status/metrics-snapshot.ts'

export type HttpDeps = HealthQuestion & {
  db: Db
  /** The same, for what only reads: it waits for no transaction of `db`. */
  reads: Db
  cache: RateCache
  keyring: Keyring
  scheduler: Schedulers
  backups: NightlyBackup | undefined
  log: Log
  blobs: Blobs
  /** Where the blobs are, for a look at the free space. */
  blobsDir: string
  limits: UploadLimits
}

export type ServerOptions = {
  host: string
  port: number
  /** Proxies whose X-Forwarded-For is believed, in the log. */
  proxies?: BlockList | undefined
  tls?: TlsFiles | undefined
  connections?: ConnectionLimits | undefined
  /** Origins of websites that may read answers in a browser; `*` is any. */
  corsOrigins?: readonly string[] | undefined
  /** The shapes of other services: networks that need no key, and whether rounded values are answered; undefined: none. */
  compat?: { open: OpenNetworks | undefined; serveRounded: boolean } | undefined
  /** `local`: at /metrics, for clients on this machine. A place: there, for each client that reaches it. */
  metrics?: 'local' | { host: string; port: number } | undefined
}

/** What every request passes, on whichever port. */
type Frame = {
  log: Log
  nextId: () => string
  options: ServerOptions
  metrics: Metrics | undefined
  /** The shape of the errors of a path. */
  errorsOf: (path: string) => ErrorShape
}

const CLIENT_GONE = 499 // as nginx logs it: there was no client left to answer
const PROBES = new Set(['/healthz', '/readyz']) // asked every few seconds, by what keeps a record of its own
const SANE_ID = /^[\w.:/+=-]{1,128}$/

/** Listens; `url` is where. @throws AppError `failed` when an address cannot be had */
export async function startServer(
  deps: HttpDeps,
  options: ServerOptions,
): Promise<{ url: string; metricsUrl: string | undefined; close(): Promise<void> }> {
  await using parts = new AsyncDisposableStack()
  const { log } = deps
  const metering = options.metrics && (await import('./status/metrics.ts'))
  const { apis, ...looks } = apisOf(deps, options)
  const errorsOf = (path: string) => apiOf(apis, path).errors
  const metrics = metering?.createMetrics()
  const frame: Frame = { log, nextId: requestIds(), options, metrics, errorsOf }
  const connections = { log, limits: options.connections, isShared: isSharedBy(options.proxies) }
  const listen = async (app: H3, where: Place & { tls?: Tls | undefined }) => {
    const running = new Set<Promise<unknown>>()
    const handle = (req: IncomingMessage, res: ServerResponse) => {
      const work = answer(app, frame, req, res)
      if (!work) return
      const done = () => running.delete(work)
      running.add(work)
      work.then(done, done)
    }
    const listener = await listenOn({ ...where, connections, errorsOf }, handle, frame.nextId)
    parts.defer(async () => {
      await listener.close()
      await Promise.allSettled(running) // a client that went away does not take its upload's last steps with it
    })
    return listener.url
  }
  const app = createH3(frame)
  mountApis(app, apis)
  let metricsUrl: string | undefined
  if (metering && metrics) {
    const alone = options.metrics === 'local' ? undefined : options.metrics
    const shown = alone ? createH3(frame) : app
    const snapshot = metricsSnapshotOf({ ...deps, ...looks })
    mountApis(shown, [metering.metricsApi(metrics, snapshot, { localOnly: !alone })])
    if (alone) metricsUrl = `${await listen(shown, { ...alone, portFlag: '--metrics-port' })}/metrics`
  }
  const tls = options.tls && (await openTls(options.tls, log))
  const url = await listen(app, { ...options, tls })
  const open = parts.move()
  return { url, metricsUrl, close: () => open.disposeAsync() }
}

/** Ids for requests that bring none: when the server started, and a number. */
function requestIds(): () => string {
  const started = Date.now().toString(36)
  let requests = 0
  return () => {
    requests += 1
    return `${started}-${requests.toString(36)}`
  }
}

function createH3(frame: Frame): H3 {
  const { nextId, options } = frame
  const cors = options.corsOrigins && createCors(options.corsOrigins)
  return new H3({
    silent: true,
    allowMalformedURL: true, // a bad escape in a path is a 404 of ours, not a 400 of the framework's
    onRequest(event) {
      const sent = event.req.headers.get('x-request-id')
      event.context.requestId = sent && SANE_ID.test(sent) ? sent : nextId()
      if (cors) event.context.cors = cors(event.req.headers.get('origin'))
      noteWhenDone(event, frame)
    },
    onError: (error, event) => sendError(error, event, frame),
  })
}

/** Every API, in the order of the description, and what the metrics look at. */
function apisOf(
  deps: HttpDeps,
  options: ServerOptions,
): {
  apis: readonly Api[]
  uploads: Pick<Semaphore, 'status'>
  caches: () => Record<string, CacheState>
} {
  const reading = { ...deps, db: deps.reads }
  const rates = ratesApi(reading)
  const documents = documentsApi(deps)
  const described: Api[] = [statusApi(reading), rates.api, documents.api, descriptionApi(() => described)]
  const { compat, proxies } = options
  const apis = [...described, ...(compat ? compatApis({ ...reading, proxies, ...compat }) : [])]
  return { apis, uploads: documents.uploads, caches: rates.caches }
}

function sendError(error: HTTPError, event: H3Event, { log, errorsOf }: Frame): Response {
  let cause: unknown = error.unhandled ? error.cause : error
  if (HTTPError.isError(cause) && cause.status === 404) cause = new AppError('not-found', 'Not found')
  if (isOfDatabase(cause)) cause = storageError(cause)
  const { status, body, headers } = errorAnswer(cause, errorsOf(event.url.pathname))
  const { requestId, route } = event.context
  const about = { id: String(requestId), route: String(route ?? '-') }
  if (status === 500) {
    log.error('request failed', { ...about, cause: cause instanceof Error ? cause.stack : String(cause) })
  } else if (status >= 500) log.warn('request refused', { ...about, reason: reasonOf(cause) })
  return send(event, { status, body, headers })
}

/** Answers a request; a promise is for the end of the work on it. */
function answer(
  app: H3,
  { log, nextId, errorsOf, options }: Frame,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<unknown> | undefined {
  const failed = (error: unknown) => {
    const id = nextId()
    log.error('response failed', { id, reason: reasonOf(error) })
    if (res.headersSent) res.destroy()
    else res.writeHead(500, bareHeaders(id)).end(errorAnswer(undefined, errorsOf(pathOf(req.url ?? ''))).body)
  }
  if (options.compat) routeToShape(req)
  // Nothing from here on depends on the host, and one that is no host (`a:99999`) would make the URL unreadable.
  req.headers.host = 'localhost'
  drainAfter(req, res)
  try {
    const response = app.fetch(new NodeRequest({ req, res }))
    const finish = (one: Response) => (one === SENT ? undefined : sendNodeResponse(res, one))
    if (response instanceof Promise) {
      response.then(finish).catch(failed)
      return response
    }
    finish(response)?.catch(failed)
  } catch (error) {
    failed(error)
  }
}

/** Logs and counts the request when its answer is out, or its client gone. */
function noteWhenDone(event: H3Event, { log, metrics, options: { proxies } }: Frame): void {
  const { req, res } = nodeOf(event)
  const peer = peerOf(req) // a connection that is gone has none
  const started = performance.now()
  res.on('close', () => {
    const { requestId, route, key, token } = event.context
    const { method } = event.req
    const template = String(route ?? '-')
    const status = res.headersSent ? res.statusCode : CLIENT_GONE
    const ms = performance.now() - started
    metrics?.observe(method, template, status, ms / 1000)
    const level = PROBES.has(template) ? 'debug' : 'info'
    log[level]('request', {
      id: String(requestId),
      client: proxies ? clientOf(peer, req, proxies) : peer,
      key: key as string | undefined,
      token: (token as AuthorizedToken | undefined)?.name,
      method,
      route: template,
      status,
      cut: res.writableFinished ? undefined : true,
      ms: Math.round(ms * 10) / 10,
    })
  })
}
