import * as v from 'valibot'
import { type ConversionResult, convertAmount } from '../../domain/rates/conversions.ts'
import type { ColumnKinds } from '../endpoint/answers/csv.ts'
import { jsonForm } from '../endpoint/answers/forms.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import { AsOfParam, booleanParam, roundingRule } from '../endpoint/params.ts'
import type { StoredDeps } from '../endpoint/stored.ts'
import { CONVERSION, ConversionOut, type ConversionQuery, conversionOut } from '../figures/conversion.ts'
import { futureField, futureHeaders, type RequestedDay, requestedDay } from '../figures/future.ts'
import { type TableForm, tableEndpoints } from './table-endpoints.ts'

export function convertEndpoints(deps: StoredDeps): AnyEndpoint[] {
  return tableEndpoints(
    deps,
    {
      path: '/api/v1/convert',
      about:
        'By one published value, forward or inverse, or by two through the pivot currency. `rate_date` is the older of ' +
        'the days of the values. Decimals are texts, so that no digit is lost. `decimals` rounds `result` alone.',
      query: v.object({
        ...CONVERSION,
        as_of: v.optional(AsOfParam),
        details: v.optional(booleanParam('Whether the published values are shown too'), 'false'),
      }),
      sends: ['X-Future'],
      answer: ConversionOut,
      notFound: 'No data for that pair or date',
      effective: ({ on, decimals, rounding, ...query }, localDay) => ({
        ...query,
        ...requestedDay(on, localDay(query.as_of)),
        rounding: roundingRule(decimals, rounding),
      }),
      find: convertAmount,
      forms: [jsonForm(encodeConversion)],
    },
    TABLE,
  )
}

const COLUMNS: ColumnKinds = {
  ...{ provider: 'text', rate_date: 'day', rate_type: 'text', from_currency: 'text', to_currency: 'text' },
  ...{ amount: 'decimal', rate: 'decimal', result: 'decimal', path: 'text', via_pivot: 'plain' },
  rounded_to: 'plain',
}

const TABLE: TableForm<ConversionResult, ConversionQuery & RequestedDay> = {
  columns: ({ details }) => (details ? { ...COLUMNS, legs: 'json' } : COLUMNS),
  rows: (conversion, query) => [conversionOut(conversion, { ...query, isFuture: undefined })],
  headers: (_, query) => futureHeaders(query),
}

function encodeConversion(conversion: ConversionResult, query: ConversionQuery & RequestedDay): string {
  return JSON.stringify(conversionOut(conversion, { ...query, isFuture: futureField(query) }))
}
