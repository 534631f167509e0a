// The HTTP server: what is mounted, what every request passes, where errors end.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { H3, type H3Event, HTTPError } from 'h3'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { isOfDatabase, storageError } from '../storage-error.ts'
import { apiOf, mountApis, urlKeysOf } from './api/api.ts'
import { drainAfter } from './api/body.ts'
import { createCors } from './api/cors.ts'
import { type ErrorShape, errorAnswer } from './api/errors.ts'
import { credentialHint, nearestPath } from './api/hints.ts'
import { type Fetch, mountLate } from './api/late.ts'
import { SENT, send } from './api/send.ts'
import { type ApisOptions, apisOf, type HttpDeps } from './apis.ts'
import { routeToShape } from './compat/route.ts'
import { type ConnectionLimits, type Connections, limitConnections } from './listener/connections.ts'
import { createLingering } from './listener/lingering.ts'
import { bareHeaders, listenOn, type Place } from './listener/listen.ts'
import { isSharedBy } from './listener/proxy.ts'
import { pathOf } from './listener/request-line.ts'
import { openTls, type Tls, type TlsFiles } from './listener/tls.ts'
import { noteWhenDone } from './request-log.ts'
import type { Metrics } from './status/metrics.ts'
import { metricsSnapshotOf } from './status/metrics-snapshot.ts'

export type ServerOptions = ApisOptions & {
  host: string
  port: number
  /** Pairs of certificate and key; the first is for clients that name no host of the others. None: no TLS. */
  tls?: readonly TlsFiles[] | undefined
  /** Further addresses, where there are the shapes of other services and the probes, and nothing else. */
  also?: readonly AlsoListen[] | undefined
  connections?: ConnectionLimits | undefined
  /** Origins of websites that may read answers in a browser; `*` is any. */
  corsOrigins?: readonly string[] | undefined
  /** `local`: at /metrics, for clients on this machine. A place: there, for each client that reaches it. */
  metrics?: 'local' | { host: string; port: number } | undefined
}

export type AlsoListen = { scheme: 'http' | 'https'; host: string; port: number }

type Listening = Place & { tls?: Tls | undefined; connections?: Connections }

/** What every request passes, on whichever port. */
type Frame = {
  log: Log
  /** For 500s. */
  defects: Log
  nextId: () => string
  options: ServerOptions
  metrics: Metrics | undefined
  /** The shape of the errors of a path. */
  errorsOf: (path: string) => ErrorShape
  /** Every path of the APIs, for the hint of a 404. */
  paths: readonly string[]
  /** Whether a path has an endpoint that reads a key in its URL. */
  takesUrlKeys: (method: string, path: string) => boolean
}

const SANE_ID = /^[\w.:/+=-]{1,128}$/

