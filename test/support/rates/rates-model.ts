// A model of the known days of each series. Its input is the requests to the bank and its answers, not the program's
// storage. Written from decisions#series and #day, not from the program.
//
// Where the decisions leave a choice, it takes the one with fewer known days.
// - A rejected row makes its day unknown, even if an earlier answer had none for it.
// - A table that omits a series is requested twice in one run if it serves no single series.
// - An answer is fetched when its request is made.

import type {
  CatalogueSeries,
  FetchRequest,
  RateType,
  SourceAnswer,
  Window,
} from '../../../src/providers/provider.ts'
import { addDays, type IsoDate } from '../../../src/values/dates.ts'
import { parseFraction } from '../../unit/domain/support.ts'
import { listDays } from './memory-bank.ts'
import { FIRST_DAY } from './seeded-bank.ts'

/** A request and its valid answer. */
export type Exchange = {
  ask: FetchRequest
  /** True if the source serves single series. */
  supportsSingleSeries: boolean
  /** Day in Costa Rica on which the answer was fetched. */
  fetchedOn: IsoDate
  answer: SourceAnswer
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
  /** Days of this run whose table omitted the series, from a source without requests for a single series. */
  unlisted: Set<IsoDate>
}

export type RatesModel = {
  catalogue: readonly CatalogueSeries[]
  /** First day of the dollar's history. */
  dollarSince: IsoDate
  /** Series by id. */
  series: ModelSeries[]
}

/** A model before the first request. */
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

/** Text of a model; models of equal text give equal answers, now and later. */
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

/** Adds an answer to the model. */
export function keepAnswer(model: RatesModel, exchange: Exchange): void {
  const { ask, answer } = exchange
  learn(model, exchange)
  for (const series of model.series) {
    const isRequested =
      ask.indicator === undefined ? series.table === ask.table : series.code === ask.indicator
    if (!isRequested || !series.enabled) continue
    const rejected = keepRows(series, exchange)
    const lists = answer.listed.some(({ code }) => code === series.code)
    if (lists || rejected !== undefined) {
      cover(series, exchange, listDays(ask.window.from, ask.window.to), rejected)
    } else if (ask.indicator !== undefined && exchange.supportsSingleSeries) {
      cover(series, exchange, listDays(ask.window.from, ask.window.to), undefined)
    } else if (!exchange.supportsSingleSeries) {
      const days = listDays(ask.window.from, ask.window.to)
      const again = days.filter((day) => series.unlisted.has(day))
      cover(series, exchange, again, undefined)
      for (const day of days) series.unlisted.add(day)
    }
  }
}

/** Intervals of covered days, for a reader. */
export function coveredIntervals({ covered }: ModelSeries): Window[] {
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
  const emptyBook = { values: new Map(), covered: new Set<IsoDate>(), unlisted: new Set<IsoDate>() }
  model.series.push({ id, code, base, quote, rateType, table, enabled: true, ...emptyBook })
}

/** Finds a series of unknown code by its name (decisions#series). */
function learn(model: RatesModel, { ask, answer }: Exchange): void {
  for (const about of model.catalogue) {
    if (about.externalCode !== undefined || about.table !== ask.table) continue
    const match = answer.listed.find(({ name }) => name === about.name)
    if (match && !model.series.some(({ code }) => code === match.code)) addSeries(model, about, match.code)
  }
}

/** Days whose row was rejected; undefined: the answer has no row of the series. */
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

/** A rounded value does not replace an exact one within half a unit of it. */
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

/** True if two values differ by at most half a unit of the last of `decimals` decimals. */
function agrees(a: string, b: string, decimals: number): boolean {
  const one = parseFraction(a)
  const other = parseFraction(b)
  const difference = one.over * other.under - other.over * one.under
  const positive = difference < 0n ? -difference : difference
  return positive * 2n * 10n ** BigInt(decimals) <= one.under * other.under
}
