// Fixer and exchangeratesapi.io: tables of rates with the base among them, by default the euro. Finance::Quote
// divides one rate of the table by another.

import { AppError } from '../../../runtime/errors.ts'
import type { IsoDate } from '../../../values/dates.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import { type CompatDeps, type CompatRequest, compatEndpoint } from '../shape.ts'
import {
  convertEndpoint,
  namesEndpoint,
  parsePeriod,
  parseTable,
  refuseRequest,
  tableRules,
} from './apilayer.ts'
import {
  appendJson,
  findDayTable,
  findPeriodTables,
  type QuotesQuery,
  TABLE_HEADERS,
  tableOut,
} from './quotes.ts'
import { lastSecond, noonSeconds, parsePastDay } from './values.ts'

const ROOT = '/compat/fixer/api'
const SHAPE = 'fixer'
const BASE = 'EUR'
const HEAD = { success: true }

export function fixer(deps: CompatDeps): AnyEndpoint[] {
  return [
    ...fixerTables(deps, SHAPE, ROOT),
    timeseries(deps),
    convertEndpoint(deps, { shape: SHAPE, path: `${ROOT}/convert`, head: () => HEAD }),
    namesEndpoint(deps, { path: `${ROOT}/symbols`, head: () => HEAD, field: 'symbols' }),
  ]
}

/** `/latest` and `/{day}`, of Fixer and of others that had them from it. */
export function fixerTables(
  deps: CompatDeps,
  shape: string,
  root: '/compat/currencylayer' | typeof ROOT,
): AnyEndpoint[] {
  const rules = tableRules(shape, true, 'invalid_base_currency')
  const endpoint = (
    path: '/latest' | '/{day}',
    requestDay: (request: CompatRequest) => IsoDate,
    isPast: boolean,
  ) =>
    compatEndpoint(deps, {
      path: `${root}${path}`,
      parse: (request): QuotesQuery & { day: IsoDate } => ({
        ...parseTable(request, BASE),
        day: requestDay(request),
      }),
      find: (snapshot, table) => findDayTable(deps, rules, snapshot, table),
      encode: ({ crosses }, { base, day }) =>
        JSON.stringify({
          ...HEAD,
          timestamp: isPast ? lastSecond(day) : noonSeconds(day),
          ...(isPast && { historical: true }),
          base,
          date: day,
          rates: tableOut(crosses),
        }),
      ...TABLE_HEADERS,
    })
  return [endpoint('/latest', ({ today }) => today, false), endpoint('/{day}', pathDay, true)]
}

function pathDay({ params: { day = '' }, today }: CompatRequest): IsoDate {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new AppError('not-found', 'not found')
  return parsePastDay(day, today) ?? refuseRequest('invalid_date')
}

function timeseries(deps: CompatDeps): AnyEndpoint {
  const rules = tableRules(SHAPE, true, 'invalid_base_currency')
  return compatEndpoint(deps, {
    path: `${ROOT}/timeseries`,
    parse: (request) => ({ ...parseTable(request, BASE), ...parsePeriod(request) }),
    find: (snapshot, table) => findPeriodTables(deps, rules, snapshot, table),
    encode: ({ text }, { base, from, to }) =>
      appendJson({ ...HEAD, timeseries: true, start_date: from, end_date: to, base }, 'rates', text),
    ...TABLE_HEADERS,
  })
}
