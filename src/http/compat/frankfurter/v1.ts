// Frankfurter v1: units of other currencies for an amount of a base, on one day or on each of a period. The un-versioned
// paths are those of exchangerate.host too, whose programs want to see `success`.

import * as v from 'valibot'
import { earliest, type IsoDate, isIsoDate, latest } from '../../../dates.ts'
import { positiveAmount, worthOf } from '../../../decimal.ts'
import { type Cross, crossesByDay, crossesOn, currenciesOf } from '../../../domain/rates/crosses.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { smallest } from '../../../domain/rates/rates.ts'
import { AppError } from '../../../errors.ts'
import type { Side } from '../../../store/tables.ts'
import type { Api } from '../../api/api.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import type { ErrorShape } from '../../api/errors.ts'
import { JSON_TYPE } from '../../api/forms.ts'
import { codesIn, nameOfCurrency } from '../codes.ts'
import { wholeQuotes } from '../missing-days.ts'
import { checkRows } from '../rows.ts'
import { type Asked, fewestDecimals, heldOf, PROVIDER, type ShapeDeps, shapeEndpoint } from '../shape.ts'
import { publishedOn } from './range.ts'

const PERIOD = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)?$/
const ROOT = '/compat/frankfurter'

/** An answer without its first brace, and to how many decimals it is rounded. */
type Found = { text: string; decimals: number | undefined; leftOut: readonly string[] }

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
  const head = saysSuccess ? '{"success":true,' : '{'
  const endpoint = (path: string, dayOf: (asked: Asked) => { from: IsoDate; to?: IsoDate }) =>
    shapeEndpoint(deps, {
      path: `${root}${path}`,
      summary: 'Frankfurter v1: rates of a day or a period',
      contentType: JSON_TYPE,
      ask: (asked): Query => ({ ...queryOf(asked), ...dayOf(asked) }),
      find: (snapshot, query) => find(deps, snapshot, query),
      encode: ({ text }) => head + text,
      roundedTo: ({ decimals }) => decimals,
      leftOut: ({ leftOut }) => leftOut,
    })
  return [
    endpoint('/latest', ({ today }) => ({ from: today })),
    endpoint('/current', ({ today }) => ({ from: today })),
    endpoint('/{day}', ({ params, today }) => daysIn(params.day ?? '', today)),
  ]
}

function queryOf({ query, side }: Asked): Omit<Query, 'from' | 'to'> {
  const sent = query.get('amount')
  const amount = sent === null ? '1' : positiveAmount(sent)
  if (amount === undefined) throw new AppError('invalid', 'invalid amount')
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

async function find(deps: ShapeDeps, snapshot: RateSnapshot, query: Query): Promise<Found> {
  const { base, side, amount, from, to } = query
  const known = currenciesOf(snapshot, PROVIDER)
  for (const code of [base, ...query.quotes]) {
    if (!known.includes(code)) deps.missed.indicator('frankfurter', code)
  }
  const wanted = query.quotes.length > 0 ? known.filter((code) => query.quotes.includes(code)) : known
  const others = wanted.filter((code) => code !== base)
  const asked = { provider: PROVIDER, base, side }
  const head = `"amount":${amount.includes('.') ? amount : `${amount}.0`},"base":${JSON.stringify(base)}`
  if (to === undefined) {
    const { crosses, holes } = await crossesOn(snapshot, { ...asked, quotes: others, day: from })
    const held = heldOf(deps, crosses)
    const date = held.reduce((last, { newest }) => latest(last, newest), '')
    if (held.length === 0) throw new AppError('not-found', 'not found')
    return {
      text: `${head},"date":"${date}","rates":${ratesText(held, amount)}}`,
      decimals: fewestDecimals(held),
      leftOut: [...holes.keys()],
    }
  }
  const range = { ...asked, quotes: others, from, to, onlyPublished: true }
  const areNamed = query.quotes.length > 0
  const { quotes, leftOut } = await wholeQuotes(deps, 'frankfurter', snapshot, { ...range, areNamed })
  const days: string[] = []
  let [rows, first, last, decimals] = [0, '', '', undefined as number | undefined]
  for await (const { day, crosses } of crossesByDay(snapshot, { ...asked, quotes, from, to })) {
    const held = heldOf(deps, publishedOn(day, crosses))
    if (held.length === 0) continue
    rows += held.length
    checkRows(rows)
    days.push(`"${day}":${ratesText(held, amount)}`)
    first ||= day
    last = day
    decimals = smallest(decimals, fewestDecimals(held))
  }
  if (days.length === 0) {
    await wholeQuotes(deps, 'frankfurter', snapshot, { ...range, areNamed: true }) // a 404 would hide what is left out
    throw new AppError('not-found', 'not found')
  }
  const text = `${head},"start_date":"${first}","end_date":"${last}","rates":{${days.join(',')}}}`
  return { text, decimals, leftOut }
}

/** An object of what the amount is worth in each currency. */
function ratesText(crosses: readonly Cross[], amount: string): string {
  const texts = crosses.map(({ quote, rate }) => `"${quote}":${worthOf(amount, rate)}`)
  return `{${texts.join(',')}}`
}
