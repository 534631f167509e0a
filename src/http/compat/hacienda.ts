// The indicators of Hacienda: the dollar, compra beside venta, and the euro in dollars and colones. Its dates have had
// several forms, and strict readers of each are still around: `fechas=2020`, or the name hacienda-2020, gives that year's.

import * as v from 'valibot'
import { earliest, type IsoDate, isIsoDate } from '../../dates.ts'
import { product, rounded } from '../../decimal.ts'
import { crossesOn } from '../../domain/rates/crosses.ts'
import { ratesOn } from '../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { type DaySides, sidesBetween } from '../../domain/rates/sides.ts'
import { AppError } from '../../errors.ts'
import { rawNumber } from '../../json/raw.ts'
import type { Side } from '../../store/tables.ts'
import type { Api } from '../api/api.ts'
import type { AnyEndpoint } from '../api/endpoint.ts'
import type { ErrorShape } from '../api/errors.ts'
import { holesHeaders } from '../rates/holes.ts'
import { missingDaysOf, wholeParts } from './missing-days.ts'
import { type Asked, heldOf, PROVIDER, type ShapeDeps, shapeEndpoint } from './shape.ts'

type Dates = 'plain' | '2020' | 'iso'
type Query = { day: IsoDate; side: Side; dates: Dates }
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
    const missing = missingDaysOf(details)
    return missing ? holesHeaders({ holes: missing.days }) : {}
  },
  schema: ErrorOut,
  invalid: ErrorOut,
}

export function haciendaApis(deps: ShapeDeps): Api[] {
  const api = (name: string, dates: Dates): Api => ({
    prefixes: [`/compat/${name}`],
    errors: ERRORS,
    isForWebsites: true,
    endpoints: haciendaEndpoints(deps, name, dates),
  })
  return [api('hacienda', 'plain'), api('hacienda-2020', '2020')]
}

/** The endpoints below a name of the shape, with the dates that are its own. */
function haciendaEndpoints(deps: ShapeDeps, name: string, ownDates: Dates): AnyEndpoint[] {
  const root = `/compat/${name}/indicadores/tc`
  const ask = ({ query, today, side }: Asked): Query => ({
    ...dayOf(query, today),
    side,
    dates: datesIn(query, ownDates),
  })
  const encode = (found: unknown) => JSON.stringify(found)
  const common = { contentType: TYPE, ask, encode }
  return [
    shapeEndpoint(deps, {
      ...common,
      path: root,
      summary: 'Hacienda: dollar and euro',
      async find(snapshot, asked) {
        const dolar = needed(await dollarOn(snapshot, asked))
        return { dolar, euro: await euroOn(deps, snapshot, asked) }
      },
    }),
    shapeEndpoint(deps, {
      ...common,
      path: `${root}/dolar`,
      summary: 'Hacienda: the dollar',
      find: async (snapshot, asked) => needed(await dollarOn(snapshot, asked)),
    }),
    shapeEndpoint(deps, {
      ...common,
      path: `${root}/euro`,
      summary: 'Hacienda: the euro',
      find: async (snapshot, asked) => needed(await euroOn(deps, snapshot, asked)),
    }),
    shapeEndpoint(deps, {
      path: `${root}/dolar/historico`,
      summary: 'Hacienda: the dollar, day by day',
      contentType: TYPE,
      ask: ({ query, today }) => ({
        from: dateIn(query.get('d')),
        to: earliest(dateIn(query.get('h')), today),
      }),
      async find(snapshot, range) {
        const found = await sidesBetween(snapshot, {
          provider: PROVIDER,
          base: 'USD',
          quote: 'CRC',
          ...range,
        })
        const missing = found.holes?.length ? { days: found.holes } : undefined
        const part = { code: 'USD', value: found.days, missing }
        await wholeParts(deps, 'hacienda', [part], { areNamed: true })
        const whole = found.days.filter(({ compra, venta }) => compra !== undefined && venta !== undefined)
        const count = found.days.length - whole.length
        if (count > 0) deps.missed.oneSided('hacienda', count)
        return whole
      },
      encode: (days) => JSON.stringify(days.map(historyRow)),
    }),
  ]
}

function historyRow({ day, compra, venta }: DaySides) {
  return { fecha: `${day} 00:00:00`, compra: numberOf(compra), venta: numberOf(venta) }
}

async function dollarOn(snapshot: RateSnapshot, { day, dates }: Query): Promise<Dollar | undefined> {
  const pair = { provider: PROVIDER, base: 'USD', quote: 'CRC' }
  const { rates: found } = await ratesOn(snapshot, { ...pair, day, exact: false })
  const valued = (side: Side): Valued | undefined => {
    const { point } = found.find(({ series }) => series.rate_type === side) ?? {}
    return point && { fecha: written(point.rate_date, dates, ' 00:00:00'), valor: rawNumber(point.value) }
  }
  const [venta, compra] = [valued('venta'), valued('compra')]
  return venta && compra && { venta, compra }
}

/** The last parity, and its worth at the dollar of the same day, to two decimals as Hacienda gives it. */
async function euroOn(deps: ShapeDeps, snapshot: RateSnapshot, query: Query): Promise<Euro | undefined> {
  const { day, side, dates } = query
  const asked = { provider: PROVIDER, side, day }
  const { crosses: euro } = await crossesOn(snapshot, { ...asked, base: 'EUR', quotes: ['USD'] })
  const { crosses: dollar } = await crossesOn(snapshot, { ...asked, base: 'USD', quotes: ['CRC'] })
  const [[dollars], [colones]] = [heldOf(deps, euro), heldOf(deps, dollar)]
  if (!dollars || !colones) return undefined
  return {
    fecha: written(day, dates, MIDNIGHT),
    dolares: rawNumber(dollars.rate),
    colones: rawNumber(rounded(product(dollars.rate, colones.rate), 2)),
  }
}

function dayOf(query: URLSearchParams, today: IsoDate): { day: IsoDate } {
  const day = query.get('fecha')
  return { day: day === null ? today : earliest(dateIn(day), today) }
}

function dateIn(text: string | null): IsoDate {
  if (text === null || !isIsoDate(text)) throw new AppError('bad-request', 'Bad request')
  return text
}

function datesIn(query: URLSearchParams, own: Dates): Dates {
  const asked = query.get('fechas')
  return asked === '2020' || asked === 'iso' ? asked : own
}

/** A date as it was written then; `in2020` is what followed it in that year. */
function written(day: IsoDate, dates: Dates, in2020: string): string {
  if (dates === 'plain') return day
  return day + (dates === 'iso' ? MIDNIGHT : in2020)
}

function numberOf(value: string | undefined): unknown {
  return value === undefined ? undefined : rawNumber(value)
}

function needed<T>(found: T | undefined): T {
  if (found === undefined) throw new AppError('not-found', 'Not found')
  return found
}
