// Hacienda's indicators: the dollar with compra and venta, and the euro in dollars and colones. Dates have had
// several forms, and strict readers of each exist. `fechas=2020`, or the name hacienda-2020, selects the form of
// 2020.

import * as v from 'valibot'
import { computeCrosses } from '../../domain/rates/crosses.ts'
import { listDayRates } from '../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { type DaySides, listSides } from '../../domain/rates/sides.ts'
import { rawNumber } from '../../formats/json/raw.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Side } from '../../store/tables.ts'
import { earliest, type IsoDate, isIsoDate } from '../../values/dates.ts'
import { product, roundDecimal } from '../../values/decimal.ts'
import type { Api } from '../endpoint/api.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import type { ErrorShape } from '../endpoint/error-shape.ts'
import { holesHeaders } from '../figures/holes.ts'
import { completeParts, readMissingDays } from './missing-days.ts'
import { type CompatDeps, type CompatRequest, compatEndpoint, PROVIDER, servedCrosses } from './shape.ts'

type DateFormat = 'plain' | '2020' | 'iso'
type HaciendaName = 'hacienda' | 'hacienda-2020'
type DollarQuery = { day: IsoDate; side: Side; dateFormat: DateFormat }
type Valued = { fecha: string; valor: unknown }
type Dollar = { venta: Valued; compra: Valued }
type Euro = { fecha: string; dolares: unknown; colones: unknown }

const TYPE = 'application/json'
const MIDNIGHT = 'T00:00:00-06:00'

const STATUS: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  404: 'Not found',
  429: 'Too Many Requests',
  503: 'Service unavailable',
}
const ErrorOut = v.object({ code: v.number(), status: v.string() })
const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  contentType: TYPE,
  body: (code, message) => JSON.stringify({ code, status: STATUS[code] ?? message }),
  headers(details) {
    const missing = readMissingDays(details)
    return missing ? holesHeaders({ holes: missing.days }) : {}
  },
  schema: ErrorOut,
}

export function haciendaApis(deps: CompatDeps): Api[] {
  const api = (name: HaciendaName, dateFormat: DateFormat): Api => ({
    prefixes: [`/compat/${name}`],
    errors: ERRORS,
    isForWebsites: true,
    endpoints: haciendaEndpoints(deps, name, dateFormat),
  })
  return [api('hacienda', 'plain'), api('hacienda-2020', '2020')]
}

/** Creates the endpoints below a name, with its default form of dates. */
function haciendaEndpoints(deps: CompatDeps, name: HaciendaName, defaultFormat: DateFormat): AnyEndpoint[] {
  const root = `/compat/${name}/indicadores/tc` as const
  const parse = ({ query, today, side }: CompatRequest): DollarQuery => ({
    ...dollarDay(query, today),
    side,
    dateFormat: requestedFormat(query, defaultFormat),
  })
  const common = { contentType: TYPE, parse }
  return [
    compatEndpoint(deps, {
      ...common,
      path: root,
      async find(snapshot, query) {
        const dolar = requireValue(await findDollar(snapshot, query))
        return { dolar, euro: await findEuro(deps, snapshot, query) }
      },
    }),
    compatEndpoint(deps, {
      ...common,
      path: `${root}/dolar`,
      find: async (snapshot, query) => requireValue(await findDollar(snapshot, query)),
    }),
    compatEndpoint(deps, {
      ...common,
      path: `${root}/euro`,
      find: async (snapshot, query) => requireValue(await findEuro(deps, snapshot, query)),
    }),
    compatEndpoint(deps, {
      path: `${root}/dolar/historico`,
      contentType: TYPE,
      parse: ({ query, today }) => ({
        from: parseDate(query.get('d')),
        to: earliest(parseDate(query.get('h')), today),
      }),
      async find(snapshot, range) {
        const sides = await listSides(snapshot, {
          provider: PROVIDER,
          base: 'USD',
          quote: 'CRC',
          ...range,
        })
        const missing = sides.holes?.length ? { days: sides.holes } : undefined
        const part = { code: 'USD', value: sides.days, missing }
        await completeParts(deps, 'hacienda', [part], { areNamed: true, provider: PROVIDER })
        const whole = sides.days.filter(({ compra, venta }) => compra !== undefined && venta !== undefined)
        const count = sides.days.length - whole.length
        if (count > 0) deps.unserved.oneSided('hacienda', count)
        return whole
      },
      encode: (days) => JSON.stringify(days.map(historyRow)),
    }),
  ]
}

function historyRow({ day, compra, venta }: DaySides) {
  return { fecha: `${day} 00:00:00`, compra: optionalNumber(compra), venta: optionalNumber(venta) }
}

async function findDollar(
  snapshot: RateSnapshot,
  { day, dateFormat }: DollarQuery,
): Promise<Dollar | undefined> {
  const pair = { provider: PROVIDER, base: 'USD', quote: 'CRC' }
  const { rates } = await listDayRates(snapshot, { ...pair, day, exact: false })
  const sideValue = (side: Side): Valued | undefined => {
    const { point } = rates.find(({ series }) => series.rate_type === side) ?? {}
    return (
      point && { fecha: formatDate(point.rate_date, dateFormat, ' 00:00:00'), valor: rawNumber(point.value) }
    )
  }
  const [venta, compra] = [sideValue('venta'), sideValue('compra')]
  return venta && compra && { venta, compra }
}

/** Returns the last parity, and its value in colones at that day's dollar. Like Hacienda, rounds it to 2 decimals. */
async function findEuro(
  deps: CompatDeps,
  snapshot: RateSnapshot,
  query: DollarQuery,
): Promise<Euro | undefined> {
  const { day, side, dateFormat } = query
  const selection = { provider: PROVIDER, side, day }
  const { crosses: euro } = await computeCrosses(snapshot, { ...selection, base: 'EUR', quotes: ['USD'] })
  const { crosses: dollar } = await computeCrosses(snapshot, { ...selection, base: 'USD', quotes: ['CRC'] })
  const [[dollars], [colones]] = [servedCrosses(deps, euro), servedCrosses(deps, dollar)]
  if (!dollars || !colones) return undefined
  return {
    fecha: formatDate(day, dateFormat, MIDNIGHT),
    dolares: rawNumber(dollars.rate),
    colones: rawNumber(roundDecimal(product(dollars.rate, colones.rate), 2)),
  }
}

function dollarDay(query: URLSearchParams, today: IsoDate): { day: IsoDate } {
  const day = query.get('fecha')
  return { day: day === null ? today : earliest(parseDate(day), today) }
}

function parseDate(text: string | null): IsoDate {
  if (text === null || !isIsoDate(text)) throw new AppError('bad-request', 'Bad request')
  return text
}

function requestedFormat(query: URLSearchParams, defaultFormat: DateFormat): DateFormat {
  const name = query.get('fechas')
  return name === '2020' || name === 'iso' ? name : defaultFormat
}

/** Formats a date; `suffix2020` follows it in the form of 2020. */
function formatDate(day: IsoDate, dateFormat: DateFormat, suffix2020: string): string {
  if (dateFormat === 'plain') return day
  return day + (dateFormat === 'iso' ? MIDNIGHT : suffix2020)
}

function optionalNumber(value: string | undefined): unknown {
  return value === undefined ? undefined : rawNumber(value)
}

function requireValue<T>(value: T | undefined): T {
  if (value === undefined) throw new AppError('not-found', 'Not found')
  return value
}
