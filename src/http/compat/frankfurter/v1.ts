// Frankfurter v1: units of other currencies for an amount of a base, on one day or on each of a period. The un-versioned
// paths are those of exchangerate.host too, whose programs want to see `success`.

import * as v from 'valibot'
import { earliest, type IsoDate, isIsoDate, latest } from '../../../dates.ts'
import { boundedDecimal, ratio } from '../../../decimal.ts'
import {
  type Cross,
  crossesBetween,
  crossesOn,
  currenciesOf,
  type DayCross,
} from '../../../domain/rates/crosses.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../errors.ts'
import { rawNumber } from '../../../json/raw.ts'
import type { Side } from '../../../store/tables.ts'
import type { Api } from '../../api/api.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import type { ErrorShape } from '../../api/errors.ts'
import { codesIn, nameOfCurrency } from '../codes.ts'
import { type Asked, fewestDecimals, heldOf, PROVIDER, type ShapeDeps, shapeEndpoint } from '../shape.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const AMOUNT_DIGITS = { whole: 30, fraction: 20 }
const PERIOD = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)?$/
const ROOT = '/compat/frankfurter'

/** `quotes` empty: all. `to` is set for a period. */
type Query = { base: string; quotes: string[]; amount: string; side: Side; from: IsoDate; to?: IsoDate }

const ErrorOut = v.object({ message: v.string() })
const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  body: (_, message) => JSON.stringify({ message }),
  schema: ErrorOut,
  invalid: ErrorOut,
}

export function frankfurterV1Api(deps: ShapeDeps): Api {
  return { prefixes: [ROOT], errors: ERRORS, isForWebsites: true, endpoints: endpointsOf(deps) }
}

function endpointsOf(deps: ShapeDeps): AnyEndpoint[] {
  return [
    ...rates(deps, `${ROOT}/v1`, false),
    ...rates(deps, ROOT, true),
    shapeEndpoint(deps, {
      path: `${ROOT}/v1`,
      summary: 'Frankfurter v1: what it is',
      contentType: JSON_TYPE,
      ask: () => ({}),
      find: () => ({
        version: 'v1',
        status: 'frozen',
        paths: ['/v1/latest', '/v1/{date}', '/v1/currencies'],
      }),
      encode: (found) => JSON.stringify(found),
    }),
    ...[`${ROOT}/v1/currencies`, `${ROOT}/currencies`].map((path) =>
      shapeEndpoint(deps, {
        path,
        summary: 'Frankfurter v1: codes and names',
        contentType: JSON_TYPE,
        ask: () => ({}),
        find: (snapshot) => currenciesOf(snapshot, PROVIDER),
        encode: (codes) =>
          JSON.stringify(Object.fromEntries(codes.map((code) => [code, nameOfCurrency(code)]))),
      }),
    ),
  ]
}

function rates(deps: ShapeDeps, root: string, saysSuccess: boolean): AnyEndpoint[] {
  const head = saysSuccess ? { success: true } : {}
  const endpoint = (path: string, dayOf: (asked: Asked) => { from: IsoDate; to?: IsoDate }) =>
    shapeEndpoint(deps, {
      path: `${root}${path}`,
      summary: 'Frankfurter v1: rates of a day or a period',
      contentType: JSON_TYPE,
      ask: (asked): Query => ({ ...queryOf(asked), ...dayOf(asked) }),
      find: (snapshot, query) => find(deps, snapshot, query),
      encode: (found, query) => JSON.stringify({ ...head, ...answerOf(found, query) }),
      roundedTo: (found) => fewestDecimals(found),
    })
  return [
    endpoint('/latest', ({ today }) => ({ from: today })),
    endpoint('/current', ({ today }) => ({ from: today })),
    endpoint('/{day}', ({ params, today }) => daysIn(params.day ?? '', today)),
  ]
}

function queryOf({ query, side }: Asked): Omit<Query, 'from' | 'to'> {
  const sent = query.get('amount')
  const amount = sent === null ? '1' : (boundedDecimal(sent.trim(), AMOUNT_DIGITS) ?? '0')
  if (amount === '0' || amount.startsWith('-')) throw new AppError('invalid', 'invalid amount')
  const base = (query.get('from') || query.get('base') || 'EUR').trim().toUpperCase()
  const quotes = codesIn(query.get('to') || query.get('symbols'))
  if (quotes.length === 1 && quotes[0] === base) throw new AppError('invalid', 'bad currency pair')
  return { base, quotes, amount, side }
}

/** A day or a period in a path; what lies in the future is today. */
function daysIn(text: string, today: IsoDate): { from: IsoDate; to?: IsoDate } {
  const [, from, to = today] = PERIOD.exec(text) ?? []
  if (from === undefined) {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) throw new AppError('not-found', 'not found')
    return { from: earliest(dayIn(text), today) }
  }
  return { from: earliest(dayIn(from), today), to: earliest(dayIn(to), today) }
}

function dayIn(text: string): IsoDate {
  if (!isIsoDate(text)) throw new AppError('invalid', 'invalid date')
  return text
}

async function find(
  deps: ShapeDeps,
  snapshot: RateSnapshot,
  query: Query,
): Promise<readonly (Cross & { day?: IsoDate })[]> {
  const known = currenciesOf(snapshot, PROVIDER)
  for (const code of [query.base, ...query.quotes])
    if (!known.includes(code)) deps.missed.indicator('frankfurter', code)
  const wanted = query.quotes.length > 0 ? known.filter((code) => query.quotes.includes(code)) : known
  const quotes = wanted.filter((code) => code !== query.base)
  const asked = { provider: PROVIDER, base: query.base, quotes, side: query.side }
  const found =
    query.to === undefined
      ? await crossesOn(snapshot, { ...asked, day: query.from })
      : await crossesBetween(snapshot, { ...asked, from: query.from, to: query.to })
  const held = heldOf(deps, found)
  if (held.length === 0) throw new AppError('not-found', 'not found')
  return held
}

function answerOf(
  found: readonly (Cross & { day?: IsoDate })[],
  { base, amount, to }: Query,
): Record<string, unknown> {
  const head = { amount: rawNumber(amount.includes('.') ? amount : `${amount}.0`), base }
  const worth = ({ quote, rate }: Cross) => [
    quote,
    rawNumber(amount === '1' ? rate : ratio([amount, rate], ['1'])),
  ]
  if (to === undefined) {
    const date = found.reduce((last, { newest }) => latest(last, newest), '')
    return { ...head, date, rates: Object.fromEntries(found.map(worth)) }
  }
  const days = Map.groupBy(found as readonly DayCross[], ({ day }) => day)
  const [start_date, end_date] = [days.keys().next().value, [...days.keys()].at(-1)]
  const rates = Object.fromEntries(
    [...days].map(([day, crosses]) => [day, Object.fromEntries(crosses.map(worth))]),
  )
  return { ...head, start_date, end_date, rates }
}
