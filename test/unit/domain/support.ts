// Columns and series made by hand, and fractions to check a calculation against.

import { type Column, type CoveredDays, makeColumn } from '../../../src/domain/rates/column.ts'
import type { RateType } from '../../../src/providers/provider.ts'
import type { SeriesRow } from '../../../src/store/rates/series.ts'
import { dayNumber, type IsoDate } from '../../../src/values/dates.ts'

/** A column of the days given, in their order. */
export function makeTestColumn(values: Record<IsoDate, string>): Column {
  return makeColumn(Int32Array.from(Object.keys(values), dayNumber), Object.values(values))
}

/** Returns a column that was requested on each day from its first one to a day long after its last. */
export function makeCoveredColumn(values: Record<IsoDate, string>): { column: Column; covered: CoveredDays } {
  const column = makeTestColumn(values)
  const first = column.days[0]
  return { column, covered: Int32Array.from(first === undefined ? [] : [first, dayNumber('2999-12-31')]) }
}

export function makeSeries(id: number, base: string, quote: string, rateType: RateType): SeriesRow {
  return {
    id,
    provider_id: 1,
    external_code: String(300 + id),
    name: `${base} ${quote}`,
    base_currency: base,
    quote_currency: quote,
    rate_type: rateType,
    unit: null,
    periodicity: null,
    enabled: true,
    revision: 1,
    first_data_date: null,
    last_data_date: null,
  }
}

/** An exact fraction of whole numbers. */
export type Fraction = { over: bigint; under: bigint }

/** The exact value of a plain decimal text. */
export function parseFraction(text: string): Fraction {
  const [whole = '', decimals = ''] = text.replace('+', '').split('.')
  return { over: BigInt(whole + decimals), under: 10n ** BigInt(decimals.length) }
}

export function times(a: Fraction, b: Fraction): Fraction {
  return { over: a.over * b.over, under: a.under * b.under }
}

export function inverted({ over, under }: Fraction): Fraction {
  return { over: under, under: over }
}

/** Written out in full; the fraction must have an end in decimals. */
export function formatFraction({ over, under }: Fraction): string {
  let shift = 0
  let rest = over
  while (rest % under !== 0n) {
    rest *= 10n
    shift += 1
    if (shift > 300) throw new Error('no end in decimals')
  }
  return formatScaled(rest / under, shift)
}

/** Rounds a positive fraction once, half to even, to `digits` significant digits. */
export function rounded({ over, under }: Fraction, digits: number): string {
  // Scales until the whole part has exactly the digits wanted.
  let shift = digits - (String(over).length - String(under).length)
  for (;;) {
    const top = shift >= 0 ? over * 10n ** BigInt(shift) : over
    const bottom = shift >= 0 ? under : under * 10n ** BigInt(-shift)
    const whole = top / bottom
    const length = String(whole).length
    if (length > digits) {
      shift -= length - digits
      continue
    }
    if (length < digits) {
      shift += digits - length
      continue
    }
    const twice = (top % bottom) * 2n
    const up = twice > bottom || (twice === bottom && whole % 2n === 1n)
    return formatScaled(whole + (up ? 1n : 0n), shift)
  }
}

/** The number `digits / 10 ** shift` in canonical form. */
function formatScaled(digits: bigint, shift: number): string {
  if (shift <= 0) return String(digits * 10n ** BigInt(-shift))
  const text = String(digits).padStart(shift + 1, '0')
  const decimals = text.slice(-shift).replace(/0+$/, '')
  return text.slice(0, -shift) + (decimals === '' ? '' : `.${decimals}`)
}
