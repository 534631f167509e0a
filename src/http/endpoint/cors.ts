// CORS: websites that may read answers in a browser. None, unless the operator names origins; never with cookies. The
// helpers of h3 are not used: they write to a Headers object that is merged into a Response. Here the fields are added
// to the plain object of `send`.

import type { H3Event } from 'h3'

/** Headers that a request's origin adds to its answer. */
type CorsFields = Readonly<Record<string, string>>

declare module 'h3' {
  interface H3EventContext {
    cors?: CorsFields | undefined
  }
}

const ANY = '*'
const MAY_SEND = [
  'X-API-Key',
  'apikey',
  'Authorization',
  'Content-Type',
  'If-None-Match',
  'If-Range',
  'Idempotency-Key',
  'X-Cambista-Priority',
  'X-Cambista-Duplicates',
  'Content-Digest',
  'Repr-Digest',
  'Range',
  'X-Request-Id',
]
const MAY_READ = [
  'ETag',
  'X-Request-Id',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
  'Content-Encoding',
  'Allow',
  'Retry-After',
  'X-Holes',
  'X-Left-Out',
  'X-Rounded-To',
  'X-Future',
  'X-Cambista-As-Of',
  'X-Ends-At',
]
const PREFLIGHT_MAX_AGE_S = 7200 // the maximum of Chrome

/** Returns the error of a list of origins; undefined: it is valid. */
export function originsFault(text: string): string | undefined {
  if (text === ANY) return undefined
  const wrong = parseOrigins(text).find((origin) => !isOrigin(origin))
  return wrong === undefined
    ? undefined
    : `must be origins as a browser sends them, such as https://erp.example.com, with commas between, or *: ${JSON.stringify(wrong)} is none`
}

/** Returns the origins of a valid list. */
export function parseOrigins(text: string): string[] {
  return text.split(',').map((one) => one.trim())
}

/** Headers of an answer that any website may read. */
export const ANY_ORIGIN: CorsFields = originFields(ANY)

/** Returns a function from the Origin of a request to the headers of its answer. */
export function createCors(origins: readonly string[]): (origin: string | null) => CorsFields {
  if (origins.includes(ANY)) return () => ANY_ORIGIN
  // Answers vary by origin, also those to requests without one: a cache must know.
  const others = { vary: 'Origin' }
  const fieldsByOrigin = new Map(origins.map((origin) => [origin, { ...others, ...originFields(origin) }]))
  return (origin) => (origin === null ? undefined : fieldsByOrigin.get(origin)) ?? others
}

function originFields(allowed: string): CorsFields {
  return {
    'access-control-allow-origin': allowed,
    'access-control-expose-headers': MAY_READ.join(', '),
  }
}

/** Adds the fields to the headers of an answer, which may vary by something else already. */
export function addCors(headers: Record<string, string>, fields: CorsFields): void {
  const { vary } = headers
  Object.assign(headers, fields)
  if (vary && fields.vary) headers.vary = `${vary}, ${fields.vary}`
}

/** Returns the headers for a CORS preflight; undefined: not a preflight, or a forbidden origin. */
export function preflightHeaders(
  event: H3Event,
  methods: readonly string[],
): Record<string, string> | undefined {
  const { headers } = event.req
  const isPreflight = headers.has('origin') && headers.has('access-control-request-method')
  if (!isPreflight || !event.context.cors?.['access-control-allow-origin']) return undefined
  return {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': MAY_SEND.join(', '),
    'access-control-max-age': String(PREFLIGHT_MAX_AGE_S),
  }
}

// An app in a web view has a custom scheme, such as capacitor://localhost.
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@,*]+$/.test(text) || !URL.canParse(text)) return false
  const { origin } = new URL(text)
  return origin === 'null' || origin === text
}