/** Listens; `url` is where. @throws AppError `failed` when an address cannot be had */
export async function startServer(
  deps: HttpDeps,
  options: ServerOptions,
): Promise<{ url: string; alsoUrls: string[]; metricsUrl: string | undefined; close(): Promise<void> }> {
  await using parts = new AsyncDisposableStack()
  const { log } = deps
  const metering = options.metrics && (await import('./status/metrics.ts'))
  const { apis, probes, late, shapes, ...looks } = apisOf(deps, options)
  const errorsOf = (path: string) => apiOf(apis, path).errors
  const metrics = metering?.createMetrics()
  const paths = apis.flatMap(({ endpoints }) => endpoints.map(({ path }) => path))
  const frame: Frame = {
    ...{ log, defects: deps.defects, nextId: requestIds(), options, metrics, errorsOf, paths },
    takesUrlKeys: urlKeysOf(apis),
  }
  const limits = { log, limits: options.connections, isShared: isSharedBy(options.proxies) }
  const connections = limitConnections(limits)
  const lingering = createLingering()
  const listen = async (fetch: Fetch, where: Listening) => {
    const running = new Set<Promise<unknown>>()
    const handle = (req: IncomingMessage, res: ServerResponse) => {
      const work = answer(fetch, frame, req, res)
      if (!work) return
      const done = () => running.delete(work)
      running.add(work)
      work.then(done, done)
    }
    const listener = await listenOn({ connections, lingering, ...where, errorsOf }, handle, frame.nextId)
    parts.defer(async () => {
      await listener.close()
      await Promise.allSettled(running) // a client that went away does not take its upload's last steps with it
    })
    return listener.url
  }
  const app = createH3(frame)
  mountApis(app, apis)
  const fetch = mountLate(app, apis, late)
  let metricsUrl: string | undefined
  if (metering && metrics) {
    const alone = options.metrics === 'local' ? undefined : options.metrics
    const shown = alone ? createH3(frame) : app
    const snapshot = metricsSnapshotOf({ ...deps, ...looks })
    mountApis(shown, [metering.metricsApi(metrics, snapshot, { localOnly: !alone })])
    if (alone) {
      // Counted apart: a flood of connections to the other ports shall not hide the metrics.
      const where = { ...alone, portFlag: '--metrics-port', connections: limitConnections(limits) }
      metricsUrl = `${await listen(shown.fetch, where)}/metrics`
    }
  }
  const tls = options.tls?.length ? await openTls(options.tls, log, deps.clock) : undefined
  const url = await listen(fetch, { host: options.host, port: options.port, tls })
  const alsoUrls: string[] = []
  if (options.also?.length) {
    const others = createH3(frame)
    mountApis(others, [probes])
    const fetchOthers = mountLate(others, apis, shapes)
    for (const { scheme, ...place } of options.also) {
      const where = { ...place, portFlag: '--also-listen', tls: scheme === 'https' ? tls : undefined }
      alsoUrls.push(await listen(fetchOthers, where))
    }
  }
  parts.defer(() => deps.arrivals.close()) // before the listeners, which wait for the answers
  const open = parts.move()
  return { url, alsoUrls, metricsUrl, close: () => open.disposeAsync() }
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
  const noted = { ...frame, proxies: options.proxies }
  return new H3({
    silent: true,
    allowMalformedURL: true, // a bad escape in a path is a 404 of ours, not a 400 of the framework's
    onRequest(event) {
      const sent = event.req.headers.get('x-request-id')
      event.context.requestId = sent && SANE_ID.test(sent) ? sent : nextId()
      if (cors) event.context.cors = cors(event.req.headers.get('origin'))
      noteWhenDone(event, noted)
    },
    onError: (error, event) => sendError(error, event, frame),
  })
}

function sendError(error: HTTPError, event: H3Event, { log, defects, errorsOf, paths }: Frame): Response {
  let cause: unknown = error.unhandled ? error.cause : error
  if (HTTPError.isError(cause) && cause.status === 404) cause = new AppError('not-found', 'Not found')
  if (isOfDatabase(cause)) cause = storageError(cause)
  const errors = errorsOf(event.url.pathname)
  const { isDefect, ...reply } = errorAnswer(cause, errors, hintOf(cause, errors, event, paths))
  const { requestId, route } = event.context
  const about = { id: String(requestId), route: String(route ?? '-') }
  if (isDefect) {
    defects.error('request failed', { ...about, cause: cause instanceof Error ? cause.stack : String(cause) })
  } else if (reply.status >= 500 && !(cause instanceof AppError && cause.isLogged)) {
    log.warn('request refused', { ...about, reason: reasonOf(cause) })
  }
  return send(event, reply)
}

/** The nearest path of an unknown one, or the kind of credential that is needed. */
function hintOf(
  cause: unknown,
  { challenge }: ErrorShape,
  { req, url, context }: H3Event,
  paths: readonly string[],
): string | undefined {
  if (!(cause instanceof AppError)) return undefined
  if (cause.code === 'unauthorized')
    return credentialHint(req.headers, challenge === 'Bearer' ? 'token' : 'key')
  if (cause.code !== 'not-found' || context.route !== undefined) return undefined
  const path = nearestPath(url.pathname, paths)
  return path === undefined || path === url.pathname ? undefined : `did you mean ${path}?`
}

/** Answers a request; a promise is for the end of the work on it. */
function answer(
  fetch: Fetch,
  { defects, nextId, errorsOf, options, takesUrlKeys }: Frame,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<unknown> | undefined {
  const failed = (error: unknown) => {
    const id = nextId()
    defects.error('response failed', { id, reason: reasonOf(error) })
    if (res.headersSent) return res.destroy()
    const errors = errorsOf(pathOf(req.url ?? ''))
    res.writeHead(500, bareHeaders(id, errors.contentType)).end(errorAnswer(undefined, errors).body)
  }
  if (options.compat) routeToShape(req, takesUrlKeys)
  // Nothing from here on depends on the host, and one that is no host (`a:99999`) would make the URL unreadable.
  req.headers.host = 'localhost'
  drainAfter(req, res)
  try {
    const response = fetch(new NodeRequest({ req, res }), pathOf(req.url ?? ''))
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
