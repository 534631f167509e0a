// An API is a value: whose paths are its own, how its clients say who they are, the shape of its errors, and what it
// answers. Everything that is the same for all endpoints happens here, in this order: preflight, credentials, method,
// parameters, handler.

import type { H3, H3Event } from 'h3'
import { AppError } from '../../errors.ts'
import { ANY_ORIGIN, preflightHeaders } from './cors.ts'
import { type AnyEndpoint, type Reply, refusesUnknown, type Tag } from './endpoint.ts'
import { type ErrorShape, invalidParameters, type ValidationItem } from './errors.ts'
import { checked, decoded, queryOf } from './params.ts'
import { send } from './send.ts'
import { addUnknown } from './unknown-parameters.ts'
import { KEY_NAMES } from './url-key.ts'

export type Api = {
  /** How the paths begin of which errors have its shape; the longest of all APIs that fits decides. */
  prefixes: readonly string[]
  errors: ErrorShape
  /** Under what its endpoints are described; without it under Operation. */
  tag?: Tag
  /** True: any origin is let in where the operator named none. False: none, whichever are let into the others. */
  isForWebsites?: boolean
  /** What each request for one of its paths passes first. @throws AppError for one that is refused */
  guard?(event: H3Event): void
  /** How a client says who it is; without it each endpoint must be open. */
  credentials?: Credentials
  /** What refusals mean that any of its endpoints may give, beside those of every API, by status. */
  refusals?: Readonly<Record<number, string>>
  endpoints: readonly AnyEndpoint[]
}

export type Credentials = {
  /** Notes in the event's context which client asks. @throws AppError for one that may not */
  check(event: H3Event, endpoint: AnyEndpoint): void | Promise<void>
  /** What OpenAPI calls it, its security scheme there, and what its refusals mean, by status. */
  name: string
  scheme: Readonly<Record<string, string>>
  refusals: Readonly<Record<number, string>>
}

type Methods = Map<string, { endpoint: AnyEndpoint; serve(event: H3Event): Response | Promise<Response> }>

export function mountApis(app: H3, apis: readonly Api[]): void {
  for (const api of apis) {
    const { credentials, endpoints } = api
    const closed = credentials ? undefined : endpoints.find(({ open }) => !open)
    if (closed) throw new TypeError(`${closed.path} is not open, and its API has no credentials`)
    for (const [path, here] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
      const methods: Methods = new Map(
        here.map((endpoint) => [endpoint.method, { endpoint, serve: handlerOf(endpoint, credentials) }]),
      )
      mountPath(app, path, methods, api)
    }
  }
}

/** The API that a path belongs to: for a path without an endpoint, the shape of its 404. */
export function apiOf(apis: readonly Api[], path: string): Api {
  let [found] = apis
  let longest = -1
  for (const api of apis) {
    for (const prefix of api.prefixes) {
      if (prefix.length <= longest || !isBelow(path, prefix)) continue
      found = api
      longest = prefix.length
    }
  }
  if (!found) throw new TypeError('there is no API')
  return found
}

/** Says whether a path has an endpoint that reads a key in its URL; all of them are read with GET. */
export function urlKeysOf(apis: readonly Api[]): (method: string, path: string) => boolean {
  const paths = apis.flatMap(({ endpoints }) =>
    endpoints.flatMap(({ takesUrlKeys, path }) => (takesUrlKeys ? [path] : [])),
  )
  const pattern = new RegExp(`^(?:${paths.map(patternOf).join('|')})$`)
  return (method, path) => ['GET', 'HEAD', 'OPTIONS'].includes(method) && pattern.test(path)
}

function patternOf(path: string): string {
  return RegExp.escape(path).replace(/\\\{\w+\\\}/g, '[^/]+')
}

/** Whether a path is that of a prefix, or begins with it and a slash. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (prefix.endsWith('/') || [undefined, '/'].includes(path[prefix.length]))
}

function mountPath(
  app: H3,
  path: string,
  methods: Methods,
  { credentials, isForWebsites, guard }: Api,
): void {
  const allowed = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const [first] = methods.values()
  app.all(path.replace(/\{(\w+)\}/g, ':$1'), (event) => {
    // The router takes a trailing slash for nothing; an unknown path is a 404 (decisions 1.4).
    if (path !== '/' && event.url.pathname.endsWith('/')) throw new AppError('not-found', 'Not found')
    event.context.route = path
    guard?.(event)
    // The one question that is answered before the key: a browser asks it without one (decisions 1.6).
    if (isForWebsites) event.context.cors ??= ANY_ORIGIN
    const asksFirst = event.req.method === 'OPTIONS' && isForWebsites !== false
    const preflight = asksFirst && preflightHeaders(event, allowed)
    if (preflight) return send(event, { status: 204, body: '', headers: preflight })
    const { method } = event.req
    const asked = methods.get(method === 'HEAD' ? 'GET' : method)
    const { endpoint } = asked ?? first ?? {}
    const serve = () => {
      if (isForWebsites === false) event.context.cors = undefined
      if (asked) return asked.serve(event)
      throw new AppError('method-not-allowed', 'Method not allowed', { details: allowed.join(', ') })
    }
    const checking = endpoint && !endpoint.open ? credentials?.check(event, endpoint) : undefined
    return checking ? checking.then(serve) : serve()
  })
}

function handlerOf(
  endpoint: AnyEndpoint,
  credentials: Credentials | undefined,
): (event: H3Event) => Response | Promise<Response> {
  const names = Object.keys(endpoint.query?.entries ?? {})
  const strict = refusesUnknown(endpoint)
  const readsOwn = endpoint.ignoresUnknown === true && !endpoint.query
  return (event) => {
    const known = endpoint.recall?.(event)
    if (known) return sendReply(event, known)
    const faults: ValidationItem[] = []
    const params = endpoint.params ? checked(endpoint.params, 'path', pathOf(event), faults) : {}
    const sent = readsOwn ? {} : queryOf(event.url.search, faults)
    if (endpoint.takesUrlKeys) for (const name of KEY_NAMES) delete sent[name]
    const query = endpoint.query ? checked(endpoint.query, 'query', sent, faults) : {}
    if (strict) addUnknown(sent, names, faults)
    if (faults.length > 0) throw invalidParameters(faults)
    const checkAgain = async () => credentials?.check(event, endpoint)
    return sendReply(event, endpoint.handle({ event, query, params, checkAgain }))
  }
}

function sendReply(event: H3Event, reply: Reply | Promise<Reply>): Response | Promise<Response> {
  return reply instanceof Promise ? reply.then((one) => send(event, one)) : send(event, reply)
}

/** The parameters in the path of a request. @throws AppError `not-found` for a bad escape */
export function pathOf(event: H3Event): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, raw] of Object.entries(event.context.params ?? {})) {
    const value = decoded(raw.replaceAll('+', '%2B'))
    if (value === undefined) throw new AppError('not-found', 'Not found')
    values[name] = value
  }
  return values
}
