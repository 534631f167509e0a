// What a request to Frankfurter v2 asks for. Its parameters are checked strictly: one that it does not have is refused.

import { earliest, type IsoDate, isIsoDate } from '../../../dates.ts'
import { AppError } from '../../../errors.ts'
import type { Side } from '../../../store/tables.ts'
import { KEY_NAMES } from '../../api/url-key.ts'
import type { Dialect } from '../../rates/csv.ts'
import { codesIn } from '../codes.ts'
import type { Asked } from '../shape.ts'
import { dialectIn } from './v2-forms.ts'

export type Group = 'week' | 'month'

/** `quotes` empty: all. `to` is set for a range. `isOurs`: whether the bank is among the providers that are asked for. */
export type Query = {
  base: string
  quotes: string[]
  side: Side
  from: IsoDate
  to?: IsoDate
  group?: Group
  withProviders: boolean
  isOurs: boolean
  form: 'json' | 'csv' | 'ndjson'
  dialect?: Dialect
}

const OURS = ['tipo', 'dialect', 'dialecto', 'decimal', 'sep', ...KEY_NAMES]
const NAME = /^[A-Za-z_-]{1,30}$/
const RATES = ['base', 'quotes', 'providers', 'date', 'from', 'to', 'group', 'expand']

/** @throws AppError `invalid` in the words of the shape */
export function ratesQuery({ query, headers, today, side }: Asked, isCsv: boolean): Query {
  checkNames(query, RATES)
  const asked = {
    base: (query.get('base') ?? 'EUR').trim().toUpperCase(),
    quotes: codesIn(query.get('quotes')),
    side,
    ...daysIn(query, today),
    isOurs: isOurs(query),
    withProviders: isExpanded(query),
  }
  if (isCsv) return { ...asked, form: 'csv', dialect: dialectIn(query) }
  const form = /application\/x-ndjson/i.test(headers.get('accept') ?? '') ? 'ndjson' : 'json'
  return { ...asked, form }
}

export function rateQuery({ query, params, today, side }: Asked): Query {
  checkNames(query, ['date', 'providers'])
  const [base = '', quote = ''] = [params.base?.toUpperCase(), params.quote?.toUpperCase()]
  const from = dateIn(query.get('date'), today) ?? today
  const asked = { base, quotes: [quote], side, from, isOurs: isOurs(query) }
  return { ...asked, withProviders: false, form: 'json' }
}

/**
 * A name that is no word may be a part of a key with an & in it, and is not repeated.
 * @throws AppError `invalid` for a parameter that is neither among these nor ours
 */
export function checkNames(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (!names.includes(name) && !OURS.includes(name))
      throw new AppError('invalid', `unknown parameter${NAME.test(name) ? `: ${name}` : ''}`)
  }
}

function daysIn(query: URLSearchParams, today: IsoDate): { from: IsoDate; to?: IsoDate; group?: Group } {
  const [date, from, to] = ['date', 'from', 'to'].map((name) => dateIn(query.get(name), today))
  const group = query.get('group')
  if (group !== null && group !== 'week' && group !== 'month') throw new AppError('invalid', 'invalid group')
  if (date !== undefined && (from !== undefined || to !== undefined))
    throw new AppError('invalid', 'conflicting params')
  if (from === undefined) {
    if (to !== undefined) throw new AppError('invalid', 'conflicting params')
    return { from: date ?? today }
  }
  return { from, to: to ?? today, ...(group ? { group } : {}) }
}

/** A date; one in the future is today. */
function dateIn(text: string | null, today: IsoDate): IsoDate | undefined {
  if (text === null) return undefined
  if (!isIsoDate(text)) throw new AppError('invalid', 'invalid date')
  return earliest(text, today)
}

function isOurs(query: URLSearchParams): boolean {
  const providers = codesIn(query.get('providers'))
  return providers.length === 0 || providers.includes('BCCR')
}

function isExpanded(query: URLSearchParams): boolean {
  const expand = query.get('expand')
  if (expand !== null && expand !== 'providers') throw new AppError('invalid', 'invalid expand')
  return expand !== null
}
