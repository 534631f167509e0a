// Expected answers of the endpoints for the known days of each series (decisions#day, #tables, #history and
// #conversion), field by field. Written from the decisions, not from the program. Where decisions leave it open,
// several answers are right.

import { addDays, dayNumber, type IsoDate } from '../../../src/values/dates.ts'
import {
  type Fraction,
  formatFraction,
  inverted,
  parseFraction,
  rounded,
  times,
} from '../../unit/domain/support.ts'
import { listDays } from './memory-bank.ts'
import type { ModelSeries, RatesModel } from './rates-model.ts'

/** Headers that qualify an answer, by name. */
export type Notes = Partial<Record<'x-left-out' | 'x-future', string>>

/** Valid texts for the `details` of a 404; undefined: any. */
export type Expected =
  | { status: 200; body: unknown; notes?: Notes }
  | { status: 404; details: string[] | undefined }

export type Question =
  | { kind: 'latest'; base: string; quote: string; on: IsoDate }
  | { kind: 'rates'; on: IsoDate; exact: boolean }
  | { kind: 'history'; id: number; from: IsoDate; to: IsoDate }
  | {
      kind: 'convert'
      amount: string
      from: string
      to: string
      type: 'compra' | 'venta' | 'referencia'
      on: IsoDate
      details: boolean
    }

const PIVOT = 'USD'
/** Days after which a missing side is no longer awaited. */
const PATIENCE_DAYS = 3
const NOTHING: Expected = { status: 404, details: undefined }

/** Path of the request. */
export function questionPath(question: Question): string {
  const { kind, ...parameters } = question
  if (question.kind === 'history') {
    return `/api/v1/series/${question.id}/history?from=${question.from}&to=${question.to}`
  }
  const path = kind === 'latest' ? 'rates/latest' : kind
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
  return `/api/v1/${path}?${query.join('&')}`
}

/** Expected answer on a day. */
export function expectedAnswer(model: RatesModel, question: Question, today: IsoDate): Expected {
  const future = 'on' in question && question.on > addDays(today, 1)
  switch (question.kind) {
    case 'latest':
      return markedFuture(expectedLatest(model, question), future)
    case 'rates': {
      const leftOut = expectedLeftOut(model, question)
      const notes: Notes = {
        ...(leftOut.length > 0 && { 'x-left-out': leftOut.join(',') }),
        ...(future && { 'x-future': 'true' }),
      }
      return { status: 200, body: expectedRates(model, question), notes }
    }
    case 'history':
      return expectedHistory(model, question)
    case 'convert':
      return markedFuture(expectedConversion(model, question), future)
  }
}

function markedFuture(expected: Expected, future: boolean): Expected {
  if (expected.status !== 200 || !future) return expected
  return { status: 200, body: { ...(expected.body as object), future: true } }
}

function expectedLatest(
  { series }: RatesModel,
  { base, quote, on }: Question & { kind: 'latest' },
): Expected {
  const sides = series.filter((one) => one.base === base && one.quote === quote)
  const day = dayOfPair(sides, on)
  if (day === undefined) return NOTHING
  const sidesOnDay = sides.filter(({ values }) => values.has(day))
  const holes = new Set(sidesOnDay.flatMap((side) => missingDays(side, day, on)))
  if (holes.size > 0) return { status: 404, details: [missingMessage([...holes])] }
  const sideValue = (type: string) =>
    sidesOnDay.find(({ rateType }) => rateType === type)?.values.get(day)?.value ?? null
  const missing = sides
    .filter(({ values, covered }) => !values.has(day) && !covered.has(day))
    .map(({ rateType }) => rateType)
  const body = {
    provider: 'bccr',
    pair: `${base}/${quote}`,
    rate_date: day,
    compra: sideValue('compra'),
    venta: sideValue('venta'),
    referencia: sideValue('referencia'),
    ...roundingMark(sidesOnDay.map(({ values }) => values.get(day)?.roundedTo)),
    ...(missing.length > 0 && { missing }),
  }
  return { status: 200, body }
}

/** Newest day on which all enabled sides are settled, unless that is too old (decisions#day). */
function dayOfPair(sides: readonly ModelSeries[], on: IsoDate): IsoDate | undefined {
  const days = [...new Set(sides.flatMap(({ values }) => [...values.keys()]))]
    .filter((day) => day <= on)
    .toSorted()
  const newest = days.at(-1)
  const enabled = sides.filter((side) => side.enabled)
  const settled = days.findLast((day) => enabled.every((side) => isSettled(side, day)))
  if (newest === undefined || settled === undefined) return newest
  return dayNumber(newest) - dayNumber(settled) > PATIENCE_DAYS ? newest : settled
}

