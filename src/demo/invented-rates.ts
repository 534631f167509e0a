// Invented values of the bank's 47 series since 1983, for the fake bank. Values are smooth, plausible and the same on
// each machine. Tests can compute the published value of a day.

import { bccrCatalogue } from '../providers/bccr/catalogue.ts'
import { dayNumber, type IsoDate, isoDate } from '../values/dates.ts'

/** Invented: the bank's code of XDR is not known, only its name. */
export const INVENTED_XDR_CODE = '99001'
export const FIRST_DAY = dayNumber('1983-01-01')

export type InventedSeries = { code: string; name: string; table: string }

type Curve = { middle: number; swing: number; phase: number; scale: number }

const SUNDAY = 0
const MONDAY = 1
const SATURDAY = 6
const DAYS_A_YEAR = 365.25
// Without New Year, the first day of many tests.
const HOLIDAYS = new Set(['04-11', '05-01', '07-25', '08-02', '08-15', '09-15', '12-25'])
const holidays = new Map<number, boolean>()
const UNBOUNDED = { low: '120', high: '360' } // for VES, without a plausible range

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

/** Returns the canonical value of a series on a day; undefined before 1983, and for parities on weekends and holidays. */
export function inventedValue(code: string, day: IsoDate): string | undefined {
  return inventedDayValue(code, dayNumber(day))
}

/** `inventedValue` for a day number. */
export function inventedDayValue(code: string, day: number): string | undefined {
  if (day < FIRST_DAY) return undefined
  if (code === '317') return dollar(day, -1)
  if (code === '318') return dollar(day, 1)
  const curve = curves.get(code)
  const weekday = weekdayNumber(day)
  if (!curve || weekday === SUNDAY || weekday === SATURDAY || isHoliday(day)) return undefined
  const wave = 0.7 * Math.sin(day / 190 + curve.phase) + 0.28 * Math.sin(day / 23 + 2 * curve.phase)
  const value = curve.middle + curve.swing * (wave + 0.02 * noise(day + curve.middle))
  return String(Math.round(value * curve.scale) / curve.scale)
}

/** Returns true for a fixed holiday of Costa Rica, when parities have a row without a value. */
export function isHoliday(day: number): boolean {
  return holidays.getOrInsertComputed(day, () => HOLIDAYS.has(isoDate(day).slice('2026-'.length)))
}

/** Returns about 40 colones in 1983, 500 since 2006; the sale is 1.2 percent above the purchase. */
function dollar(day: number, side: -1 | 1): string {
  const weekday = weekdayNumber(day)
  // Sunday and Monday repeat Saturday (upstream 4).
  const published = weekday === SUNDAY ? day - 1 : weekday === MONDAY ? day - 2 : day
  const year = 1970 + published / DAYS_A_YEAR
  const level = 33 + 470 / (1 + Math.exp((1996 - year) / 3.2))
  const wave = 0.04 * Math.sin(year * 1.9) + 0.01 * Math.sin(year * 12.3) + 0.002 * noise(published)
  return String(Math.round(level * (1 + wave) * (1 + side * 0.006) * 100) / 100)
}

function weekdayNumber(day: number): number {
  return (((day + 4) % 7) + 7) % 7 // 1970-01-01 was a Thursday
}

/** Returns a repeatable number between -1 and 1. */
function noise(seed: number): number {
  const hashed = Math.sin(seed * 12.9898) * 43758.5453
  return 2 * (hashed - Math.floor(hashed)) - 1
}
