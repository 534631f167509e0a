// A value as plain text for a cell of a spreadsheet, where WEBSERVICE() fetches an address. People type this address
// into cells that live for years. So it is stricter than the other compat APIs: an unknown name
// and a day without a rate are errors (decisions#unknown-names and #day).

import type { H3Event } from 'h3'
import * as v from 'valibot'
import { type Cross, computeCrosses, firstStoredDay, listCurrencies } from '../../domain/rates/crosses.ts'
import { dayHoleError, otherRoutes } from '../../domain/rates/queries.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Side } from '../../store/tables.ts'
import { addDays, currentDay, type IsoDate, latest } from '../../values/dates.ts'
import { applyRounding, product, type RoundingRule } from '../../values/decimal.ts'
import { REVALIDATED } from '../endpoint/answers/answer-cache.ts'
import type { Api } from '../endpoint/api.ts'
import { get, type Reply } from '../endpoint/endpoint.ts'
import { type ErrorShape, invalidParameters, type ValidationItem } from '../endpoint/error-shape.ts'
import {
  AmountParam,
  CurrencyParam,
  DecimalsParam,
  dateParam,
  ProviderParam,
  parseQuery,
  RoundingParam,
  roundingRule,
  validate,
} from '../endpoint/params.ts'
import { nearestName } from '../endpoint/unknown-parameters.ts'
import { KEY_NAMES } from '../endpoint/url-key.ts'
import type { AdmittedClient } from './admission.ts'
import {
  admittedClient,
  type CompatDeps,
  compatReply,
  fewestDecimals,
  roundedReason,
  servedCrosses,
} from './shape.ts'

const PATH = '/compat/valor'
const TYPE = 'text/plain; charset=utf-8'
const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  contentType: TYPE,
  body: (_, message) => message,
  schema: v.string(),
}

const Query = v.object({
  de: v.optional(CurrencyParam, 'USD'),
  a: v.optional(CurrencyParam, 'CRC'),
  fecha: v.optional(dateParam('A day')),
  monto: v.optional(AmountParam, '1'),
  tipo: v.optional(
    v.pipe(v.string(), v.toLowerCase(), v.picklist(['compra', 'venta'], 'must be compra or venta')),
  ),
  decimal: v.optional(v.picklist(['.', ','], 'must be . or ,'), '.'),
  decimals: v.optional(DecimalsParam),
  rounding: v.optional(RoundingParam),
  provider: v.optional(ProviderParam),
})
const NAMES = Object.keys(Query.entries)

/** Names of other APIs and languages. An error suggests the right name; the wrong one is never accepted. */
const SYNONYMS: ReadonlyMap<string, string | undefined> = new Map<string, string | undefined>([
  ...['from', 'base', 'moneda', 'divisa', 'currency'].map((name) => [name, 'de'] as const),
  ...['to', 'quote', 'en'].map((name) => [name, 'a'] as const),
  ...['date', 'dia', 'día', 'day', 'on', 'fch'].map((name) => [name, 'fecha'] as const),
  ...['amount', 'amt', 'cantidad'].map((name) => [name, 'monto'] as const),
  ...['type', 'side'].map((name) => [name, 'tipo'] as const),
  ['sep', 'decimal'],
  ...['precision', 'decimales'].map((name) => [name, 'decimals'] as const),
  ['redondeo', 'rounding'],
])
/** A longer name or other signs may contain a part of a key, after a missing &. */
const SAFE_NAME = /^\p{L}{1,20}$/u
/** Digits in groups of three, as Costa Rica writes them with a decimal comma: 1.500 is fifteen hundred. */
const GROUPED = /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/

type ValorQuery = {
  provider: string
  base: string
  quote: string
  day: IsoDate
  side: Side
  amount: string
  decimal: string
  rounding: RoundingRule | undefined
}

export function valorApi(deps: CompatDeps): Api {
  const endpoint = get({
    path: PATH,
    answer: v.any(),
    contentTypes: [TYPE],
    ...REVALIDATED,
    sends: ['X-Rounded-To'],
    ignoresUnknown: true, // the handler parses the parameters
    handle: ({ event }) => valorReply(deps, event),
  })
  return { prefixes: [PATH], errors: ERRORS, endpoints: [endpoint] }
}

