// Names the published series from which a pair is computed: its own, or those of both currencies in dollars.

import { foreignCurrency, pairCode } from '../rates/currencies.ts'

export type SourceSeries = {
  base_currency: string
  quote_currency: string
  rate_type: 'compra' | 'venta' | 'referencia'
  /** Indicator of the bank. */
  external_code: string
}
export type SourceTexts = {
  sides: Record<'compra' | 'venta' | 'referencia', string>
  rate: string
  indicators: (codes: string) => string
  parity: (pairs: string, count: number) => string
  and: string
}

const PIVOT = 'USD'

/** Returns the series of the legs; the colón has two, of its sides. */
export function routeSeries<S extends SourceSeries>(series: readonly S[], base: string, quote: string): S[] {
  const between = (a: string, b: string) =>
    series.filter((one) => [`${a}/${b}`, `${b}/${a}`].includes(pairCode(one)))
  const direct = between(base, quote)
  if (direct.length > 0 || base === quote) return direct
  return [...between(base, PIVOT), ...between(PIVOT, quote)]
}

/** Describes the series, as `tipo de cambio de referencia (indicadores 317, compra, y 318, venta) y paridad EUR/USD`. */
export function sourceText(series: readonly SourceSeries[], texts: SourceTexts): string {
  const { sides, rate, and } = texts
  const codes = joinWords(
    series
      .filter(isDollar)
      .map(({ external_code, rate_type }) => `${external_code}, ${sides[rate_type].toLowerCase()},`),
    and,
  ).replace(/,$/, '')
  const dollar = codes === '' ? [] : [`${rate} (${texts.indicators(codes)})`]
  return joinWords([...dollar, ...parityTexts(series, texts)], and)
}

/** Describes the series in short, as `indicadores 317 y 318 y paridad EUR/USD`. */
export function shortSourceText(series: readonly SourceSeries[], texts: SourceTexts): string {
  const codes = joinWords(
    series.filter(isDollar).map(({ external_code }) => external_code),
    texts.and,
  )
  const dollar = codes === '' ? [] : [texts.indicators(codes)]
  return joinWords([...dollar, ...parityTexts(series, texts)], texts.and)
}

/** Name of a series: its pair, and its side if there are two. */
export function seriesTitle(series: SourceSeries, sides: SourceTexts['sides']): string {
  const { rate_type } = series
  return rate_type === 'referencia'
    ? pairCode(series)
    : `${pairCode(series)} ${sides[rate_type].toLowerCase()}`
}

function parityTexts(series: readonly SourceSeries[], { parity, and }: SourceTexts): string[] {
  const pairs = series.filter((one) => !isDollar(one)).map(pairCode)
  return pairs.length === 0 ? [] : [parity(joinWords(pairs, and), pairs.length)]
}

function isDollar(series: SourceSeries): boolean {
  return foreignCurrency(series) === PIVOT
}

function joinWords(words: readonly string[], and: string): string {
  const [last = '', ...rest] = [...words].reverse()
  return rest.length === 0 ? last : `${rest.reverse().join(', ')} ${and} ${last}`
}