function isSettled({ values, covered }: ModelSeries, day: IsoDate): boolean {
  return values.has(day) || covered.has(day) || [...values.keys()].some((later) => later > day)
}

function expectedRates({ series }: RatesModel, { on, exact }: Question & { kind: 'rates' }): unknown[] {
  return series.flatMap((one) => {
    const day = lastDay(one, on)
    if (day === undefined || (exact && day !== on) || missingDays(one, day, on).length > 0) return []
    const row = one.values.get(day)
    return [
      {
        provider: 'bccr',
        series_id: one.id,
        external_code: one.code,
        pair: `${one.base}/${one.quote}`,
        base_currency: one.base,
        quote_currency: one.quote,
        rate_type: one.rateType,
        rate_date: day,
        value: row?.value,
        ...roundingMark([row?.roundedTo]),
      },
    ]
  })
}

/** Series without a row, if a day from their last value to `on` is not synchronized. */
function expectedLeftOut(
  { series, dollarSince }: RatesModel,
  { on, exact }: Question & { kind: 'rates' },
): number[] {
  return series
    .filter((one) => {
      const day = lastDay(one, on)
      if (day === undefined || exact)
        return day !== on && unsynchronized(one, { from: on, to: on, dollarSince }).length > 0
      return missingDays(one, day, on).length > 0
    })
    .map(({ id }) => id)
}

/**
 * Days of a range that were not synchronized, for lists: those before the newest covered day, or all if
 * none is. Days before the history begins are excluded (decisions#day). The dollar's history begins on the bank's
 * first day. A parity's begins with its first value, if the 366 days before are covered.
 */
function unsynchronized(
  { code, values, covered }: ModelSeries,
  { from, to, dollarSince }: { from: IsoDate; to: IsoDate; dollarSince: IsoDate },
): IsoDate[] {
  const newest = newestDay(covered)
  const first = [...values.keys()].toSorted()[0]
  const isBegun =
    first !== undefined && listDays(addDays(first, -366), addDays(first, -1)).every((day) => covered.has(day))
  const begin = ['317', '318'].includes(code) ? dollarSince : isBegun ? first : undefined
  return listDays(from, to).filter(
    (day) =>
      !covered.has(day) && (covered.size === 0 || day < newest) && (begin === undefined || day >= begin),
  )
}

/** Merges days into intervals. */
function toIntervals(days: readonly IsoDate[]): { from: IsoDate; to: IsoDate }[] {
  const intervals: { from: IsoDate; to: IsoDate }[] = []
  for (const day of days) {
    const last = intervals.at(-1)
    if (last && addDays(last.to, 1) === day) last.to = day
    else intervals.push({ from: day, to: day })
  }
  return intervals
}

function expectedHistory(
  { series, dollarSince }: RatesModel,
  { id, from, to }: Question & { kind: 'history' },
): Expected {
  const one = series.find((candidate) => candidate.id === id)
  if (!one) return NOTHING
  const points = [...one.values]
    .filter(([day]) => day >= from && day <= to)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([rate_date, { value, roundedTo }]) => ({ rate_date, value, ...roundingMark([roundedTo]) }))
  const holes = toIntervals(unsynchronized(one, { from, to, dollarSince }))
  const body = {
    provider: 'bccr',
    series_id: id,
    external_code: one.code,
    pair: `${one.base}/${one.quote}`,
    rate_type: one.rateType,
    date_from: from,
    date_to: to,
    count: points.length,
    ...(holes.length > 0 && { holes }),
    points,
  }
  return { status: 200, body }
}

type Leg = { series: ModelSeries; inverse: boolean }

