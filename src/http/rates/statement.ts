// The statement of a conversion, its digest and its verification (decisions#statements).

import * as v from 'valibot'
import type { PastRates } from '../../domain/rates/history/past.ts'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import { type LaterAnswer, makeStatement } from '../../domain/rates/statement/statement.ts'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import type { ReadDb } from '../../store/tables.ts'
import { addDays, type Clock, currentDay } from '../../values/dates.ts'
import {
  Day,
  DecimalText,
  Instant,
  Pair,
  RateTypeOut,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get } from '../endpoint/endpoint.ts'
import {
  AmountParam,
  AsOfParam,
  CurrencyParam,
  DigestParam,
  laterDay,
  OnParam,
  StatementSideParam,
} from '../endpoint/params.ts'
import { pastDay } from '../endpoint/stored.ts'
import { ConversionOut, conversionOut } from '../figures/conversion.ts'
import { showChangeLogLimits } from '../figures/rates-errors.ts'

type StatementDeps = { db: ReadDb; cache: RateCache; past: PastRates; clock: Clock }

export const StatementOut = titledObject('Statement', {
  statement: withDescription(v.string(), 'Lines of text, each with LF at its end'),
  sha256: withDescription(v.string(), 'Of the UTF-8 of `statement`, as sha256sum prints it'),
  as_of: Instant,
  conversion: withDescription(
    v.union([ConversionOut, v.array(ConversionOut)]),
    'With its legs; of both sides a list: compra, venta',
  ),
  matches: v.optional(withDescription(v.boolean(), 'Whether `sha256` is the digest that was sent')),
  now: v.optional(
    withDescription(
      v.object({
        result: withDescription(
          v.nullable(v.union([DecimalText, v.array(DecimalText)])),
          'Of both sides a list: compra, venta; null: there is no answer now',
        ),
        detail: v.optional(withDescription(v.string(), 'Why there is no answer now')),
        corrections: v.array(
          v.object({
            pair: Pair,
            rate_type: RateTypeOut,
            rate_date: Day,
            was: v.nullable(DecimalText),
            is: v.nullable(DecimalText),
            at: v.nullable(Instant),
            kind: withDescription(
              v.picklist(['correction', 'refined', 'discarded', 'new']),
              'As in /api/v1/revisions; new: not known then',
            ),
          }),
        ),
      }),
      'The answer with the knowledge of now, where its result is another one, and the values that it differs by; ' +
        'was null: not known then',
    ),
  ),
})

export function statementEndpoint({ db, cache, past, clock }: StatementDeps): AnyEndpoint {
  return get({
    path: '/api/v1/convert/statement',
    about:
      'A text with the conversion, its published values and the instant of the knowledge, and the SHA-256 of that ' +
      'text. The same parameters with that `as_of` give the same text later; with `sha256` the answer says whether ' +
      'they do. It is not a signature.',
    query: v.object({
      amount: AmountParam,
      from: CurrencyParam,
      to: CurrencyParam,
      type: v.optional(StatementSideParam, 'venta'),
      on: v.optional(OnParam),
      as_of: v.optional(AsOfParam),
      sha256: v.optional(DigestParam),
    }),
    answer: StatementOut,
    notFound:
      'No data for that pair or date, or nothing is known of the instant: `gap` or `record_from` says why',
    async handle({ query: { on, as_of: asOf, sha256, ...way } }) {
      const now = clock()
      const today = currentDay(() => now)
      const day = on ?? today
      if (day > addDays(today, 1)) throw laterDay(day)
      if (asOf !== undefined) pastDay(asOf, now, cache.snapshot())
      const query = { ...way, provider: DEFAULT_PROVIDER.code, day }
      const { statement, conversions, later, ...rest } = await showChangeLogLimits(() =>
        cache.read((snapshot) => makeStatement({ db, past }, snapshot, query, asOf)),
      )
      const details = { ...query, details: true, as_of: rest.asOf }
      const out = conversions.map((one) => conversionOut(one, details))
      return freshReply({
        ...{ statement, sha256: rest.sha256, as_of: rest.asOf },
        conversion: out.length > 1 ? out : out[0],
        matches: sha256 === undefined ? undefined : sha256 === rest.sha256,
        now: later && laterOut(later),
      })
    },
  })
}

/** Encodes the present answer. */
function laterOut({ conversions, refusal, changes }: LaterAnswer) {
  const results = conversions?.map(({ result }) => result)
  const corrections = changes.map(({ series, day, was, is, at, kind }) => ({
    pair: `${series.base_currency}/${series.quote_currency}`,
    ...{ rate_type: series.rate_type, rate_date: day, was, is, at, kind },
  }))
  const result = results && (results.length > 1 ? results : results[0])
  return { result: result ?? null, detail: refusal, corrections }
}
