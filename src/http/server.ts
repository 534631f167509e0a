// The HTTP server: mounts the APIs, prepares each request, and answers errors.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { H3, type H3Event, HTTPError } from 'h3'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { AppError, errorReason } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'
import { isDatabaseError, storageError } from '../runtime/storage-error.ts'
import { type ApisOptions, createApis, type ServerParts } from './apis.ts'
import { rewritePath } from './compat/route.ts'
import { nodeContext, SENT, send } from './endpoint/answers/send.ts'
import { mountApis, selectApi, urlKeyMatcher } from './endpoint/api.ts'
import { drainBody } from './endpoint/body.ts'
import { createCors } from './endpoint/cors.ts'
import { type ErrorShape, errorAnswer } from './endpoint/error-shape.ts'
import { createPathSearch, credentialHint, type PathSearch } from './endpoint/hints.ts'
import { type Fetch, mountLazy } from './endpoint/lazy-apis.ts'
import { type PlacedKey, wrongKey } from './endpoint/url-key.ts'
import { type ConnectionLimits, type Connections, limitConnections } from './listener/connections.ts'
import { createLingering } from './listener/lingering.ts'
import { bareHeaders, type ListenAddress, openListener } from './listener/listen.ts'
import { sharedAddressTest } from './listener/proxy.ts'
import { hasDotSegments, targetPath } from './listener/request-line.ts'
import { createSilentProxyWarning } from './listener/silent-proxy.ts'
import { openTls, type Tls, type TlsFiles } from './listener/tls.ts'
import { type AnswerAgain, createRepeats } from './repeats.ts'
import { createRequestStart, type StartRequest } from './request-log.ts'
import { notFoundPage } from './web/not-found.ts'

export type ServerOptions = ApisOptions & {
  host: string
  port: number
  /** Pairs of certificate and key; the first is the default. None: no TLS. */
  tls?: readonly TlsFiles[] | undefined
  /** Further addresses, with compat APIs and health probes alone. */
  also?: readonly AlsoListen[] | undefined
  connections?: ConnectionLimits | undefined
  /** Origins of websites that may read answers in a browser; `*` is any. */
  corsOrigins?: readonly string[] | undefined
  /** `local`: /metrics for clients on this machine. An address: a listener of its own, for every client. */
  metrics?: 'local' | { host: string; port: number } | undefined
}

export type AlsoListen = { scheme: 'http' | 'https'; host: string; port: number }

type Listening = ListenAddress & { tls?: Tls | undefined; connections?: Connections }

/** Context of requests on every port. */
type Frame = {
  log: Log
  /** Log of 500s. */
  defects: Log
  nextId: () => string
  startRequest: StartRequest
  options: ServerOptions
  /** Returns the error shape of a path. */
  selectErrorShape: (path: string) => ErrorShape
  /** Paths of the APIs, for the hint of a 404. */
  nearestPath: PathSearch
  /** Returns true if the endpoint of a path accepts a key in the URL. */
  takesUrlKeys: (method: string, path: string) => boolean
}

const NO_ENDPOINT = '/k'

/** Starts the server and returns its URLs. @throws AppError `failed` when an address is not available */
export async function startServer(
  serverParts: ServerParts,
  options: ServerOptions,
): Promise<{ url: string; alsoUrls: string[]; metricsUrl: string | undefined; close(): Promise<void> }> {
  await using parts = new AsyncDisposableStack()
  const { log, defects, keyring, database } = serverParts
  const { cache } = serverParts.rates
  const { waiters, clock } = serverParts.documents.claiming
  const { proxies } = options
  const metering = options.metrics && (await import('./status/metrics.ts'))
  const metrics = metering?.createMetrics()
  const nextId = requestIds()
  const warnOfSilentProxy = createSilentProxyWarning(log, clock)
  const startRequest = createRequestStart({ log, metrics, proxies, keyring, nextId, warnOfSilentProxy })
  const repeats = createRepeats({ cache, database, keyring, clock, startRequest })
  const { apis, probes, late, shapes, readMetrics } = createApis(serverParts, options, repeats.state)
  const selectErrorShape = (path: string) => selectApi(apis, path).errors
  const nearestPath = createPathSearch(apis.flatMap(({ endpoints }) => endpoints.map(({ path }) => path)))
  const frame: Frame = {
    ...{ log, defects, nextId, startRequest, options, selectErrorShape, nearestPath },
    takesUrlKeys: urlKeyMatcher(apis),
  }
  const limits = { log, limits: options.connections, isShared: sharedAddressTest(options.proxies) }
  const connections = limitConnections(limits)
  const lingering = createLingering()
  const listen = async (fetch: Fetch, where: Listening, answerAgain?: AnswerAgain) => {
    const running = new Set<Promise<unknown>>()
    const handle = (req: IncomingMessage, res: ServerResponse) => {
      const work = answer({ fetch, answerAgain }, frame, req, res)
      if (!work) return
      const remove = () => running.delete(work)
      running.add(work)
      work.then(remove, remove)
    }
    const listener = await openListener(
      { connections, lingering, ...where, selectErrorShape },
      handle,
      frame.nextId,
    )
    parts.defer(async () => {
      await listener.close()
      await Promise.allSettled(running) // uploads are completed, also if the client has disconnected
    })
    return listener.url
  }
  const app = createH3(frame)
  mountApis(app, apis)
  const fetch = mountLazy(app, apis, late)
  let metricsUrl: string | undefined
  if (metering && metrics) {
    const ownAddress = options.metrics === 'local' ? undefined : options.metrics
    const metricsApp = ownAddress ? createH3(frame) : app
    mountApis(metricsApp, [metering.metricsApi(metrics, readMetrics, { localOnly: !ownAddress })])
    if (ownAddress) {
      // Has its own limit of connections, so that a flood on other ports does not block the metrics.
      const where = { ...ownAddress, portFlag: '--metrics-port', connections: limitConnections(limits) }
      metricsUrl = `${await listen(metricsApp.fetch, where)}/metrics`
    }
  }
  const tls = options.tls?.length ? await openTls(options.tls, log, clock) : undefined
  const url = await listen(fetch, { host: options.host, port: options.port, tls }, repeats.open())
  const alsoUrls: string[] = []
  if (options.also?.length) {
    const others = createH3(frame)
    mountApis(others, [probes])
    const fetchOthers = mountLazy(others, apis, shapes)
    for (const { scheme, ...address } of options.also) {
      const where = { ...address, portFlag: '--also-listen', tls: scheme === 'https' ? tls : undefined }
      alsoUrls.push(await listen(fetchOthers, where, repeats.open()))
    }
  }
  parts.defer(() => waiters.close()) // before the listeners, which wait for open answers
  const open = parts.move()
  return { url, alsoUrls, metricsUrl, close: () => open.disposeAsync() }
}

