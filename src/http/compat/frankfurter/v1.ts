// Frankfurter v1: units of other currencies for an amount of a base, on one day or each day of a period. The
// un-versioned paths of exchangerate.host are the same, and its programs read `success`.

import * as v from 'valibot'
import { type Cross, computeCrosses, crossesByDay, listCurrencies } from '../../../domain/rates/crosses.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { smallest } from '../../../domain/rates/rates.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { Side } from '../../../store/tables.ts'
import { earliest, type IsoDate, isIsoDate, latest } from '../../../values/dates.ts'
import { convertedAmount, positiveAmount } from '../../../values/decimal.ts'
import type { Api } from '../../endpoint/api.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import type { ErrorShape } from '../../endpoint/error-shape.ts'
import { currencyName, parseCodes } from '../codes.ts'
import { completeQuotes, computeSoundCrosses } from '../missing-days.ts'
import { checkRowCount } from '../rows.ts'
import {
  type CompatDeps,
  type CompatRequest,
  compatEndpoint,
  fewestDecimals,
  roundedReason,
  servedCrosses,
} from '../shape.ts'
import { filterPublished } from './range.ts'

const PERIOD = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)?$/
const ROOT = '/compat/frankfurter'

/** An answer without its first brace, and to how many decimals it is rounded. */
type AmountsAnswer = { text: string; decimals: number | undefined; leftOut: readonly string[] }

/** `quotes` empty: all. `to` is set for a period. */
type AmountsQuery = {
  base: string
  quotes: string[]
  amount: string
  side: Side
  provider: string
  from: IsoDate
  to?: IsoDate
}

const ErrorOut = v.object({ message: v.string() })
const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  body: (_, message) => JSON.stringify({ message }),
  schema: ErrorOut,
}

export function frankfurterV1Api(deps: CompatDeps): Api {
  return { prefixes: [ROOT], errors: ERRORS, isForWebsites: true, endpoints: endpoints(deps) }
}

function endpoints(deps: CompatDeps): AnyEndpoint[] {
  return [
    ...rates(deps, `${ROOT}/v1`, false),
    ...rates(deps, ROOT, true),
    compatEndpoint(deps, {
      path: `${ROOT}/v1`,
      find: () => ({
        version: 'v1',
        status: 'frozen',
        paths: ['/v1/latest', '/v1/{date}', '/v1/currencies'],
      }),
    }),
    ...([`${ROOT}/v1/currencies`, `${ROOT}/currencies`] as const).map((path) =>
      compatEndpoint(deps, {
        path,
        parse: ({ provider }) => ({ provider }),
        find: (snapshot, { provider }) => listCurrencies(snapshot, provider),
        encode: (codes) =>
          JSON.stringify(Object.fromEntries(codes.map((code) => [code, currencyName(code)]))),
      }),
    ),
  ]
}

function rates(
  deps: CompatDeps,
  root: typeof ROOT | `${typeof ROOT}/v1`,
  hasSuccess: boolean,
): AnyEndpoint[] {
  const head = hasSuccess ? '{"success":true,' : '{'
  const endpoint = (
    path: '/latest' | '/current' | '/{day}',
    requestDays: (request: CompatRequest) => { from: IsoDate; to?: IsoDate },
  ) =>
    compatEndpoint(deps, {
      path: `${root}${path}`,
      parse: (request): AmountsQuery => ({ ...parseAmountsQuery(request), ...requestDays(request) }),
      find: (snapshot, query) => find(deps, snapshot, query),
      encode: ({ text }) => head + text,
      roundedTo: ({ decimals }) => decimals,
      leftOut: ({ leftOut }) => leftOut,
    })
  return [
    endpoint('/latest', ({ today }) => ({ from: today })),
    endpoint('/current', ({ today }) => ({ from: today })),
    endpoint('/{day}', ({ params, today }) => parseDays(params.day ?? '', today)),
  ]
}

function parseAmountsQuery({ query, side, provider }: CompatRequest): Omit<AmountsQuery, 'from' | 'to'> {
  const amountText = query.get('amount')
  const amount = amountText === null ? '1' : positiveAmount(amountText)
  if (amount === undefined) throw new AppError('invalid', 'invalid amount')
  const base = (query.get('from') || query.get('base') || 'EUR').trim().toUpperCase()
  const quotes = parseCodes(query.get('to') || query.get('symbols'))
  if (quotes.length === 1 && quotes[0] === base) throw new AppError('invalid', 'bad currency pair')
  return { base, quotes, amount, side, provider }
}

