// Writes a conversion as one line of plain text, which an accountant pastes beside an entry as its support.

import type { Formats } from '../formats.ts'

/**
 * Published value that a rate was computed from. `inverse`: it was divided by. `covered_to`: the newest synchronized day,
 * if it is before the requested one.
 */
export type ConversionLeg = {
  pair: string
  rate_type: 'compra' | 'venta' | 'referencia'
  rate_date: string
  value: string
  inverse: boolean
  covered_to?: string
}
export type SupportedConversion = {
  /** Amount and result with their signs. */
  amount: string
  source: string
  result: string
  target: string
  legs: readonly ConversionLeg[]
  /** Milliseconds, when the server answered. */
  at: number
}
export type SupportTexts = {
  sides: Record<'compra' | 'venta' | 'referencia', string>
  rateSource: string
  dataAsOf: (day: string, time: string) => string
}

/** Returns the line with plain spaces. */
export function supportLine(conversion: SupportedConversion, formats: Formats, texts: SupportTexts): string {
  const { amount, source, result, target, legs, at } = conversion
  const { accounting, exact, instant, time } = formats
  const equation = `${accounting(amount, exact)} ${source} = ${accounting(result, formats.result)} ${target}`
  const [day = ''] = instant(at).split(',')
  const route = legs
    .map((leg, index) => `${legOperator(leg, index)}${legText(leg, formats, texts)}`)
    .join(' ')
  const parts = [equation, route, texts.rateSource, texts.dataAsOf(day, time(at))]
  return parts
    .filter((part) => part !== '')
    .join(' · ')
    .replace(/\s/g, ' ')
}

/** Returns the name of a leg: its pair, and its side if there are two. */
export function legName({ pair, rate_type }: ConversionLeg, sides: SupportTexts['sides']): string {
  return rate_type === 'referencia' ? pair : `${pair} ${sides[rate_type].toLowerCase()}`
}

export function legOperator({ inverse }: ConversionLeg, index: number): string {
  if (inverse) return '÷ '
  return index === 0 ? '' : '× '
}

function legText(leg: ConversionLeg, { exact, day }: Formats, { sides }: SupportTexts): string {
  return `${legName(leg, sides)} ${exact(leg.value)} (${day(leg.rate_date)})`
}
