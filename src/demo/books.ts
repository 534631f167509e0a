// What the stand-in bank has published: which indicators, and each one's value on each day.

import { dayOf, type IsoDate } from '../dates.ts'
import { DOLLAR_TABLE, PARITY_TABLE } from '../providers/bccr/catalogue.ts'
import { FIRST_DAY, inventedOn, inventedSeries, isHoliday } from './invented-rates.ts'

/** A text is published verbatim, null is a day without a value, undefined keeps the invented one. */
export type ValueOverride = (code: string, day: IsoDate) => string | null | undefined

export type Indicator = { code: string; name: string }

export type Books = {
  /** Undefined where there is no such table. */
  indicatorsOf(table: string): Indicator[] | undefined
  find(code: string): Indicator | undefined
  /** Undefined where nothing was published; null: a row without a value. */
  valueOn(code: string, day: number, iso: IsoDate): string | null | undefined
  /** No day after it has a value. */
  lastDay(): number
  firstDay: number
}

export function createBooks(options: {
  today: () => IsoDate
  value?: ValueOverride
  codes?: readonly string[]
  names?: Record<string, string>
}): Books {
  const names = new Map(inventedSeries.map(({ code, name }) => [code, name]))
  for (const [code, name] of Object.entries(options.names ?? {})) names.set(code, name)
  const named = (code: string) => ({ code, name: names.get(code) ?? `Indicador ${code}` })
  const codesOf = (table: string) =>
    inventedSeries.filter((series) => series.table === table).map(({ code }) => code)
  const tables = new Map([
    [DOLLAR_TABLE, codesOf(DOLLAR_TABLE).map(named)],
    [PARITY_TABLE, (options.codes ?? codesOf(PARITY_TABLE)).map(named)],
  ])
  const indicators = new Map([...tables.values()].flat().map((indicator) => [indicator.code, indicator]))
  const dollars = new Set(codesOf(DOLLAR_TABLE))

  return {
    indicatorsOf: (table) => tables.get(table),
    find: (code) => indicators.get(code),
    valueOn(code, day, iso) {
      const other = options.value?.(code, iso)
      if (other !== undefined) return other
      // The dollar's value is published the evening before, a parity's on its day (upstream 4).
      const last = dayOf(options.today()) + (dollars.has(code) ? 1 : 0)
      if (day > last || day < FIRST_DAY) return undefined
      return inventedOn(code, day) ?? (isHoliday(day) ? null : undefined)
    },
    lastDay: () => dayOf(options.today()) + 1,
    firstDay: FIRST_DAY,
  }
}
