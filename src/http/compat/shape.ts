// What the shapes of other services have in common: who may ask, which side of the dollar, which rates are held, how an
// answer is kept. A shape itself is a list of endpoints, each of which reads a request, asks crosses.ts and encodes.

import type { H3Event } from 'h3'
import * as v from 'valibot'
import { type Clock, type IsoDate, todayIn } from '../../dates.ts'
import type { Cross } from '../../domain/rates/crosses.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Side } from '../../store/tables.ts'
import { type AnswerCache, type Made, REVALIDATED } from '../api/answer-cache.ts'
import { type Credentials, pathOf } from '../api/api.ts'
import { type AnyEndpoint, get } from '../api/endpoint.ts'
import type { Admission, Admitted } from './admission.ts'
import type { Missed } from './missed.ts'

export const PROVIDER = 'bccr'

export type ShapeDeps = {
  cache: RateCache
  answers: AnswerCache
  clock: Clock
  log: Log
  admission: Admission
  /** Where what is asked for and not held is noted. */
  missed: Missed
  /** When the bank is asked next; undefined: no scheduler asks it. */
  nextSync: () => Promise<Date | undefined>
  /** Whether rounded values are answered too, and say so. */
  serveRounded: boolean
}

/** A request as a shape reads it. */
export type Asked = {
  query: URLSearchParams
  params: Readonly<Record<string, string>>
  headers: Headers
  today: IsoDate
  /** That of `tipo`, else that of the key. */
  side: Side
}

export type ShapeEndpoint<A, T> = {
  path: string
  summary: string
  contentType: string | ((asked: A) => string)
  /** All that it may be, where it depends on what is asked. */
  contentTypes?: readonly string[]
  /** Whether no key is needed. */
  open?: boolean
  /** What is asked for: all that the answer depends on. @throws AppError in the words of the shape */
  ask(asked: Asked): A
  find(snapshot: RateSnapshot, asked: A): T | Promise<T>
  encode(found: T, asked: A): string | Uint8Array
  /** To how many decimals the answer is rounded, if it is. */
  roundedTo?(found: NoInfer<T>): number | undefined
  /** The codes of what is left out over days that were not synchronized, for the header X-Left-Out. */
  leftOut?(found: NoInfer<T>): readonly string[]
}

const VARY = 'Accept, Accept-Encoding, X-API-Key, apikey, Authorization'

/** An endpoint of a shape. Its answers are kept by what is asked, the side included. */
export function shapeEndpoint<A, T>(deps: ShapeDeps, endpoint: ShapeEndpoint<A, T>): AnyEndpoint {
  const { path, summary, contentType, open = false } = endpoint
  return get({
    path,
    summary,
    open,
    answer: v.any(),
    contentTypes: endpoint.contentTypes ?? (typeof contentType === 'string' ? [contentType] : []),
    ...REVALIDATED,
    ...(endpoint.leftOut && { sends: ['X-Left-Out'] as const }),
    ignoresUnknown: true,
    handle({ event }) {
      const { side } = (event.context.admitted as Admitted | undefined) ?? { side: 'venta' as const }
      return shapeReply(deps, endpoint, event, side)
    },
  })
}

/** The reply to a request that was let in, for the side of its key. */
export function shapeReply<A, T>(
  { cache, answers, clock, serveRounded }: Pick<ShapeDeps, 'cache' | 'answers' | 'clock' | 'serveRounded'>,
  { path, contentType, ask, find, encode, roundedTo, leftOut }: ShapeEndpoint<A, T>,
  event: H3Event,
  ofKey: Side,
  query = event.url.searchParams,
) {
  const params = pathOf(event)
  const side = sideOf(query, ofKey)
  const asked = ask({ query, params, headers: event.req.headers, today: todayIn(clock), side })
  const type = typeof contentType === 'string' ? contentType : contentType(asked)
  // In the ETag too: what a client holds from before a restart with another setting is another answer.
  const key = `${path} ${type} ${serveRounded ? 'rounded ' : ''}${JSON.stringify(asked)}`
  const made = (found: T): Made => {
    const decimals = roundedTo?.(found)
    const headers: Record<string, string> = { vary: VARY }
    if (decimals !== undefined) headers['x-rounded-to'] = String(decimals)
    const codes = leftOut?.(found) ?? []
    if (codes.length > 0) headers['x-left-out'] = codes.join(',')
    return { body: encode(found, asked), headers }
  }
  return cache.read((snapshot) => {
    const make = () => {
      const found = find(snapshot, asked)
      return found instanceof Promise ? found.then(made) : made(found)
    }
    return answers.reply(event, snapshot, { key, contentType: type, make })
  })
}

/** Lets in a client that has a key, or is in an open network. */
export function shapeCredentials(admission: Admission): Credentials {
  return {
    check(event) {
      const admitted = admission(event)
      const note = (one: Admitted) => {
        event.context.admitted = one
      }
      return admitted instanceof Promise ? admitted.then(note) : note(admitted)
    },
    ...{ name: 'anyKey', scheme: { type: 'apiKey', in: 'query', name: 'key' } },
    refusals: { 401: 'Missing or invalid key' },
  }
}

function sideOf(query: URLSearchParams, ofKey: Side): Side {
  const given = query.get('tipo')?.toLowerCase()
  if (given === undefined || given === '') return ofKey
  if (given === 'compra' || given === 'venta') return given
  throw new AppError('bad-request', 'tipo must be compra or venta')
}

/** The rates that may be answered. Those that are rounded are not held, unless the operator said so; they are noted. */
export function heldOf<C extends Cross>(
  { serveRounded, missed }: ShapeDeps,
  crosses: readonly C[],
): readonly C[] {
  if (serveRounded) return crosses
  const held = crosses.filter(({ exact }) => exact)
  if (held.length < crosses.length) missed.rounded(crosses.length - held.length)
  return held
}

/** The fewest decimals of rates that are not exact. */
export function fewestDecimals(crosses: readonly Pick<Cross, 'exact' | 'roundedTo'>[]): number | undefined {
  const decimals = crosses.flatMap(({ exact, roundedTo }) =>
    exact || roundedTo === undefined ? [] : [roundedTo],
  )
  return decimals.length > 0 ? Math.min(...decimals) : undefined
}
