// Published data of the fake bank: its indicators, and their value on each day.

import { DOLLAR_TABLE, PARITY_TABLE } from '../providers/bccr/catalogue.ts'
import { dayNumber, type IsoDate } from '../values/dates.ts'
import { FIRST_DAY, inventedDayValue, inventedSeries, isHoliday } from './invented-rates.ts'

/** Returns a text to publish verbatim, null for a day without a value, or undefined for the invented value. */
export type ValueOverride = (code: string, day: IsoDate) => string | null | undefined

/** `unit` and `periodicity` are in its metadata alone. */
export type Indicator = { code: string; name: string; unit?: string; periodicity?: string }

export type Books = {
  /** Returns undefined for an unknown table. */
  listIndicators(table: string): Indicator[] | undefined
  find(code: string): Indicator | undefined
  /** Returns undefined for a day without a row, null for a row without a value. */
  valueOn(code: string, day: number, iso: IsoDate): string | null | undefined
  /** Returns the last day that may have a value. */
  lastDay(): number
  firstDay: number
}

export function createBooks(options: {
  today: () => IsoDate
  value?: ValueOverride
  codes?: readonly string[]
  names?: Record<string, string>
  indicators?: readonly Indicator[]
}): Books {
  const names = new Map(inventedSeries.map(({ code, name }) => [code, name]))
  for (const [code, name] of Object.entries(options.names ?? {})) names.set(code, name)
  const createIndicator = (code: string) => ({ code, name: names.get(code) ?? `Indicador ${code}` })
  const listCodes = (table: string) =>
    inventedSeries.filter((series) => series.table === table).map(({ code }) => code)
  const tables = new Map([
    [DOLLAR_TABLE, listCodes(DOLLAR_TABLE).map(createIndicator)],
    [PARITY_TABLE, (options.codes ?? listCodes(PARITY_TABLE)).map(createIndicator)],
  ])
  const all = [...tables.values(), options.indicators ?? []].flat()
  const indicators = new Map(all.map((indicator) => [indicator.code, indicator]))
  const dollars = new Set(listCodes(DOLLAR_TABLE))

  return {
    listIndicators: (table) => tables.get(table),
    find: (code) => indicators.get(code),
    valueOn(code, day, iso) {
      const other = options.value?.(code, iso)
      if (other !== undefined) return other
      // The dollar's value is published the evening before, a parity's on its day (upstream 4).
      const last = dayNumber(options.today()) + (dollars.has(code) ? 1 : 0)
      if (day > last || day < FIRST_DAY) return undefined
      return inventedDayValue(code, day) ?? (isHoliday(day) ? null : undefined)
    },
    lastDay: () => dayNumber(options.today()) + 1,
    firstDay: FIRST_DAY,
  }
}
