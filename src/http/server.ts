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
import type { Db } from '../store/tables.ts'
import type { Scheduler } from '../sync/scheduler.ts'
import { mountAgents } from './agents.ts'
import { createApi, nodeOf, respond } from './api.ts'
import type { Keyring } from './auth.ts'
import { drainAfter } from './body.ts'
import { mountConvert } from './convert.ts'
import { createCors } from './cors.ts'
import { mountDocuments } from './documents.ts'
import { errorAnswer, familyOf } from './errors.ts'
import { mountHealth } from './health.ts'
import { bareHeaders, listenOn } from './listen.ts'
import { mountOpenapi } from './openapi.ts'
import { mountProviders } from './providers.ts'
import { clientOf, peerOf } from './proxy.ts'
import { mountRates } from './rates.ts'
import { mountScheduler } from './scheduler.ts'
import { mountSeries } from './series.ts'
import { mountSyncRuns } from './sync-runs.ts'
import { openTls, type TlsFiles } from './tls.ts'
import { mountUploads, type UploadLimits } from './uploads.ts'

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
  /** Origins of websites that may read answers in a browser; `*` is any. */
  corsOrigins?: readonly string[] | undefined
}

const CLIENT_GONE = 499 // as nginx logs it: there was nobody left to answer
const SANE_ID = /^[\w.:/+=-]{1,128}$/

/** Listens; `url` is where. @throws AppError `failed` when the address cannot be had */
export async function startServer(
  deps: HttpDeps,
  options: ServerOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const nextId = requestIds()
  const app = createH3(deps, options, nextId)
  const tls = options.tls && (await openTls(options.tls, deps.log))
  const running = new Set<Promise<unknown>>()
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    const work = answer(app, deps.log, nextId, req, res)
    if (!work) return
    const done = () => running.delete(work)
    running.add(work)
    work.then(done, done)
  }
  const { url, close } = await listenOn({ ...options, tls }, handle, nextId)
  const closeAll = async () => {
    await close()
    await Promise.allSettled(running) // a client that went away does not take its upload's last steps with it
  }
  return { url, close: closeAll }
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

function createH3(deps: HttpDeps, options: ServerOptions, nextId: () => string): H3 {
  const { log, keyring } = deps
  const cors = options.corsOrigins && createCors(options.corsOrigins)
  const app = new H3({
    silent: true,
    allowMalformedURL: true, // a bad escape in a path is a 404 of ours, not a 400 of the framework's
    onRequest(event) {
      const sent = event.req.headers.get('x-request-id')
      event.context.requestId = sent && SANE_ID.test(sent) ? sent : nextId()
      if (cors) event.context.cors = cors(event.req.headers.get('origin'))
      logWhenDone(event, log, options.proxies)
    },
    onError: (error, event) => respondToError(error, event, log),
  })
  const api = createApi(app, (event, access, method) => {
    const { headers } = event.req
    if (access === 'key') keyring.checkKey(headers.get('x-api-key'))
    else event.context.tokenId = keyring.checkToken(headers.get('authorization'), access, method)
  })
  mountHealth(api, deps)
  mountProviders(api, deps)
  mountSeries(api, deps)
  mountRates(api, deps)
  mountConvert(api, deps)
  mountSyncRuns(api, deps)
  mountScheduler(api, deps)
  mountUploads(api, deps)
  mountDocuments(api, deps)
  mountAgents(api, deps)
  mountOpenapi(api)
  return app
}

function respondToError(error: HTTPError, event: H3Event, log: Log): Response {
  let cause: unknown = error.unhandled ? error.cause : error
  if (HTTPError.isError(cause) && cause.status === 404) cause = new AppError('not-found', 'Not found')
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
  log: Log,
  nextId: () => string,
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
    if (!(response instanceof Promise)) sendNodeResponse(res, response).catch(failed)
    else {
      response.then((one) => sendNodeResponse(res, one)).catch(failed)
      return response
    }
  } catch (error) {
    failed(error)
  }
}

function logWhenDone(event: H3Event, log: Log, proxies: BlockList | undefined): void {
  const { req, res } = nodeOf(event)
  const peer = peerOf(req) // a connection that is gone has none
  const started = performance.now()
  res.once('close', () => {
    const { requestId, route } = event.context
    log.info('request', {
      id: String(requestId),
      client: proxies ? clientOf(peer, req, proxies) : peer,
      method: event.req.method,
      route: String(route ?? '-'),
      status: res.headersSent ? res.statusCode : CLIENT_GONE,
      cut: res.writableFinished ? undefined : true,
      ms: Math.round((performance.now() - started) * 10) / 10,
    })
  })
}
