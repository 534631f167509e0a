// currencylayer, and exchangerate.host, whose answers are the same: what one unit of a source is worth, under keys of six
// letters. The source itself is not among them: Dolibarr adds it.

import type { IsoDate } from '../../../dates.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import { JSON_TYPE } from '../../api/forms.ts'
import { type Asked, type ShapeDeps, shapeEndpoint } from '../shape.ts'
import { convertEndpoint, dateIn, namesEndpoint, periodIn, tableIn, wordsOf } from './apilayer.ts'
import { fixerTables } from './fixer.ts'
import { OF_A_DAY, OF_A_PERIOD, quotesBetween, quotesOn, type Table, tableOut, withText } from './quotes.ts'
import { endOf, noonOf } from './values.ts'

const ROOT = '/compat/currencylayer'
const SHAPE = 'currencylayer'
const SOURCE = 'USD'
const WORDS = wordsOf(SHAPE, false, 'invalid_source_currency')
const HEAD = {
  success: true,
  terms: 'Rates as the Banco Central de Costa Rica publishes them',
  privacy: 'No request leaves this server',
}

export function currencylayer(deps: ShapeDeps): AnyEndpoint[] {
  return [
    tableEndpoint(deps, '/live', ({ today }) => today, noonOf),
    tableEndpoint(deps, '/historical', dateIn, endOf),
    timeframe(deps),
    convertEndpoint(deps, { shape: SHAPE, path: `${ROOT}/convert`, head: HEAD }),
    namesEndpoint(deps, { shape: SHAPE, path: `${ROOT}/list`, head: HEAD, field: 'currencies' }),
    // Those of exchangerate.host until 2023, which had a base, and a table with it.
    ...fixerTables(deps, SHAPE, ROOT),
  ]
}

function tableEndpoint(
  deps: ShapeDeps,
  path: '/live' | '/historical',
  dayOf: (asked: Asked) => IsoDate,
  timestampOf: (day: IsoDate) => number,
): AnyEndpoint {
  return shapeEndpoint(deps, {
    path: ROOT + path,
    summary: 'currencylayer: what a source is worth on a day',
    contentType: JSON_TYPE,
    ask: (asked): Table & { day: IsoDate } => ({ ...tableIn(asked, SOURCE), day: dayOf(asked) }),
    find: (snapshot, table) => quotesOn(deps, WORDS, snapshot, table),
    encode: ({ crosses }, { base, day }) =>
      JSON.stringify({
        ...HEAD,
        ...(path === '/historical' && { historical: true, date: day }),
        timestamp: timestampOf(day),
        source: base,
        quotes: tableOut(crosses, base),
      }),
    ...OF_A_DAY,
  })
}

function timeframe(deps: ShapeDeps): AnyEndpoint {
  return shapeEndpoint(deps, {
    path: `${ROOT}/timeframe`,
    summary: 'currencylayer: what a source is worth on each day of a period',
    contentType: JSON_TYPE,
    ask: (asked) => ({ ...tableIn(asked, SOURCE), ...periodIn(asked) }),
    find: (snapshot, table) => quotesBetween(deps, WORDS, snapshot, { ...table, prefix: table.base }),
    encode: ({ text }, { base, from, to }) =>
      withText({ ...HEAD, timeframe: true, start_date: from, end_date: to, source: base }, 'quotes', text),
    ...OF_A_PERIOD,
  })
}
