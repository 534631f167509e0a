// The errors of the rates API: `{"detail": …}`, a sentence, or for a 422 one item for each bad parameter.

import * as v from 'valibot'
import { type ChangeLogLimits, isChangeLogLimits } from '../../domain/rates/history/past.ts'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Interval } from '../../values/intervals.ts'
import { Hint, Instant, Integer, Reason, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import type { ErrorShape } from '../endpoint/error-shape.ts'
import { holesHeaders } from './holes.ts'

const HTTPValidationError = titledObject('HTTPValidationError', {
  detail: v.array(
    v.object({
      loc: v.array(v.union([v.string(), Integer])),
      msg: v.string(),
      type: v.string(),
      input: v.optional(v.any()),
      ctx: v.optional(v.looseObject({})),
    }),
  ),
})

export const TEXT_TYPE = 'text/plain; charset=utf-8'

/** Details of an error whose reader parses plain text: days that a list of prices lacks. */
export type MissingPrices = { missingPrices: readonly Interval[] }

/** Lists of the rates API that an error may name. */
const LISTS: ReadonlySet<string> = new Set(['providers', 'series', 'indicators'])

export const RATES_ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  headers: (details) =>
    isMissingPrices(details)
      ? { 'content-type': TEXT_TYPE, ...holesHeaders({ holes: details.missingPrices }) }
      : {},
  body(status, message, details, { hint, see, reason } = {}) {
    if (isMissingPrices(details)) return message
    const detail = status === 422 ? details : message
    return JSON.stringify({ detail, hint, see, ...shownLimits(details), reason })
  },
  advise(advice) {
    if (LISTS.has(advice.about)) return `; see /api/v1/${advice.about}`
    if (advice.about !== 'conversion') return ''
    const { from, to, provider } = advice
    return `: ${conversionPath({ amount: '1', from, to }, provider)} inverts and chains pairs`
  },
  see(advice) {
    if (advice.about !== 'conversion') return undefined
    const { from, to, day: on, asOf, provider } = advice
    return conversionPath({ amount: '1', from, to, on, ...(asOf !== undefined && { as_of: asOf }) }, provider)
  },
  schema: titledObject('HTTPError', {
    detail: v.string(),
    hint: Hint,
    see: v.optional(
      withDescription(v.string(), 'Of /rates/latest: the path that has this pair on the same day'),
    ),
    gap: v.optional(
      withDescription(
        v.object({ from: Instant, to: Instant }),
        'Of statements and batches: `as_of` is in this gap of the record',
      ),
    ),
    record_from: v.optional(
      withDescription(Instant, 'Of statements and batches: `as_of` is before the record'),
    ),
    reason: Reason,
  }),
  invalid: HTTPValidationError,
}

function conversionPath(parameters: Record<string, string>, provider: string): string {
  const query = new URLSearchParams(parameters)
  if (provider !== DEFAULT_PROVIDER.code) query.set('provider', provider)
  return `/api/v1/convert?${query}`
}

function isMissingPrices(details: unknown): details is MissingPrices {
  return typeof details === 'object' && details !== null && 'missingPrices' in details
}

/** Runs work whose errors show the limits of the change log as fields. Other answers name them in the text alone. */
export async function showChangeLogLimits<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || !isChangeLogLimits(error.details)) throw error
    throw new AppError(error.code, error.message, { details: { shown: error.details }, cause: error })
  }
}

function shownLimits(details: unknown): ChangeLogLimits | undefined {
  const isShown = typeof details === 'object' && details !== null && 'shown' in details
  return isShown && isChangeLogLimits(details.shown) ? details.shown : undefined
}