function expectedConversion(model: RatesModel, question: Question & { kind: 'convert' }): Expected {
  const { from, to, type, on, amount } = question
  const path = findPath(model, from, to)
  if (!path) return NOTHING
  const legs: Leg[] = []
  for (const [at, target] of path.slice(1).entries()) {
    const leg = findLeg(model, { from: path[at] ?? '', to: target, type })
    if (!leg) return NOTHING
    legs.push(leg)
  }
  const days = legs.map(({ series }) => lastDay(series, on))
  if (days.includes(undefined)) return NOTHING
  const holes = legs.map(({ series }, at) => missingDays(series, days[at] ?? on, on))
  if (holes.flat().length > 0) {
    const each = [...holes, holes.flat()].filter((one) => one.length > 0)
    return { status: 404, details: [...new Set(each.map(missingMessage))] }
  }

  const rates = legs.map(({ series, inverse }, at) => {
    const rate_date = days[at] ?? on
    const { value = '1', roundedTo } = series.values.get(rate_date) ?? {}
    return {
      leg: {
        series_id: series.id,
        pair: `${series.base}/${series.quote}`,
        rate_type: series.rateType,
        rate_date,
        value,
        inverse,
        ...roundingMark([roundedTo]),
        ...coverageMark(series, rate_date, on),
      },
      roundedTo,
    }
  })
  const rate = pathRate(rates.map(({ leg }) => leg))
  const dollar = legs.find(({ series }) => series.quote === 'CRC' || series.base === 'CRC')
  const body = {
    provider: 'bccr',
    rate_date: rates.map(({ leg }) => leg.rate_date).toSorted()[0] ?? on,
    rate_type: dollar?.series.rateType ?? 'referencia',
    from_currency: from,
    to_currency: to,
    amount,
    rate,
    result: formatFraction(times(parseFraction(amount), parseFraction(rate))),
    path: path.length === 1 ? `${from} -> ${to}` : path.join(' -> '),
    via_pivot: path.length === 3,
    ...roundingMark(rates.map(({ roundedTo }) => roundedTo)),
    ...(question.details && { legs: rates.map(({ leg }) => leg) }),
  }
  return { status: 200, body }
}

/** Currencies of the path; a currency to itself has one. */
function findPath({ series }: RatesModel, from: string, to: string): string[] | undefined {
  const isPair = (a: string, b: string) =>
    series.some(({ base, quote }) => (base === a && quote === b) || (base === b && quote === a))
  if (from === to) {
    return series.some(({ base, quote }) => base === from || quote === from) ? [from] : undefined
  }
  if (isPair(from, to)) return [from, to]
  return isPair(from, PIVOT) && isPair(PIVOT, to) ? [from, PIVOT, to] : undefined
}

function findLeg(
  { series }: RatesModel,
  { from, to, type }: { from: string; to: string; type: string },
): Leg | undefined {
  for (const [base, quote] of [
    [from, to],
    [to, from],
  ]) {
    const sides = series.filter((one) => one.base === base && one.quote === quote)
    const only = sides.every(({ rateType }) => rateType === 'referencia')
    const side = only ? sides[0] : sides.find(({ rateType }) => rateType === type)
    if (side) return { series: side, inverse: base !== from }
  }
  return undefined
}

/** Published value of a pair in its own direction, else 15 digits of the exact quotient (decisions#conversion). */
function pathRate(legs: readonly { value: string; inverse: boolean }[]): string {
  const [first] = legs
  if (legs.length === 1 && first && !first.inverse) return first.value
  if (!first) return '1'
  const factors: Fraction[] = legs.map(({ value, inverse }) =>
    inverse ? inverted(parseFraction(value)) : parseFraction(value),
  )
  return rounded(factors.reduce(times), 15)
}

/** Day of the last value on or before a day. */
function lastDay({ values }: ModelSeries, on: IsoDate): IsoDate | undefined {
  return [...values.keys()].reduce<IsoDate | undefined>(
    (last, day) => (day <= on && (last === undefined || day > last) ? day : last),
    undefined,
  )
}

/** Days after a value, up to `on`, that are not covered; days after the newest covered one do not count. */
function missingDays({ covered }: ModelSeries, day: IsoDate, on: IsoDate): IsoDate[] {
  const newest = newestDay(covered)
  const end = newest < on ? newest : on
  return end <= day ? [] : listDays(addDays(day, 1), end).filter((one) => !covered.has(one))
}

/** Newest of the days, or an empty text. */
function newestDay(days: ReadonlySet<IsoDate>): IsoDate {
  return [...days].reduce((last, one) => (one > last ? one : last), '')
}

/** `covered_to` of a value that answers for a day after the newest covered one. */
function coverageMark({ covered }: ModelSeries, day: IsoDate, on: IsoDate): { covered_to?: IsoDate } {
  const newest = newestDay(covered) || day
  return day < on && newest < on ? { covered_to: newest } : {}
}

function missingMessage(days: readonly IsoDate[]): string {
  const ascending = days.toSorted()
  return `the days from ${ascending[0]} to ${ascending.at(-1)} have not been synchronized`
}

/** `rounded_to` is the smallest number of decimals, and absent if every value is exact. */
function roundingMark(decimals: readonly (number | undefined)[]): { rounded_to?: number } {
  const rounding = decimals.filter((one) => one !== undefined)
  return rounding.length === 0 ? {} : { rounded_to: Math.min(...rounding) }
}
