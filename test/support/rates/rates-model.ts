// What the bank was asked for and what it answered, and nothing of how the program keeps it: from that alone this
// model says which days of a series are known. Written from decisions 2.2 and 2.6, not from the program.
//
// What the decisions leave open is read so that never more is told than is known:
// - a row that is rejected makes its day unknown, also when an earlier answer had none for it;
// - a table that does not list a series is asked twice when both requests were made in one run and neither could be
//   for the series alone;
// - an answer is fetched when its request is made.

import { addDays, type IsoDate } from '../../../src/dates.ts'
import type {
  Answer,
  CatalogueSeries,
  FetchRequest,
  RateType,
  Window,
} from '../../../src/providers/provider.ts'
import { fractionOf } from '../../domain/support.ts'
import { daysFrom } from './memory-bank.ts'
import { FIRST_DAY } from './seeded-bank.ts'

/** One request and its valid answer. */
export type Exchange = {
  ask: FetchRequest
  /** Whether the source could be asked for one series alone. */
  supportsSingleSeries: boolean
  /** The day in Costa Rica on which the answer was fetched. */
  fetchedOn: IsoDate
  answer: Answer
}

export type ModelValue = { value: string; roundedTo: number | undefined }

export type ModelSeries = {
  id: number
  code: string
  base: string
  quote: string
  rateType: RateType
  table: string
  enabled: boolean
  values: Map<IsoDate, ModelValue>
  covered: Set<IsoDate>
  /** Days of this run whose table has not listed the series, where it could not be asked for alone. */
  unlisted: Set<IsoDate>
}

export type RatesModel = {
  catalogue: readonly CatalogueSeries[]
  /** The first day of the dollar's history. */
  dollarSince: IsoDate
  /** By id. */
  series: ModelSeries[]
}

/** Nothing was asked yet. */
export function createRatesModel(catalogue: readonly CatalogueSeries[]): RatesModel {
  const model: RatesModel = { catalogue, dollarSince: FIRST_DAY, series: [] }
  for (const one of catalogue) if (one.externalCode !== undefined) addSeries(model, one, one.externalCode)
  return model
}

export function copyOfModel(model: RatesModel): RatesModel {
  const series = model.series.map((one) => ({
    ...one,
    values: new Map(one.values),
    covered: new Set(one.covered),
    unlisted: new Set(one.unlisted),
  }))
  return { ...model, series }
}

/** Two models with the same text give the same answers, now and later. */
export function textOfModel({ series }: RatesModel): string {
  return JSON.stringify(
    series.map(({ values, covered, unlisted, ...rest }) => [
      rest,
      [...values].toSorted(([a], [b]) => (a < b ? -1 : 1)),
      [...covered].toSorted(),
      [...unlisted].toSorted(),
    ]),
  )
}

export function beginRun(model: RatesModel): void {
  for (const one of model.series) one.unlisted.clear()
}

/** Keeps what was answered. */
export function keepAnswer(model: RatesModel, exchange: Exchange): void {
  const { ask, answer } = exchange
  learn(model, exchange)
  for (const series of model.series) {
    const asked = ask.indicator === undefined ? series.table === ask.table : series.code === ask.indicator
    if (!asked || !series.enabled) continue
    const rejected = keepRows(series, exchange)
    const lists = answer.listed.some(({ code }) => code === series.code)
    if (lists || rejected !== undefined) {
      cover(series, exchange, daysFrom(ask.window.from, ask.window.to), rejected)
    } else if (ask.indicator !== undefined && exchange.supportsSingleSeries) {
      cover(series, exchange, daysFrom(ask.window.from, ask.window.to), undefined)
    } else if (!exchange.supportsSingleSeries) {
      const days = daysFrom(ask.window.from, ask.window.to)
      const again = days.filter((day) => series.unlisted.has(day))
      cover(series, exchange, again, undefined)
      for (const day of days) series.unlisted.add(day)
    }
  }
}

/** The intervals of days that are covered, for a reader. */
export function intervalsOf({ covered }: ModelSeries): Window[] {
  const intervals: Window[] = []
  for (const day of [...covered].toSorted()) {
    const last = intervals.at(-1)
    if (last && addDays(last.to, 1) === day) last.to = day
    else intervals.push({ from: day, to: day })
  }
  return intervals
}

function addSeries(model: RatesModel, about: CatalogueSeries, code: string): void {
  const { base, quote, rateType, table } = about
  const id = model.series.length + 1
  const known = { values: new Map(), covered: new Set<IsoDate>(), unlisted: new Set<IsoDate>() }
  model.series.push({ id, code, base, quote, rateType, table, enabled: true, ...known })
}

/** A series whose code is not known yet is found by its name (decisions 2.2). */
function learn(model: RatesModel, { ask, answer }: Exchange): void {
  for (const about of model.catalogue) {
    if (about.externalCode !== undefined || about.table !== ask.table) continue
    const found = answer.listed.find(({ name }) => name === about.name)
    if (found && !model.series.some(({ code }) => code === found.code)) addSeries(model, about, found.code)
  }
}

/** The days whose row was rejected; undefined: the answer has no row of the series. */
function keepRows(series: ModelSeries, { ask, answer, fetchedOn }: Exchange): Set<IsoDate> | undefined {
  let rejected: Set<IsoDate> | undefined
  for (const { code, day, value, roundedTo } of answer.observations) {
    if (code !== series.code) continue
    rejected ??= new Set()
    const inside = day >= ask.window.from && day <= ask.window.to && day <= addDays(fetchedOn, 1)
    if (inside && isPositiveDecimal(value)) keepValue(series, day, { value: canonical(value), roundedTo })
    else rejected.add(day)
  }
  return rejected
}

/** A rounded value does not replace an exact one that it agrees with within half a unit. */
function keepValue(series: ModelSeries, day: IsoDate, fresh: ModelValue): void {
  const old = series.values.get(day)
  const isExact = old !== undefined && old.roundedTo === undefined
  if (isExact && fresh.roundedTo !== undefined && agrees(old.value, fresh.value, fresh.roundedTo)) return
  series.values.set(day, fresh)
}

function cover(
  series: ModelSeries,
  { fetchedOn }: Exchange,
  days: readonly IsoDate[],
  rejected: ReadonlySet<IsoDate> | undefined,
): void {
  for (const day of days) {
    if (rejected?.has(day)) series.covered.delete(day)
    else if (series.values.has(day) || day <= fetchedOn) series.covered.add(day)
  }
}

function isPositiveDecimal(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text) && /[1-9]/.test(text)
}

function canonical(text: string): string {
  const [whole = '', decimals = ''] = text.split('.')
  const rest = decimals.replace(/0+$/, '')
  return whole.replace(/^0+(?=\d)/, '') + (rest === '' ? '' : `.${rest}`)
}

/** Whether two values differ by at most half a unit of the last of so many decimals. */
function agrees(a: string, b: string, decimals: number): boolean {
  const one = fractionOf(a)
  const other = fractionOf(b)
  const difference = one.over * other.under - other.over * one.under
  const positive = difference < 0n ? -difference : difference
  return positive * 2n * 10n ** BigInt(decimals) <= one.under * other.under
}
