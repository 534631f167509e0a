// Which websites may read answers in a browser (CORS). None, unless the administrator names origins; never with
// cookies, for there are none. h3 has helpers for it, but they write to a Headers object that the framework then
// merges into its Response; here it is a few fields more in the plain object that respond() makes anyway.

import type { H3Event } from 'h3'

/** Headers that a request's origin adds to its answer. */
export type CorsFields = Readonly<Record<string, string>>

declare module 'h3' {
  interface H3EventContext {
    cors?: CorsFields | undefined
  }
}

const ANY = '*'
const MAY_SEND = [
  'X-API-Key',
  'Authorization',
  'Content-Type',
  'If-None-Match',
  'If-Range',
  'Idempotency-Key',
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
  'X-Future',
  'X-Ends-At',
]
const KEEP_PREFLIGHT_S = 7200 // the most that Chrome keeps it

/** What is wrong with a list of origins; undefined: nothing. */
export function originsFault(text: string): string | undefined {
  if (text === ANY) return undefined
  const wrong = originsIn(text).find((origin) => !isOrigin(origin))
  return wrong === undefined
    ? undefined
    : `must be origins as a browser sends them, such as https://erp.example.com, with commas between, or *: ${JSON.stringify(wrong)} is none`
}

/** The origins of such a list; it must have no fault. */
export function originsIn(text: string): string[] {
  return text.split(',').map((one) => one.trim())
}

/** What an answer says that any website may read. */
export const ANY_ORIGIN: CorsFields = fieldsOf(ANY)

/** What each answer says, by the Origin of its request. */
export function createCors(origins: readonly string[]): (origin: string | null) => CorsFields {
  if (origins.includes(ANY)) return () => ANY_ORIGIN
  // One answer differs from another by its origin, also where it names none: a cache must know.
  const others = { vary: 'Origin' }
  const known = new Map(origins.map((origin) => [origin, { ...others, ...fieldsOf(origin) }]))
  return (origin) => (origin === null ? undefined : known.get(origin)) ?? others
}

function fieldsOf(allowed: string): CorsFields {
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

/** What to tell a browser that asks whether it may send a request, if this is such a question and it may. */
export function preflightHeaders(
  event: H3Event,
  methods: readonly string[],
): Record<string, string> | undefined {
  const { headers } = event.req
  const asks = headers.has('origin') && headers.has('access-control-request-method')
  if (!asks || !event.context.cors?.['access-control-allow-origin']) return undefined
  return {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': MAY_SEND.join(', '),
    'access-control-max-age': String(KEEP_PREFLIGHT_S),
  }
}

// An app in a web view has an origin of a scheme of its own, such as capacitor://localhost.
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@,*]+$/.test(text) || !URL.canParse(text)) return false
  const { origin } = new URL(text)
  return origin === 'null' || origin === text
}
