// Invented values of the bank's 47 series since 1983, for the stand-in bank: smooth, plausible and the same on
// every machine, so that a test can ask what was published on any day.

import { dayOf, type IsoDate, isoOf } from '../dates.ts'
import { bccrCatalogue } from '../providers/bccr/catalogue.ts'

/** The real code of this one is not known; the bank's own name is. */
export const INVENTED_XDR_CODE = '99001'
export const FIRST_DAY = dayOf('1983-01-01')

export type InventedSeries = { code: string; name: string; table: string }

type Curve = { middle: number; swing: number; phase: number; scale: number }

const SUNDAY = 0
const MONDAY = 1
const SATURDAY = 6
const DAYS_A_YEAR = 365.25
// Without New Year, with which the stores of many tests begin.
const HOLIDAYS = new Set(['04-11', '05-01', '07-25', '08-02', '08-15', '09-15', '12-25'])
const holidays = new Map<number, boolean>()
const UNBOUNDED = { low: '120', high: '360' } // VES has no plausible plausibleRange: anything will do

export const inventedSeries: readonly InventedSeries[] = bccrCatalogue.map((series) => ({
  code: series.externalCode ?? INVENTED_XDR_CODE,
  name: series.name,
  table: series.table,
}))

const curves = new Map<string, Curve>(
  bccrCatalogue.map((series, index) => {
    const plausibleRange = series.plausibleRange ?? UNBOUNDED
    const low = Number(plausibleRange.low)
    const high = Number(plausibleRange.high)
    const middle = (low + high) / 2
    const decimals = Math.max(2, 5 - Math.floor(Math.log10(middle)))
    const curve = {
      middle,
      swing: Math.min(0.4 * (high - low), 0.12 * middle),
      phase: index * 1.7,
      scale: 10 ** decimals,
    }
    return [series.externalCode ?? INVENTED_XDR_CODE, curve]
  }),
)

/** The canonical value of a series on a day, or undefined: days before 1983, of parities weekends and holidays too. */
export function inventedValue(code: string, day: IsoDate): string | undefined {
  return inventedOn(code, dayOf(day))
}

/** Like `inventedValue`, for a day number. */
export function inventedOn(code: string, day: number): string | undefined {
  if (day < FIRST_DAY) return undefined
  if (code === '317') return dollar(day, -1)
  if (code === '318') return dollar(day, 1)
  const curve = curves.get(code)
  const weekday = weekdayOf(day)
  if (!curve || weekday === SUNDAY || weekday === SATURDAY || isHoliday(day)) return undefined
  const wave = 0.7 * Math.sin(day / 190 + curve.phase) + 0.28 * Math.sin(day / 23 + 2 * curve.phase)
  const value = curve.middle + curve.swing * (wave + 0.02 * noise(day + curve.middle))
  return String(Math.round(value * curve.scale) / curve.scale)
}

/** Whether a day number is one of the fixed holidays of Costa Rica, of which parities have a row without a value. */
export function isHoliday(day: number): boolean {
  return holidays.getOrInsertComputed(day, () => HOLIDAYS.has(isoOf(day).slice('2026-'.length)))
}

/** About 40 colones in 1983, 500 since 2006; the sale 1.2 percent above the purchase. */
function dollar(day: number, side: -1 | 1): string {
  const weekday = weekdayOf(day)
  // Sunday and Monday repeat Saturday (upstream 4).
  const published = weekday === SUNDAY ? day - 1 : weekday === MONDAY ? day - 2 : day
  const year = 1970 + published / DAYS_A_YEAR
  const level = 33 + 470 / (1 + Math.exp((1996 - year) / 3.2))
  const wave = 0.04 * Math.sin(year * 1.9) + 0.01 * Math.sin(year * 12.3) + 0.002 * noise(published)
  return String(Math.round(level * (1 + wave) * (1 + side * 0.006) * 100) / 100)
}

function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7 // 1970-01-01 was a Thursday
}

/** A repeatable number between -1 and 1. */
function noise(seed: number): number {
  const hashed = Math.sin(seed * 12.9898) * 43758.5453
  return 2 * (hashed - Math.floor(hashed)) - 1
}
