// currencylayer and exchangerate.host, whose answers are the same: values of a unit of a source, under keys of six
// letters. The source itself is not among them: Dolibarr adds it.

import type { IsoDate } from '../../../values/dates.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import { type AnswerSource, type CompatDeps, type CompatRequest, compatEndpoint } from '../shape.ts'
import {
  convertEndpoint,
  namesEndpoint,
  parsePeriod,
  parseTable,
  requiredDate,
  tableRules,
} from './apilayer.ts'
import { fixerTables } from './fixer.ts'
import {
  appendJson,
  findDayTable,
  findPeriodTables,
  type QuotesQuery,
  TABLE_HEADERS,
  tableOut,
} from './quotes.ts'
import { lastSecond, noonSeconds } from './values.ts'

const ROOT = '/compat/currencylayer'
const SHAPE = 'currencylayer'
const SOURCE = 'USD'
const RULES = tableRules(SHAPE, false, 'invalid_source_currency')

export function currencylayer(deps: CompatDeps): AnyEndpoint[] {
  return [
    tableEndpoint(deps, '/live', ({ today }) => today, noonSeconds),
    tableEndpoint(deps, '/historical', requiredDate, lastSecond),
    timeframe(deps),
    convertEndpoint(deps, { shape: SHAPE, path: `${ROOT}/convert`, head: answerHead }),
    namesEndpoint(deps, { path: `${ROOT}/list`, head: answerHead, field: 'currencies' }),
    // Tables of exchangerate.host until 2023, which have a base and contain it.
    ...fixerTables(deps, SHAPE, ROOT),
  ]
}

function tableEndpoint(
  deps: CompatDeps,
  path: '/live' | '/historical',
  requestDay: (request: CompatRequest) => IsoDate,
  timestamp: (day: IsoDate) => number,
): AnyEndpoint {
  return compatEndpoint(deps, {
    path: `${ROOT}${path}`,
    parse: (request): QuotesQuery & { day: IsoDate } => ({
      ...parseTable(request, SOURCE),
      day: requestDay(request),
    }),
    find: (snapshot, table) => findDayTable(deps, RULES, snapshot, table),
    encode: ({ crosses }, { base, day }, source) =>
      JSON.stringify({
        ...answerHead(source),
        ...(path === '/historical' && { historical: true, date: day }),
        timestamp: timestamp(day),
        source: base,
        quotes: tableOut(crosses, base),
      }),
    ...TABLE_HEADERS,
  })
}

function timeframe(deps: CompatDeps): AnyEndpoint {
  return compatEndpoint(deps, {
    path: `${ROOT}/timeframe`,
    parse: (request) => ({ ...parseTable(request, SOURCE), ...parsePeriod(request) }),
    find: (snapshot, table) => findPeriodTables(deps, RULES, snapshot, { ...table, prefix: table.base }),
    encode: ({ text }, { base, from, to }, source) =>
      appendJson(
        { ...answerHead(source), timeframe: true, start_date: from, end_date: to, source: base },
        'quotes',
        text,
      ),
    ...TABLE_HEADERS,
  })
}

function answerHead({ name }: AnswerSource): Record<string, unknown> {
  return {
    success: true,
    terms: `Rates as the ${name} publishes them`,
    privacy: 'No request leaves this server',
  }
}