/** Parses a day or a period in a path; future days become today. */
function parseDays(text: string, today: IsoDate): { from: IsoDate; to?: IsoDate } {
  const [, from, to = today] = PERIOD.exec(text) ?? []
  if (from === undefined) {
    if (!/^\d{4}-\d\d-\d\d$/.test(text)) throw new AppError('not-found', 'not found')
    return { from: earliest(parseDay(text), today) }
  }
  return { from: earliest(parseDay(from), today), to: earliest(parseDay(to), today) }
}

function parseDay(text: string): IsoDate {
  if (!isIsoDate(text)) throw new AppError('invalid', 'invalid date')
  return text
}

async function find(deps: CompatDeps, snapshot: RateSnapshot, query: AmountsQuery): Promise<AmountsAnswer> {
  const { provider, base, side, amount, from, to } = query
  const currencies = listCurrencies(snapshot, provider)
  for (const code of [base, ...query.quotes]) {
    if (!currencies.includes(code)) deps.unserved.indicator('frankfurter', code)
  }
  const codes =
    query.quotes.length > 0 ? currencies.filter((code) => query.quotes.includes(code)) : currencies
  const others = codes.filter((code) => code !== base)
  const selection = { provider, base, side }
  const head = `"amount":${amount.includes('.') ? amount : `${amount}.0`},"base":${JSON.stringify(base)}`
  if (to === undefined) {
    const day = { ...selection, quotes: others, day: from }
    const { crosses, holes } = await computeSoundCrosses(snapshot, day, query.quotes.length > 0)
    const answeredCrosses = servedCrosses(deps, crosses)
    const date = answeredCrosses.reduce((last, { newest }) => latest(last, newest), '')
    if (answeredCrosses.length === 0) throw new AppError('not-found', `not found${roundedReason(crosses)}`)
    return {
      text: `${head},"date":"${date}","rates":${ratesText(answeredCrosses, amount)}}`,
      decimals: fewestDecimals(answeredCrosses),
      leftOut: [...holes.keys()],
    }
  }
  // The colón has a value of every day. A range of others may begin with the last one before it.
  const hasGaps = from <= to && ![base, ...others].includes('CRC')
  const { crosses: before } = hasGaps
    ? await computeCrosses(snapshot, { ...selection, quotes: others, day: from, asPoint: true })
    : { crosses: [] }
  const onlyPublished = !hasGaps || filterPublished(from, before).length > 0
  const range = { ...selection, quotes: others, from, to, onlyPublished }
  const areNamed = query.quotes.length > 0
  const { quotes, leftOut } = await completeQuotes(deps, 'frankfurter', snapshot, { ...range, areNamed })
  const days: string[] = []
  let [rows, first, last, decimals] = [0, '', '', undefined as number | undefined]
  const addDay = (day: IsoDate, crosses: readonly Cross[]) => {
    const answeredCrosses = filterPublished(day, crosses)
    if (answeredCrosses.length === 0) return
    rows += answeredCrosses.length
    checkRowCount(rows)
    days.push(`"${day}":${ratesText(answeredCrosses, amount)}`)
    first ||= day
    last = day
    decimals = smallest(decimals, fewestDecimals(answeredCrosses))
  }
  const sound = servedCrosses(deps, before).filter(({ quote }) => quotes.includes(quote))
  const start = sound.reduce((day, { newest }) => latest(day, newest), '')
  if (start < from) addDay(start, sound)
  for await (const { day, crosses } of crossesByDay(snapshot, { ...selection, quotes, from, to }))
    addDay(day, crosses)
  if (days.length === 0) {
    await completeQuotes(deps, 'frankfurter', snapshot, { ...range, areNamed: true }) // a 404 would hide what is left out
    throw new AppError('not-found', 'not found')
  }
  const text = `${head},"start_date":"${first}","end_date":"${last}","rates":{${days.join(',')}}}`
  return { text, decimals, leftOut }
}

/** Encodes the value of the amount in each currency. */
function ratesText(crosses: readonly Cross[], amount: string): string {
  const texts = crosses.map(({ quote, rate }) => `"${quote}":${convertedAmount(amount, rate)}`)
  return `{${texts.join(',')}}`
}
