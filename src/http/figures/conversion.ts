// Conversions: their parameters, and their answer as JSON.

import * as v from 'valibot'
import type { ConversionResult } from '../../domain/rates/conversions.ts'
import type { ValuedLeg } from '../../domain/rates/convert.ts'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import {
  AsOfOut,
  Day,
  DecimalText,
  Integer,
  LastCoveredDay,
  Pair,
  RateTypeOut,
  Rounding,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'
import {
  AmountParam,
  CurrencyParam,
  DecimalsParam,
  OnParam,
  ProviderParam,
  RateTypeParam,
  RoundingParam,
} from '../endpoint/params.ts'
import { FutureOut } from './future.ts'

/** Parameters of a conversion, as text. */
export const CONVERSION = {
  amount: AmountParam,
  from: CurrencyParam,
  to: CurrencyParam,
  provider: v.optional(ProviderParam, DEFAULT_PROVIDER.code),
  type: v.optional(RateTypeParam, 'venta'),
  on: v.optional(OnParam),
  decimals: v.optional(DecimalsParam),
  rounding: v.optional(RoundingParam),
}

export const ConversionOut = titledObject('Conversion', {
  provider: v.string(),
  rate_date: Day,
  rate_type: RateTypeOut,
  from_currency: v.string(),
  to_currency: v.string(),
  amount: DecimalText,
  rate: DecimalText,
  result: DecimalText,
  path: v.pipe(v.string(), v.metadata({ examples: ['JPY -> USD -> CRC'] })),
  via_pivot: v.boolean(),
  rounded_to: Rounding,
  legs: v.optional(
    withDescription(
      v.array(
        v.object({
          series_id: Integer,
          pair: Pair,
          rate_type: RateTypeOut,
          rate_date: Day,
          value: DecimalText,
          inverse: withDescription(v.boolean(), 'Whether the value was divided by'),
          rounded_to: Rounding,
          covered_to: LastCoveredDay,
        }),
      ),
      'The published values that the rate was computed from, with details=true',
    ),
  ),
  future: FutureOut,
  as_of: AsOfOut,
})

export type ConversionQuery = {
  provider: string
  from: string
  to: string
  amount: string
  details: boolean
  /** The day is after tomorrow. */
  isFuture?: true | undefined
  as_of?: string | undefined
}

/** Encodes a conversion. */
export function conversionOut(conversion: ConversionResult, query: ConversionQuery) {
  return {
    provider: query.provider,
    rate_date: conversion.rateDate,
    rate_type: conversion.rateType,
    from_currency: query.from,
    to_currency: query.to,
    amount: query.amount,
    rate: conversion.rate,
    result: conversion.result,
    path: conversion.path.join(' -> '),
    via_pivot: conversion.legs.length > 1,
    rounded_to: conversion.roundedTo,
    legs: query.details ? conversion.legs.map(legOut) : undefined,
    future: query.isFuture,
    as_of: query.as_of,
  }
}

/** Returns the JSON before the amount and after the result: the same for all amounts. */
export function splitConversion(
  conversion: ConversionResult,
  query: ConversionQuery,
): { before: string; after: string } {
  const { provider, rate_date, rate_type, from_currency, to_currency, ...rest } = conversionOut(
    conversion,
    query,
  )
  const { amount: _amount, rate: _rate, result: _result, ...after } = rest
  const before = { provider, rate_date, rate_type, from_currency, to_currency }
  return { before: JSON.stringify(before).slice(0, -1), after: JSON.stringify(after).slice(1) }
}

/** Joins the JSON. Decimals are canonical, so nothing needs an escape. */
export function withAmount(
  { before, after }: { before: string; after: string },
  amount: string,
  rate: string,
  result: string,
): string {
  return `${before},"amount":"${amount}","rate":"${rate}","result":"${result}",${after}`
}

function legOut({ series, inverse, point, lastCoveredDay }: ValuedLeg) {
  return {
    series_id: series.id,
    pair: `${series.base_currency}/${series.quote_currency}`,
    rate_type: series.rate_type,
    rate_date: point.rate_date,
    value: point.value,
    inverse,
    rounded_to: point.rounded_to,
    covered_to: lastCoveredDay,
  }
}
