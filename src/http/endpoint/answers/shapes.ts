// Common schemas of answers, named as in the contract. Answers are not validated at run time. A test validates live
// answers against the OpenAPI document.

import * as v from 'valibot'
import { ERROR_REASONS } from '../../../runtime/errors.ts'

/** Object with its name in the OpenAPI document. */
export function titledObject<const Entries extends v.ObjectEntries>(title: string, entries: Entries) {
  return v.pipe(v.object(entries), v.title(title))
}

export function withDescription<const Schema extends v.GenericSchema>(schema: Schema, text: string) {
  return v.pipe(schema, v.description(text))
}

export const Integer = v.pipe(v.number(), v.integer())
export const Day = v.pipe(v.string(), v.metadata({ format: 'date' }))
export const Instant = v.pipe(v.string(), v.metadata({ format: 'date-time' }))
export const DecimalText = v.pipe(
  v.string(),
  v.metadata({ description: 'Canonical decimal: no exponent, no needless zeros', examples: ['496.44'] }),
  v.regex(/^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/),
)
export const Pair = v.pipe(v.string(), v.regex(/^[A-Z]{3}\/[A-Z]{3}$/))
export const RateTypeOut = v.picklist(['compra', 'venta', 'referencia'])
export const Rounding = v.optional(
  v.pipe(
    v.number(),
    v.integer(),
    v.metadata({ description: 'Decimals that the source rounds to; absent: the value is exact' }),
  ),
)
export const LastCoveredDay = v.optional(
  v.pipe(
    Day,
    v.metadata({
      description:
        'The newest day that was synchronized, where it is before `on`: a newer value may have been published',
    }),
  ),
)
export const AsOfOut = v.optional(
  v.pipe(Instant, v.metadata({ description: 'The instant of `as_of`, where it was given' })),
)

/** Field beside the text of an error. */
/** Reason of an error; most have none. */
export const Reason = v.optional(
  v.pipe(
    v.picklist(ERROR_REASONS),
    v.metadata({ description: 'Code of the cause, where a client may decide by it; more may be added' }),
  ),
)

export const Hint = v.optional(
  v.pipe(
    v.string(),
    v.metadata({
      description:
        'The path that was probably meant, which credential was sent and which is needed, or the missing fields',
    }),
  ),
)
