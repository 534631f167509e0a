// Fixer and exchangeratesapi.io: tables of rates with the base among them, which is the euro unless another is asked for.
// Finance::Quote divides one rate of the table by another.

import type { IsoDate } from '../../../dates.ts'
import { AppError } from '../../../errors.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import { JSON_TYPE } from '../../api/forms.ts'
import { type Asked, type ShapeDeps, shapeEndpoint } from '../shape.ts'
import { convertEndpoint, namesEndpoint, periodIn, refuse, tableIn, wordsOf } from './apilayer.ts'
import { OF_A_DAY, OF_A_PERIOD, quotesBetween, quotesOn, type Table, tableOut, withText } from './quotes.ts'
import { dayIn, endOf, noonOf } from './values.ts'

const ROOT = '/compat/fixer/api'
const SHAPE = 'fixer'
const BASE = 'EUR'
const HEAD = { success: true }

export function fixer(deps: ShapeDeps): AnyEndpoint[] {
  return [
    ...fixerTables(deps, SHAPE, ROOT),
    timeseries(deps),
    convertEndpoint(deps, { shape: SHAPE, path: `${ROOT}/convert`, head: HEAD }),
    namesEndpoint(deps, { shape: SHAPE, path: `${ROOT}/symbols`, head: HEAD, field: 'symbols' }),
  ]
}

/** `/latest` and `/{day}`, of Fixer and of others that had them from it. */
export function fixerTables(deps: ShapeDeps, shape: string, root: string): AnyEndpoint[] {
  const words = wordsOf(shape, true, 'invalid_base_currency')
  const endpoint = (path: string, dayOf: (asked: Asked) => IsoDate, isPast: boolean) =>
    shapeEndpoint(deps, {
      path: root + path,
      summary: `${shape}: a table of rates, with its base`,
      contentType: JSON_TYPE,
      ask: (asked): Table & { day: IsoDate } => ({ ...tableIn(asked, BASE), day: dayOf(asked) }),
      find: (snapshot, table) => quotesOn(deps, words, snapshot, table),
      encode: ({ crosses }, { base, day }) =>
        JSON.stringify({
          ...HEAD,
          timestamp: isPast ? endOf(day) : noonOf(day),
          ...(isPast && { historical: true }),
          base,
          date: day,
          rates: tableOut(crosses),
        }),
      ...OF_A_DAY,
    })
  return [endpoint('/latest', ({ today }) => today, false), endpoint('/{day}', dayOfPath, true)]
}

function dayOfPath({ params: { day = '' }, today }: Asked): IsoDate {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new AppError('not-found', 'not found')
  return dayIn(day, today) ?? refuse('invalid_date')
}

function timeseries(deps: ShapeDeps): AnyEndpoint {
  const words = wordsOf(SHAPE, true, 'invalid_base_currency')
  return shapeEndpoint(deps, {
    path: `${ROOT}/timeseries`,
    summary: 'fixer: a table of rates for each day of a period',
    contentType: JSON_TYPE,
    ask: (asked) => ({ ...tableIn(asked, BASE), ...periodIn(asked) }),
    find: (snapshot, table) => quotesBetween(deps, words, snapshot, table),
    encode: ({ text }, { base, from, to }) =>
      withText({ ...HEAD, timeseries: true, start_date: from, end_date: to, base }, 'rates', text),
    ...OF_A_PERIOD,
  })
}
