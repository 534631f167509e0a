// An API is a value: path prefixes, credentials, error shape and endpoints. Steps that all endpoints share are here, in
// this order: preflight, credentials, method, parameters, handler.

import type { H3, H3Event } from 'h3'
import { AppError } from '../../runtime/errors.ts'
import type { Permission } from '../routes.ts'
import { send } from './answers/send.ts'
import { ANY_ORIGIN, preflightHeaders } from './cors.ts'
import { type AnyEndpoint, type Reply, refusesUnknown, type Tag } from './endpoint.ts'
import { type ErrorShape, invalidParameters, type ValidationItem } from './error-shape.ts'
import { parseQuery, percentDecode, validate } from './params.ts'
import { addUnknownParameters } from './unknown-parameters.ts'
import { KEY_NAMES } from './url-key.ts'

export type Api = {
  /** Prefixes of the paths whose errors have its shape; of several APIs the longest matching prefix decides. */
  prefixes: readonly string[]
  errors: ErrorShape
  /** OpenAPI tag of its endpoints; without it Server. */
  tag?: Tag
  /** CORS. True: any origin is allowed if the operator named none. False: no origin is ever allowed. */
  isForWebsites?: boolean
  /** True: a path with one more slash at its end is the same path. */
  takesSlash?: boolean
  /** Checks each request for one of its paths before all else. @throws AppError to reject it */
  guard?(event: H3Event): void
  /** Authentication of clients; without it the permission of each endpoint must be `open`. */
  credentials?: Credentials
  /** OpenAPI texts by status for errors of any of its endpoints, beside those of every API. */
  refusals?: Readonly<Record<number, string>>
  endpoints: readonly AnyEndpoint[]
}

export type Credentials = {
  /** Permissions that it can check. */
  permissions: readonly Permission[]
  /** Authenticates the client and notes it in the event's context. @throws AppError to reject it */
  check(event: H3Event, endpoint: AnyEndpoint): void | Promise<void>
  /** OpenAPI: name, security scheme, and texts of its errors by status. */
  name: string
  scheme: Readonly<Record<string, string>>
  refusals: Readonly<Record<number, string>>
}

type Methods = Map<string, { endpoint: AnyEndpoint; serve(event: H3Event): Response | Promise<Response> }>

export function mountApis(app: H3, apis: readonly Api[]): void {
  for (const api of apis) {
    const { credentials, endpoints } = api
    for (const { path, permission } of endpoints) {
      if (permission !== 'open' && !credentials?.permissions.includes(permission))
        throw new TypeError(`${path} has the permission ${permission}, which its API does not check`)
    }
    for (const [path, here] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
      const methods: Methods = new Map(
        here.map((endpoint) => [endpoint.method, { endpoint, serve: createHandler(endpoint, credentials) }]),
      )
      mountPath(app, path, methods, api)
    }
  }
}

/** Returns the API of a path; for a path without an endpoint it decides the shape of the 404. */
export function selectApi(apis: readonly Api[], path: string): Api {
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

/** Returns a test for requests whose endpoint takes a key in the URL; all of these are GET. */
export function urlKeyMatcher(apis: readonly Api[]): (method: string, path: string) => boolean {
  const paths = apis.flatMap(({ endpoints }) =>
    endpoints.flatMap(({ permission, path }) => (permission === 'url-key' ? [path] : [])),
  )
  const pattern = new RegExp(`^(?:${paths.map(pathPattern).join('|')})$`)
  return (method, path) => ['GET', 'HEAD', 'OPTIONS'].includes(method) && pattern.test(path)
}

function pathPattern(path: string): string {
  return RegExp.escape(path).replace(/\\\{\w+\\\}/g, '[^/]+')
}

/** Returns true if a path is the prefix, or begins with the prefix and a slash. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (prefix.endsWith('/') || [undefined, '/'].includes(path[prefix.length]))
}

function mountPath(
  app: H3,
  path: string,
  methods: Methods,
  { credentials, isForWebsites, takesSlash, guard }: Api,
): void {
  const allowed = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const [first] = methods.values()
  app.all(path.replace(/\{(\w+)\}/g, ':$1'), (event) => {
    // The router ignores a trailing slash; here such a path is a 404 (decisions#paths).
    const { pathname } = event.url
    if (path !== '/' && pathname.endsWith('/') && !(takesSlash && pathname === `${path}/`))
      throw new AppError('not-found', 'Not found')
    event.context.route = path
    guard?.(event)
    // A preflight is answered before authentication: browsers send it without a key (decisions#key-first).
    if (isForWebsites) event.context.cors ??= ANY_ORIGIN
    const isPreflight = event.req.method === 'OPTIONS' && isForWebsites !== false
    const preflight = isPreflight && preflightHeaders(event, allowed)
    if (preflight) return send(event, { status: 204, body: '', headers: preflight })
    const { method } = event.req
    const match = methods.get(method === 'HEAD' ? 'GET' : method)
    const { endpoint } = match ?? first ?? {}
    event.context.summary = endpoint?.summary
    const serve = () => {
      if (isForWebsites === false) event.context.cors = undefined
      if (match) return match.serve(event)
      throw new AppError('method-not-allowed', 'Method not allowed', { details: allowed.join(', ') })
    }
    const checking =
      endpoint && endpoint.permission !== 'open' ? credentials?.check(event, endpoint) : undefined
    return checking ? checking.then(serve) : serve()
  })
}

function createHandler(
  endpoint: AnyEndpoint,
  credentials: Credentials | undefined,
): (event: H3Event) => Response | Promise<Response> {
  const names = Object.keys(endpoint.query?.entries ?? {})
  const strict = refusesUnknown(endpoint)
  const readsOwn = endpoint.ignoresUnknown === true && !endpoint.query
  return (event) => {
    const faults: ValidationItem[] = []
    const params = endpoint.params ? validate(endpoint.params, 'path', pathParameters(event), faults) : {}
    const values = readsOwn ? {} : parseQuery(event.url.search, faults)
    if (endpoint.permission === 'url-key') for (const name of KEY_NAMES) delete values[name]
    const query = endpoint.query ? validate(endpoint.query, 'query', values, faults) : {}
    if (strict) addUnknownParameters(values, names, faults)
    if (faults.length > 0) throw invalidParameters(faults)
    const checkAgain = async () => credentials?.check(event, endpoint)
    return sendReply(event, endpoint.handle({ event, query, params, checkAgain }))
  }
}

function sendReply(event: H3Event, reply: Reply | Promise<Reply>): Response | Promise<Response> {
  return reply instanceof Promise ? reply.then((one) => send(event, one)) : send(event, reply)
}

/** Returns the parameters in the path of a request. @throws AppError `not-found` for a bad escape */
export function pathParameters(event: H3Event): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, raw] of Object.entries(event.context.params ?? {})) {
    const value = percentDecode(raw.replaceAll('+', '%2B'))
    if (value === undefined) throw new AppError('not-found', 'Not found')
    values[name] = value
  }
  return values
}
