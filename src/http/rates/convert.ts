import * as v from 'valibot'
import { type Converted, conversionOn } from '../../domain/rates/conversions.ts'
import type { ValuedLeg } from '../../domain/rates/convert.ts'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import type { AnyEndpoint } from '../api/endpoint.ts'
import { jsonForm } from '../api/forms.ts'
import {
  AmountParam,
  AsOfParam,
  booleanParam,
  CurrencyParam,
  OnParam,
  ProviderParam,
  RateTypeParam,
} from '../api/params.ts'
import { AsOfOut, Day, DecimalText, Pair, RateTypeOut, RoundedTo } from '../api/shapes.ts'
import type { StoredDeps } from '../api/stored.ts'
import { type AskedDay, askedDay, FutureOut, futureField, futureHeaders } from './future.ts'
import { type Columns, type Table, tableEndpoints } from './tables.ts'

/** What a conversion is of, as texts of a client. */
export const CONVERSION = {
  amount: AmountParam,
  from: CurrencyParam,
  to: CurrencyParam,
  provider: v.optional(ProviderParam, DEFAULT_PROVIDER.code),
  type: v.optional(RateTypeParam, 'venta'),
  on: v.optional(OnParam),
}

export const ConversionOut = v.pipe(
  v.object({
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
    rounded_to: RoundedTo,
    legs: v.optional(
      v.pipe(
        v.array(
          v.object({
            series_id: v.pipe(v.number(), v.integer()),
            pair: Pair,
            rate_type: RateTypeOut,
            rate_date: Day,
            value: DecimalText,
            inverse: v.pipe(v.boolean(), v.metadata({ description: 'Whether the value was divided by' })),
            rounded_to: RoundedTo,
          }),
        ),
        v.metadata({
          description: 'The published values that the rate was computed from, with details=true',
        }),
      ),
    ),
    future: FutureOut,
    as_of: AsOfOut,
  }),
  v.title('Conversion'),
)

export function convertEndpoints(deps: StoredDeps): AnyEndpoint[] {
  return tableEndpoints(
    deps,
    {
      path: '/api/v1/convert',
      summary: 'Conversion of an amount, through the dollar where no series leads directly',
      about:
        'By one published value, forward or inverse, or by two through the pivot currency. `rate_date` is the older of ' +
        'the days of the values. Decimals are texts, so that no digit is lost.',
      query: v.object({
        ...CONVERSION,
        as_of: v.optional(AsOfParam),
        details: v.optional(booleanParam('Whether the published values are shown too'), 'false'),
      }),
      sends: ['X-Future'],
      answer: ConversionOut,
      notFound: 'No data for that pair or date',
      takesUrlKeys: true,
      effective: ({ on, ...asked }, today) => ({ ...asked, ...askedDay(on, today) }),
      find: conversionOn,
      forms: [jsonForm(encodeConversion)],
    },
    TABLE,
  )
}

type Asked = {
  provider: string
  from: string
  to: string
  amount: string
  details: boolean
  /** Whether the day is after tomorrow. */
  isFuture?: true | undefined
  as_of?: string | undefined
}

const COLUMNS: Columns = {
  ...{ provider: 'text', rate_date: 'day', rate_type: 'text', from_currency: 'text', to_currency: 'text' },
  ...{ amount: 'decimal', rate: 'decimal', result: 'decimal', path: 'text', via_pivot: 'plain' },
  rounded_to: 'plain',
}

const TABLE: Table<Converted, Asked & AskedDay> = {
  columns: ({ details }) => (details ? { ...COLUMNS, legs: 'json' } : COLUMNS),
  rows: (found, asked) => [conversionOut(found, { ...asked, isFuture: undefined })],
  headers: (_, asked) => futureHeaders(asked),
}

function encodeConversion(found: Converted, asked: Asked & AskedDay): string {
  return JSON.stringify(conversionOut(found, { ...asked, isFuture: futureField(asked) }))
}

/** A conversion as it is answered. */
export function conversionOut(found: Converted, asked: Asked) {
  return {
    provider: asked.provider,
    rate_date: found.rateDate,
    rate_type: found.rateType,
    from_currency: asked.from,
    to_currency: asked.to,
    amount: asked.amount,
    rate: found.rate,
    result: found.result,
    path: found.path.join(' -> '),
    via_pivot: found.legs.length > 1,
    rounded_to: found.roundedTo,
    legs: asked.details ? found.legs.map(legOut) : undefined,
    future: asked.isFuture,
    as_of: asked.as_of,
  }
}

/** The JSON of a conversion before its amount and after its result: the same for all amounts. */
export function partsOf(found: Converted, asked: Asked): { before: string; after: string } {
  const { provider, rate_date, rate_type, from_currency, to_currency, ...rest } = conversionOut(found, asked)
  const { amount: _amount, rate: _rate, result: _result, ...after } = rest
  const before = { provider, rate_date, rate_type, from_currency, to_currency }
  return { before: JSON.stringify(before).slice(0, -1), after: JSON.stringify(after).slice(1) }
}

/** All of it. The decimals are canonical, so that nothing in them needs an escape. */
export function withAmount(
  { before, after }: { before: string; after: string },
  amount: string,
  rate: string,
  result: string,
): string {
  return `${before},"amount":"${amount}","rate":"${rate}","result":"${result}",${after}`
}

function legOut({ series, inverse, point }: ValuedLeg) {
  return {
    series_id: series.id,
    pair: `${series.base_currency}/${series.quote_currency}`,
    rate_type: series.rate_type,
    rate_date: point.rate_date,
    value: point.value,
    inverse,
    rounded_to: point.rounded_to,
  }
}
