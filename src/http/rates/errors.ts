// The errors of the rates API: `{"detail": …}`, a sentence, or for a 422 one item for each bad parameter.

import * as v from 'valibot'
import type { ErrorShape } from '../endpoint/errors.ts'
import { Hint, Integer } from '../endpoint/shapes.ts'

const HTTPValidationError = v.pipe(
  v.object({
    detail: v.array(
      v.object({
        loc: v.array(v.union([v.string(), Integer])),
        msg: v.string(),
        type: v.string(),
        input: v.optional(v.any()),
        ctx: v.optional(v.looseObject({})),
      }),
    ),
  }),
  v.title('HTTPValidationError'),
)

export const RATES_ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  body: (status, message, details, hint) =>
    JSON.stringify({ detail: status === 422 ? details : message, hint }),
  advise(advice) {
    if (advice.about === 'providers' || advice.about === 'series') return `; see /api/v1/${advice.about}`
    if (advice.about !== 'conversion') return ''
    return `: /api/v1/convert?amount=1&from=${advice.from}&to=${advice.to} inverts and chains pairs`
  },
  schema: v.pipe(v.object({ detail: v.string(), hint: Hint }), v.title('HTTPError')),
  invalid: HTTPValidationError,
}
