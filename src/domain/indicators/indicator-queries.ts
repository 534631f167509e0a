// Queries of the stored indicators: the value that answers for a day, a history, and the counter rates by entity.

import type { IndicatorKind } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import type { IsoDate } from '../../values/dates.ts'
import { foldAccents } from '../../values/folded-text.ts'
import { findHoles } from '../rates/holes.ts'
import { type ColumnHistory, dayHoleError } from '../rates/queries.ts'
import { dayHole, knownRateOn, pointRange } from '../rates/rates.ts'
import type { DescribedIndicator } from './catalogue.ts'
import type { IndicatorSnapshot } from './reader.ts'

export type IndicatorFilter = {
  kind?: IndicatorKind | undefined
  entity?: string | undefined
  only_enabled?: boolean | undefined
}

/** `newest_value`: value of `newest_date`, with details alone. */
export type IndicatorWithValue = DescribedIndicator & { newest_value?: string | null }

/** Last value on or before a day. */
export type IndicatorLatest = { indicator: DescribedIndicator; value_date: IsoDate; value: string }

export type IndicatorHistory = ColumnHistory & { indicator: DescribedIndicator }

/** Counter rates of an entity. The days of both sides may differ; a side without a value is null. */
export type CounterRates = {
  entity: string
  kind: string
  compra: string | null
  compra_date: IsoDate | null
  venta: string | null
  venta_date: IsoDate | null
}

/** `leftOut`: codes without a value because days were not synchronized. */
export type CounterTable = { counters: CounterRates[]; leftOut: string[] }

/** Lists the indicators that match, by code as a number. */
export function filterIndicators(
  { indicators }: IndicatorSnapshot,
  { kind, entity, only_enabled: onlyEnabled = false }: IndicatorFilter,
): DescribedIndicator[] {
  return indicators.filter(
    (one) =>
      (kind === undefined || one.kind === kind) &&
      (!onlyEnabled || one.enabled) &&
      (entity === undefined || isEntity(one.entity, entity)),
  )
}

/** Lists the indicators that match, with their newest values if `details` is true. */
export function indicatorsWithValues(
  present: IndicatorSnapshot,
  { details, ...filter }: IndicatorFilter & { details: boolean },
): IndicatorWithValue[] {
  const indicators = filterIndicators(present, filter)
  if (!details) return indicators
  return indicators.map((one) => ({ ...one, newest_value: present.newestValues.get(one.code) ?? null }))
}

/**
 * Returns the last value on or before a day, with its own day. So a monthly value is not carried to later days.
 * @throws AppError `not-found`: not enabled, no value, or days that were not synchronized
 */
export async function latestIndicator(
  present: IndicatorSnapshot,
  { code: word, day }: { code: string; day: IsoDate },
): Promise<IndicatorLatest> {
  const indicator = requireIndicator(present, word)
  const days = await present.days(indicator.code)
  const point = knownRateOn(days.column, days.covered, day)
  if (point && 'hole' in point) throw dayHoleError(point)
  if (point) return { indicator, value_date: point.rate_date, value: point.value }
  if (!indicator.enabled) throw notEnabledError(indicator.code)
  const [hole] = findHoles([days], { from: day, to: day }) ?? []
  if (hole) throw dayHoleError(dayHole(hole, [days]))
  throw new AppError('not-found', `No value of the indicator ${indicator.code} is stored on or before ${day}`)
}

/** Returns the values of a range. @throws AppError `not-found` for an indicator that was never enabled */
export async function indicatorHistory(
  present: IndicatorSnapshot,
  { code: word, from, to, last }: { code: string; from: IsoDate; to: IsoDate; last: IsoDate },
): Promise<IndicatorHistory> {
  const indicator = requireIndicator(present, word)
  const days = await present.days(indicator.code)
  return {
    ...{ indicator, from, to, column: days.column },
    ...pointRange(days.column, from, last),
    holes: findHoles([days], { from, to: last }),
  }
}

/**
 * Returns the counter rates of the enabled counters, by entity.
 * @throws AppError `not-found` for an instant before the change logs of all counters that match
 */
export async function counterRates(
  present: IndicatorSnapshot,
  { day, entity }: { day: IsoDate; entity?: string | undefined },
): Promise<CounterTable> {
  const groups = new Map(present.named.map(({ code, group = '' }) => [code, group]))
  const byEntity = new Map<string, CounterRates>()
  const leftOut: string[] = []
  const counters = filterIndicators(present, { kind: 'counter', entity })
  const enabledCounters = counters.filter(({ enabled }) => enabled)
  // Rejects an instant before all their change logs.
  if (enabledCounters.length === 0 && counters[0]) await present.days(counters[0].code)
  for (const one of enabledCounters) {
    const { code, entity: name = '', side = 'compra' } = one
    const row = byEntity.getOrInsertComputed(name, () => ({
      ...{ entity: name, kind: groups.get(code) ?? '' },
      ...{ compra: null, compra_date: null, venta: null, venta_date: null },
    }))
    const days = await present.days(code)
    const point = knownRateOn(days.column, days.covered, day)
    if (point && !('hole' in point)) {
      Object.assign(row, { [side]: point.value, [`${side}_date`]: point.rate_date })
    } else if (point || findHoles([days], { from: day, to: day })?.length) leftOut.push(code)
  }
  const rows = [...byEntity.values()].sort((a, b) => (foldAccents(a.entity) < foldAccents(b.entity) ? -1 : 1))
  return { counters: rows, leftOut }
}

/** Finds an indicator by its code or key. @throws AppError `not-found` */
function requireIndicator({ indicators, named }: IndicatorSnapshot, word: string): DescribedIndicator {
  const key = word.toLowerCase()
  const code = named.find((one) => one.key === key)?.code ?? word
  const indicator = indicators.find((one) => one.code === code)
  if (indicator) return indicator
  if (/^\d+$/.test(code)) throw notEnabledError(code)
  throw new AppError('not-found', `There is no indicator ${word}`, {
    reason: 'no_indicator',
    advice: { about: 'indicators' },
  })
}

function notEnabledError(code: string): AppError {
  return new AppError('not-found', `not enabled: cambista indicator enable ${code}`, {
    reason: 'no_indicator',
  })
}

function isEntity(name: string | undefined, text: string): boolean {
  return name !== undefined && foldAccents(name).includes(foldAccents(text.trim()))
}