function valorReply(deps: CompatDeps, event: H3Event): Reply | Promise<Reply> {
  const client = admittedClient(event)
  const query = parseValorQuery(event.url.search, currentDay(deps.clock), client)
  return compatReply(
    deps,
    {
      path: PATH,
      contentType: TYPE,
      parse: () => query,
      async find(snapshot, { base, quote, provider, side, day }): Promise<Cross> {
        if (!snapshot.providers.some(({ code }) => code === provider)) {
          throw new AppError('not-found', `There is no provider ${provider}`)
        }
        const currencies = listCurrencies(snapshot, provider)
        for (const code of [base, quote]) {
          if (currencies.includes(code)) continue
          deps.unserved.indicator('valor', code)
          const others = otherRoutes(snapshot, { provider, from: base, to: quote, type: side })
          throw new AppError('not-found', `no rates of ${code} are stored${others}`)
        }
        const { crosses, holes } = await computeCrosses(snapshot, {
          provider,
          base,
          quotes: [quote],
          side,
          day,
        })
        const hole = holes.get(quote)
        if (hole) throw dayHoleError(hole)
        const [cross] = servedCrosses(deps, crosses)
        if (cross) return cross
        const firsts = [base, quote].map((code) => firstStoredDay(snapshot, provider, code) ?? day)
        const first = firsts.reduce(latest)
        if (day < first) throw new AppError('invalid', `there is no data before ${first}`)
        throw new AppError(
          'not-found',
          `no rate of ${base} in ${quote} is held on ${day}${roundedReason(crosses)}`,
        )
      },
      encode: ({ rate }, { amount, decimal, rounding }) =>
        applyRounding(product(amount, rate), rounding).replace('.', decimal),
      roundedTo: (cross) => fewestDecimals([cross]),
    },
    event,
    client,
    new URLSearchParams(), // its own `tipo` is read already
  )
}

/** Parses the query. @throws AppError `invalid` for an unknown parameter or a wrong value */
function parseValorQuery(search: string, today: IsoDate, client: AdmittedClient): ValorQuery {
  const faults: ValidationItem[] = []
  const parameters = parseQuery(search, faults)
  for (const name of KEY_NAMES) delete parameters[name]
  const unknown = Object.keys(parameters).filter((name) => !NAMES.includes(name) && !name.startsWith('_'))
  if (unknown.length > 0) throw new AppError('invalid', unknown.map(unknownParameterMessage).join('; '))
  if (parameters.decimal === ',' && parameters.monto !== undefined)
    parameters.monto = withPoint(parameters.monto)
  if (faults.length > 0) throw new AppError('invalid', 'the address must be valid percent-encoded UTF-8')
  const {
    de: base,
    a: quote,
    monto: amount,
    tipo,
    fecha,
    decimal,
    decimals,
    rounding,
    provider = client.provider,
  } = validate(Query, 'query', parameters, faults)
  if (faults.length > 0) throw invalidParameters(faults)
  const day = fecha ?? today
  if (day > addDays(today, 1)) {
    throw new AppError('invalid', `fecha is in the future: today is ${today}`)
  }
  const rule = roundingRule(decimals, rounding)
  return { provider, base, quote, amount, day, side: tipo ?? client.side, decimal, rounding: rule }
}

/**
 * Replaces a decimal comma. An amount with a point too stays, and is rejected.
 * @throws AppError `invalid` for an amount whose point may separate thousands
 */
function withPoint(amount: string): string {
  const text = amount.trim()
  if (GROUPED.test(text)) {
    const digits = text.replaceAll('.', '')
    throw new AppError('invalid', `monto is ${text} with decimal=,: write ${digits} or ${digits},00`)
  }
  return amount.includes('.') ? amount : amount.replace(',', '.')
}

function unknownParameterMessage(name: string): string {
  if (!SAFE_NAME.test(name))
    return `there is a parameter that is not known: there are ${NAMES.join(', ')} and key`
  const near = nearestName(name, [...NAMES, 'key'], SYNONYMS)
  const advice = near === undefined ? `there are ${NAMES.join(', ')} and key` : `did you mean ${near}?`
  return `there is no parameter ${name}: ${advice}`
}
