// One value as plain text, for a cell of a spreadsheet: WEBSERVICE() takes an address and gives the text that it finds there.
// The address is ours and is typed by people, into cells that live for years. So it is strict where the other shapes are
// not: a name that it does not know, and a day that has no rate yet, are refused (decisions 1.5, 2.6).

import type { H3Event } from 'h3'
import * as v from 'valibot'
import { addDays, type IsoDate, latest, todayIn } from '../../dates.ts'
import { product } from '../../decimal.ts'
import { type Cross, crossesOn, currenciesOf, firstDayOf } from '../../domain/rates/crosses.ts'
import { notSynchronized } from '../../domain/rates/queries.ts'
import { AppError } from '../../errors.ts'
import type { Side } from '../../store/tables.ts'
import { REVALIDATED } from '../api/answer-cache.ts'
import type { Api } from '../api/api.ts'
import { get, type Reply } from '../api/endpoint.ts'
import { type ErrorShape, invalidParameters, type ValidationItem } from '../api/errors.ts'
import { AmountParam, CurrencyParam, checked, dateParam, ProviderParam, queryOf } from '../api/params.ts'
import { nearestName } from '../api/unknown-parameters.ts'
import { KEY_NAMES } from '../api/url-key.ts'
import type { Admitted } from './admission.ts'
import { fewestDecimals, heldOf, PROVIDER, type ShapeDeps, shapeReply } from './shape.ts'

const PATH = '/compat/valor'
const TYPE = 'text/plain; charset=utf-8'
const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  contentType: TYPE,
  body: (_, message) => message,
  schema: v.string(),
  invalid: v.string(),
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
  provider: v.optional(ProviderParam, PROVIDER),
})
const NAMES = Object.keys(Query.entries)

/** Names of other APIs and of other languages. What a name is meant for is said, and never obeyed. */
const SYNONYMS: ReadonlyMap<string, string | undefined> = new Map<string, string | undefined>([
  ...['from', 'base', 'moneda', 'divisa', 'currency'].map((name) => [name, 'de'] as const),
  ...['to', 'quote', 'en'].map((name) => [name, 'a'] as const),
  ...['date', 'dia', 'día', 'day', 'on', 'fch'].map((name) => [name, 'fecha'] as const),
  ...['amount', 'amt', 'cantidad'].map((name) => [name, 'monto'] as const),
  ...['type', 'side'].map((name) => [name, 'tipo'] as const),
  ['sep', 'decimal'],
  ...['decimals', 'rounding', 'precision'].map((name) => [name, undefined] as const), // of rounding, not of a sign
])
/** A longer name, or one of other signs, may hold a part of a key of which the & is missing. */
const SHOWN = /^\p{L}{1,20}$/u

type Asked = {
  provider: string
  base: string
  quote: string
  day: IsoDate
  side: Side
  amount: string
  decimal: string
}

export function valorApi(deps: ShapeDeps): Api {
  const endpoint = get({
    path: PATH,
    summary: 'One value as plain text, for spreadsheets',
    answer: v.any(),
    contentTypes: [TYPE],
    ...REVALIDATED,
    ignoresUnknown: true, // it reads its parameters itself
    handle: ({ event }) => valorReply(deps, event),
  })
  return { prefixes: [PATH], errors: ERRORS, endpoints: [endpoint] }
}

function valorReply(deps: ShapeDeps, event: H3Event): Reply | Promise<Reply> {
  const { side = 'venta' } = (event.context.admitted as Admitted | undefined) ?? {}
  const asked = askedIn(event.url.search, todayIn(deps.clock), side)
  return shapeReply(
    deps,
    {
      path: PATH,
      summary: '',
      contentType: TYPE,
      ask: () => asked,
      async find(snapshot, { base, quote, provider, side, day }): Promise<Cross> {
        if (!snapshot.providers.some(({ code }) => code === provider)) {
          throw new AppError('not-found', `There is no provider ${provider}`)
        }
        const known = currenciesOf(snapshot, provider)
        for (const code of [base, quote]) {
          if (known.includes(code)) continue
          deps.missed.indicator('valor', code)
          throw new AppError('not-found', `no rates of ${code} are stored`)
        }
        const { crosses, holes } = await crossesOn(snapshot, { provider, base, quotes: [quote], side, day })
        const hole = holes.get(quote)
        if (hole) throw notSynchronized(hole)
        const [cross] = heldOf(deps, crosses)
        if (cross) return cross
        const firsts = [base, quote].map((code) => firstDayOf(snapshot, provider, code) ?? day)
        const first = firsts.reduce(latest)
        if (day < first) throw new AppError('invalid', `there is no data before ${first}`)
        throw new AppError('not-found', `no rate of ${base} in ${quote} is held on ${day}`)
      },
      encode: ({ rate }, { amount, decimal }) => product(amount, rate).replace('.', decimal),
      roundedTo: (cross) => fewestDecimals([cross]),
    },
    event,
    side,
    new URLSearchParams(), // its own `tipo` is read already
  )
}

/** What is asked for. @throws AppError `invalid`: a parameter that there is not, or the value of one */
function askedIn(search: string, today: IsoDate, ofKey: Side): Asked {
  const faults: ValidationItem[] = []
  const sent = queryOf(search, faults)
  for (const name of KEY_NAMES) delete sent[name]
  const unknown = Object.keys(sent).filter((name) => !NAMES.includes(name) && !name.startsWith('_'))
  if (unknown.length > 0) throw new AppError('invalid', unknown.map(unknownInWords).join('; '))
  if (sent.decimal === ',' && sent.monto !== undefined) sent.monto = withPoint(sent.monto)
  if (faults.length > 0) throw new AppError('invalid', 'the address must be valid percent-encoded UTF-8')
  const { de: base, a: quote, monto: amount, tipo, fecha, ...rest } = checked(Query, 'query', sent, faults)
  if (faults.length > 0) throw invalidParameters(faults)
  const day = fecha ?? today
  if (day > addDays(today, 1)) {
    throw new AppError('invalid', `fecha is in the future: today is ${today}`)
  }
  return { ...rest, base, quote, amount, day, side: tipo ?? ofKey }
}

/** An amount with a decimal comma; one with a point too is left, and refused. */
function withPoint(amount: string): string {
  return amount.includes('.') ? amount : amount.replace(',', '.')
}

function unknownInWords(name: string): string {
  if (!SHOWN.test(name))
    return `there is a parameter that is not known: there are ${NAMES.join(', ')} and key`
  const near = nearestName(name, [...NAMES, 'key'], SYNONYMS)
  const advice = near === undefined ? `there are ${NAMES.join(', ')} and key` : `did you mean ${near}?`
  return `there is no parameter ${name}: ${advice}`
}
