// What the endpoints must answer over what is known of each series (decisions 2.6 to 2.9), field by field. Written
// from the decisions, not from the program; where they are silent, more than one answer is right.

import { addDays, dayOf, type IsoDate } from '../../../src/dates.ts'
import { decimalOf, type Fraction, fractionOf, inverted, rounded, times } from '../../domain/support.ts'
import { daysFrom } from './memory-bank.ts'
import type { ModelSeries, RatesModel } from './rates-model.ts'

/** Headers that say what an answer cannot, by name. */
export type Notes = Partial<Record<'x-left-out' | 'x-future', string>>

/** A 404's `details` are the texts that are right; undefined: any. */
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
/** No side is waited for longer than so many days. */
const PATIENCE_DAYS = 3
const NOTHING: Expected = { status: 404, details: undefined }

/** The question as a path. */
export function pathOf(question: Question): string {
  const { kind, ...parameters } = question
  if (question.kind === 'history') {
    return `/api/v1/series/${question.id}/history?from=${question.from}&to=${question.to}`
  }
  const path = kind === 'latest' ? 'rates/latest' : kind
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
  return `/api/v1/${path}?${query.join('&')}`
}

/** What must be answered on a day. */
export function expectedOf(model: RatesModel, question: Question, today: IsoDate): Expected {
  const future = 'on' in question && question.on > addDays(today, 1)
  switch (question.kind) {
    case 'latest':
      return markedFuture(latestOf(model, question), future)
    case 'rates': {
      const leftOut = leftOutOf(model, question)
      const notes: Notes = {
        ...(leftOut.length > 0 && { 'x-left-out': leftOut.join(',') }),
        ...(future && { 'x-future': 'true' }),
      }
      return { status: 200, body: ratesOf(model, question), notes }
    }
    case 'history':
      return historyOf(model, question)
    case 'convert':
      return markedFuture(conversionOf(model, question), future)
  }
}

function markedFuture(expected: Expected, future: boolean): Expected {
  if (expected.status !== 200 || !future) return expected
  return { status: 200, body: { ...(expected.body as object), future: true } }
}

function latestOf({ series }: RatesModel, { base, quote, on }: Question & { kind: 'latest' }): Expected {
  const sides = series.filter((one) => one.base === base && one.quote === quote)
  const day = dayOfPair(sides, on)
  if (day === undefined) return NOTHING
  const shown = sides.filter(({ values }) => values.has(day))
  const holes = new Set(shown.flatMap((side) => holesOf(side, day, on)))
  if (holes.size > 0) return { status: 404, details: [wordsOf([...holes])] }
  const shownAs = (type: string) =>
    shown.find(({ rateType }) => rateType === type)?.values.get(day)?.value ?? null
  const missing = sides
    .filter(({ values, covered }) => !values.has(day) && !covered.has(day))
    .map(({ rateType }) => rateType)
  const body = {
    provider: 'bccr',
    pair: `${base}/${quote}`,
    rate_date: day,
    compra: shownAs('compra'),
    venta: shownAs('venta'),
    referencia: shownAs('referencia'),
    ...markOf(shown.map(({ values }) => values.get(day)?.roundedTo)),
    ...(missing.length > 0 && { missing }),
  }
  return { status: 200, body }
}

/** The newest day for which all enabled sides are settled, unless that is too old (decisions 2.6). */
function dayOfPair(sides: readonly ModelSeries[], on: IsoDate): IsoDate | undefined {
  const days = [...new Set(sides.flatMap(({ values }) => [...values.keys()]))]
    .filter((day) => day <= on)
    .toSorted()
  const newest = days.at(-1)
  const enabled = sides.filter((side) => side.enabled)
  const settled = days.findLast((day) => enabled.every((side) => isSettled(side, day)))
  if (newest === undefined || settled === undefined) return newest
  return dayOf(newest) - dayOf(settled) > PATIENCE_DAYS ? newest : settled
}

function isSettled({ values, covered }: ModelSeries, day: IsoDate): boolean {
  return values.has(day) || covered.has(day) || [...values.keys()].some((later) => later > day)
}

function ratesOf({ series }: RatesModel, { on, exact }: Question & { kind: 'rates' }): unknown[] {
  return series.flatMap((one) => {
    const day = lastDay(one, on)
    if (day === undefined || (exact && day !== on) || holesOf(one, day, on).length > 0) return []
    const found = one.values.get(day)
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
        value: found?.value,
        ...markOf([found?.roundedTo]),
      },
    ]
  })
}

/** The series without a row, of which a day between its last value and `on`, or that day itself, is not synchronized. */
function leftOutOf(
  { series, dollarSince }: RatesModel,
  { on, exact }: Question & { kind: 'rates' },
): number[] {
  return series
    .filter((one) => {
      const day = lastDay(one, on)
      if (day === undefined || exact)
        return day !== on && unsynchronized(one, { from: on, to: on, dollarSince }).length > 0
      return holesOf(one, day, on).length > 0
    })
    .map(({ id }) => id)
}

/**
 * Days of a range that were not synchronized, for lists: those not covered before the newest covered day, or all where none
 * is, but none before the history begins (decisions 2.6). The dollar's begins on the bank's first day; a parity's with its first value, where
 * the 366 days before are covered.
 */
function unsynchronized(
  { code, values, covered }: ModelSeries,
  { from, to, dollarSince }: { from: IsoDate; to: IsoDate; dollarSince: IsoDate },
): IsoDate[] {
  const newest = [...covered].reduce((last, one) => (one > last ? one : last), '')
  const first = [...values.keys()].toSorted()[0]
  const isBegun =
    first !== undefined && daysFrom(addDays(first, -366), addDays(first, -1)).every((day) => covered.has(day))
  const begin = ['317', '318'].includes(code) ? dollarSince : isBegun ? first : undefined
  return daysFrom(from, to).filter(
    (day) =>
      !covered.has(day) && (covered.size === 0 || day < newest) && (begin === undefined || day >= begin),
  )
}