/** Ids for requests without one: start of the server, and a number. */
function requestIds(): () => string {
  const started = Date.now().toString(36)
  let requests = 0
  return () => {
    requests += 1
    return `${started}-${requests.toString(36)}`
  }
}

function createH3(frame: Frame): H3 {
  const { corsOrigins } = frame.options
  const cors = corsOrigins && createCors(corsOrigins)
  return new H3({
    silent: true,
    allowMalformedURL: true, // a bad escape in a path is our 404, not a 400 of the framework
    onRequest(event) {
      const { req, res } = nodeContext(event)
      frame.startRequest(req, res, event.context)
      if (cors) event.context.cors = cors(event.req.headers.get('origin'))
    },
    onError: (error, event) => sendError(error, event, frame),
  })
}

function sendError(
  error: HTTPError,
  event: H3Event,
  { log, defects, selectErrorShape, nearestPath }: Frame,
): Response {
  let cause: unknown = error.unhandled ? error.cause : error
  if (HTTPError.isError(cause) && cause.status === 404) cause = new AppError('not-found', 'Not found')
  if (isDatabaseError(cause)) cause = storageError(cause, operationName(event))
  const page = cause instanceof AppError && cause.code === 'not-found' && notFoundPage(event)
  if (page) return send(event, { ...page, body: String(page.body) })
  const errors = selectErrorShape(event.url.pathname)
  const { isDefect, ...reply } = errorAnswer(cause, errors, errorHint(cause, errors, event, nearestPath))
  const { requestId, route } = event.context
  const about = { id: String(requestId), route: String(route ?? '-') }
  if (isDefect) {
    defects.error('request failed', {
      ...about,
      cause: cause instanceof Error ? cause.stack : String(cause),
    })
  } else if (reply.status >= 500 && !(cause instanceof AppError && cause.isLogged)) {
    log.warn('request refused', { ...about, reason: errorReason(cause) })
  }
  return send(event, reply)
}

/** Returns the purpose of a request that writes, such as `claim documents`. */
function operationName({ req: { method }, context }: H3Event): string {
  const summary = method === 'GET' || method === 'HEAD' ? 'Answer' : String(context.summary)
  return summary.charAt(0).toLowerCase() + summary.slice(1)
}

/** Returns the nearest path for an unknown one, or the required kind of credential. */
function errorHint(
  cause: unknown,
  { challenge }: ErrorShape,
  { req, url, context }: H3Event,
  nearestPath: PathSearch,
): string | undefined {
  if (!(cause instanceof AppError)) return undefined
  if (cause.code === 'unauthorized') {
    const rejectedKey = context.rejectedKey as PlacedKey | undefined
    if (rejectedKey) return wrongKey(rejectedKey)
    return credentialHint(req.headers, challenge === 'Bearer' ? 'token' : 'key')
  }
  if (cause.code !== 'not-found' || context.route !== undefined) return undefined
  const path = nearestPath(url.pathname)
  return path === undefined || path === url.pathname ? undefined : `did you mean ${path}?`
}

/** Answers a request. A promise is for the end of its work. */
function answer(
  { fetch, answerAgain }: { fetch: Fetch; answerAgain: AnswerAgain | undefined },
  { defects, nextId, selectErrorShape, options, takesUrlKeys }: Frame,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<unknown> | undefined {
  const handleFailure = (error: unknown) => {
    const id = nextId()
    defects.error('response failed', { id, reason: errorReason(error) })
    if (res.headersSent) return res.destroy()
    const errors = selectErrorShape(targetPath(req.url ?? ''))
    res.writeHead(500, bareHeaders(id, errors.contentType)).end(errorAnswer(undefined, errors).body)
  }
  try {
    if (answerAgain?.(req, res)) return
    if (hasDotSegments(req.url ?? '')) req.url = NO_ENDPOINT
    if (options.compat) rewritePath(req, takesUrlKeys)
    // Nothing below depends on the host, and an invalid one (`a:99999`) would make the URL invalid.
    req.headers.host = 'localhost'
    drainBody(req, res)
    const response = fetch(new NodeRequest({ req, res }), targetPath(req.url ?? ''))
    const finish = (one: Response) => (one === SENT ? undefined : sendNodeResponse(res, one))
    if (response instanceof Promise) {
      response.then(finish).catch(handleFailure)
      return response
    }
    finish(response)?.catch(handleFailure)
  } catch (error) {
    handleFailure(error)
  }
}
