// The HTTP server: what is mounted, what every request passes, where errors end.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BlockList } from 'node:net'
import { H3, type H3Event, HTTPError } from 'h3'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import type { Clock } from '../dates.ts'
import type { NightlyBackup } from '../domain/nightly-backup.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Blobs } from '../store/blobs.ts'
import type { RateBook } from '../store/rate-book.ts'
import { isOfDatabase, storageError } from '../store/storage-error.ts'
import type { Db } from '../store/tables.ts'
import type { Scheduler } from '../sync/scheduler.ts'
import type { Turns } from '../turns.ts'
import { mountAgents } from './agents.ts'
import { ANSWERED, createApi, nodeOf, respond } from './api.ts'
import type { Keyring } from './auth.ts'
import { drainAfter } from './body.ts'
import type { ConnectionLimits } from './connections.ts'
import { mountConvert } from './convert.ts'
import { createCors } from './cors.ts'
import { mountDocuments } from './documents.ts'
import { errorAnswer, familyOf } from './errors.ts'
import { keptReply } from './etag.ts'
import { mountHealth } from './health.ts'
import { bareHeaders, listenOn } from './listen.ts'
import type { Metrics } from './metrics.ts'
import { mountOpenapi } from './openapi.ts'
import { mountProviders } from './providers.ts'
import { clientOf, isSharedBy, peerOf } from './proxy.ts'
import { mountRates } from './rates.ts'
import { mountScheduler } from './scheduler.ts'
import { mountSeries } from './series.ts'
import { mountSyncRuns } from './sync-runs.ts'
import { openTls, type Tls, type TlsFiles } from './tls.ts'
import { mountUploads, type UploadLimits } from './uploads.ts'
import { vitalsOf } from './vitals.ts'

export type HttpDeps = {
  db: Db
  book: RateBook
  keyring: Keyring
  scheduler: Scheduler
  backups: NightlyBackup | undefined
  clock: Clock
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
  /** `local`: at /metrics, for who asks on this machine. A place: there, for everybody who gets to it. */
  metrics?: 'local' | { host: string; port: number } | undefined
}

/** What every request passes, on whichever port. */
type Frame = { log: Log; nextId: () => string; options: ServerOptions; metrics: Metrics | undefined }

const CLIENT_GONE = 499 // as nginx logs it: there was nobody left to answer
const SANE_ID = /^[\w.:/+=-]{1,128}$/

/** Listens; `url` is where. @throws AppError `failed` when an address cannot be had */
export async function startServer(
  deps: HttpDeps,
  options: ServerOptions,
): Promise<{ url: string; metricsUrl: string | undefined; close(): Promise<void> }> {
  await using parts = new AsyncDisposableStack()
  const { log } = deps
  const metering = options.metrics && (await import('./metrics.ts'))
  const frame: Frame = { log, nextId: requestIds(), options, metrics: metering?.createMetrics() }
  const connections = { log, limits: options.connections, isShared: isSharedBy(options.proxies) }
  const listen = async (app: H3, where: { host: string; port: number; tls?: Tls | undefined }) => {
    const running = new Set<Promise<unknown>>()
    const handle = (req: IncomingMessage, res: ServerResponse) => {
      const work = answer(app, frame, req, res)
      if (!work) return
      const done = () => running.delete(work)
      running.add(work)
      work.then(done, done)
    }
    const listener = await listenOn({ ...where, connections }, handle, frame.nextId)
    parts.defer(async () => {
      await listener.close()
      await Promise.allSettled(running) // a client that went away does not take its upload's last steps with it
    })
    return listener.url
  }
  const app = createH3(frame)
  const uploads = mountApi(app, deps)
  let metricsUrl: string | undefined
  if (frame.metrics) {
    const alone = options.metrics === 'local' ? undefined : options.metrics
    const shown = alone ? createH3(frame) : app
    metering?.mountMetrics(shown, frame.metrics, vitalsOf({ ...deps, uploads }), { localOnly: !alone })
    if (alone) metricsUrl = `${await listen(shown, alone)}/metrics`
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
  const { log, nextId, options } = frame
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
    onError: (error, event) => respondToError(error, event, log),
  })
}

/** Mounts every endpoint, and returns the turns of the uploads. */
function mountApi(app: H3, deps: HttpDeps): Pick<Turns, 'status'> {
  const { keyring, book, clock } = deps
  const check: Parameters<typeof createApi>[1] = (event, access, method) => {
    const { headers } = event.req
    if (access === 'key') keyring.checkKey(headers.get('x-api-key'))
    else event.context.bearer = keyring.checkToken(headers.get('authorization'), access, method)
  }
  const api = createApi(app, check, (event) => keptReply(event, book.page(), clock))
  mountHealth(api, deps)
  mountProviders(api, deps)
  mountSeries(api, deps)
  mountRates(api, deps)
  mountConvert(api, deps)
  mountSyncRuns(api, deps)
  mountScheduler(api, deps)
  const uploads = mountUploads(api, deps)
  mountDocuments(api, deps)
  mountAgents(api, deps)
  mountOpenapi(api)
  return uploads
}

function respondToError(error: HTTPError, event: H3Event, log: Log): Response {
  let cause: unknown = error.unhandled ? error.cause : error
  if (HTTPError.isError(cause) && cause.status === 404) cause = new AppError('not-found', 'Not found')
  if (isOfDatabase(cause)) cause = storageError(cause)
  const { status, body, headers } = errorAnswer(cause, familyOf(event.url.pathname))
  const { requestId, route } = event.context
  const about = { id: String(requestId), route: String(route ?? '-') }
  if (status === 500) {
    log.error('request failed', { ...about, cause: cause instanceof Error ? cause.stack : String(cause) })
  } else if (status >= 500) log.warn('request refused', { ...about, reason: reasonOf(cause) })
  return respond(event, { status, body, headers })
}

/** Answers a request; a promise is for the end of the work on it. */
function answer(
  app: H3,
  { log, nextId }: Frame,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<unknown> | undefined {
  const failed = (error: unknown) => {
    const id = nextId()
    log.error('response failed', { id, reason: reasonOf(error) })
    if (res.headersSent) res.destroy()
    else res.writeHead(500, bareHeaders(id)).end(errorAnswer(undefined, 'rates').body)
  }
  // Nothing here depends on the host, and one that is no host (`a:99999`) would make the URL unreadable.
  req.headers.host = 'localhost'
  drainAfter(req, res)
  try {
    const response = app.fetch(new NodeRequest({ req, res }))
    const send = (one: Response) => (one === ANSWERED ? undefined : sendNodeResponse(res, one))
    if (response instanceof Promise) {
      response.then(send).catch(failed)
      return response
    }
    send(response)?.catch(failed)
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
    const { requestId, route } = event.context
    const { method } = event.req
    const template = String(route ?? '-')
    const status = res.headersSent ? res.statusCode : CLIENT_GONE
    const ms = performance.now() - started
    metrics?.observe(method, template, status, ms / 1000)
    log.info('request', {
      id: String(requestId),
      client: proxies ? clientOf(peer, req, proxies) : peer,
      method,
      route: template,
      status,
      cut: res.writableFinished ? undefined : true,
      ms: Math.round(ms * 10) / 10,
    })
  })
}