/** Days as intervals. */
function intervalsIn(days: readonly IsoDate[]): { from: IsoDate; to: IsoDate }[] {
  const intervals: { from: IsoDate; to: IsoDate }[] = []
  for (const day of days) {
    const last = intervals.at(-1)
    if (last && addDays(last.to, 1) === day) last.to = day
    else intervals.push({ from: day, to: day })
  }
  return intervals
}

function historyOf(
  { series, dollarSince }: RatesModel,
  { id, from, to }: Question & { kind: 'history' },
): Expected {
  const one = series.find((candidate) => candidate.id === id)
  if (!one) return NOTHING
  const points = [...one.values]
    .filter(([day]) => day >= from && day <= to)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([rate_date, { value, roundedTo }]) => ({ rate_date, value, ...markOf([roundedTo]) }))
  const holes = intervalsIn(unsynchronized(one, { from, to, dollarSince }))
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

function conversionOf(model: RatesModel, question: Question & { kind: 'convert' }): Expected {
  const { from, to, type, on, amount } = question
  const path = pathBetween(model, from, to)
  if (!path) return NOTHING
  const legs: Leg[] = []
  for (const [at, target] of path.slice(1).entries()) {
    const leg = legBetween(model, { from: path[at] ?? '', to: target, type })
    if (!leg) return NOTHING
    legs.push(leg)
  }
  const days = legs.map(({ series }) => lastDay(series, on))
  if (days.includes(undefined)) return NOTHING
  const holes = legs.map(({ series }, at) => holesOf(series, days[at] ?? on, on))
  if (holes.flat().length > 0) {
    const each = [...holes, holes.flat()].filter((one) => one.length > 0)
    return { status: 404, details: [...new Set(each.map(wordsOf))] }
  }

  const used = legs.map(({ series, inverse }, at) => {
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
        ...markOf([roundedTo]),
      },
      roundedTo,
    }
  })
  const rate = rateOf(used.map(({ leg }) => leg))
  const dollar = legs.find(({ series }) => series.quote === 'CRC' || series.base === 'CRC')
  const body = {
    provider: 'bccr',
    rate_date: used.map(({ leg }) => leg.rate_date).toSorted()[0] ?? on,
    rate_type: dollar?.series.rateType ?? 'referencia',
    from_currency: from,
    to_currency: to,
    amount,
    rate,
    result: decimalOf(times(fractionOf(amount), fractionOf(rate))),
    path: path.length === 1 ? `${from} -> ${to}` : path.join(' -> '),
    via_pivot: path.length === 3,
    ...markOf(used.map(({ roundedTo }) => roundedTo)),
    ...(question.details && { legs: used.map(({ leg }) => leg) }),
  }
  return { status: 200, body }
}

/** The currencies on the way; one for a currency into itself. */
function pathBetween({ series }: RatesModel, from: string, to: string): string[] | undefined {
  const isPair = (a: string, b: string) =>
    series.some(({ base, quote }) => (base === a && quote === b) || (base === b && quote === a))
  if (from === to) {
    return series.some(({ base, quote }) => base === from || quote === from) ? [from] : undefined
  }
  if (isPair(from, to)) return [from, to]
  return isPair(from, PIVOT) && isPair(PIVOT, to) ? [from, PIVOT, to] : undefined
}

function legBetween(
  { series }: RatesModel,
  { from, to, type }: { from: string; to: string; type: string },
): Leg | undefined {
  for (const [base, quote] of [
    [from, to],
    [to, from],
  ]) {
    const sides = series.filter((one) => one.base === base && one.quote === quote)
    const only = sides.every(({ rateType }) => rateType === 'referencia')
    const found = only ? sides[0] : sides.find(({ rateType }) => rateType === type)
    if (found) return { series: found, inverse: base !== from }
  }
  return undefined
}

/** The published value of a pair in its own direction, else 15 digits of the exact quotient (decisions 2.9). */
function rateOf(legs: readonly { value: string; inverse: boolean }[]): string {
  const [first] = legs
  if (legs.length === 1 && first && !first.inverse) return first.value
  if (!first) return '1'
  const factors: Fraction[] = legs.map(({ value, inverse }) =>
    inverse ? inverted(fractionOf(value)) : fractionOf(value),
  )
  return rounded(factors.reduce(times), 15)
}

/** The day of the last value on or before a day. */
function lastDay({ values }: ModelSeries, on: IsoDate): IsoDate | undefined {
  return [...values.keys()].reduce<IsoDate | undefined>(
    (last, day) => (day <= on && (last === undefined || day > last) ? day : last),
    undefined,
  )
}

/** The days after a value, up to `on`, that are not covered; what is after the newest covered day is none. */
function holesOf({ covered }: ModelSeries, day: IsoDate, on: IsoDate): IsoDate[] {
  const newest = [...covered].reduce((last, one) => (one > last ? one : last), '')
  const end = newest < on ? newest : on
  return end <= day ? [] : daysFrom(addDays(day, 1), end).filter((one) => !covered.has(one))
}

function wordsOf(days: readonly IsoDate[]): string {
  const sorted = days.toSorted()
  return `the days from ${sorted[0]} to ${sorted.at(-1)} have not been synchronized`
}

/** `rounded_to` is the smallest, and absent when every value is exact. */
function markOf(decimals: readonly (number | undefined)[]): { rounded_to?: number } {
  const rounding = decimals.filter((one) => one !== undefined)
  return rounding.length === 0 ? {} : { rounded_to: Math.min(...rounding) }
}
