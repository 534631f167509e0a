// The history of a pair as price directives, for ledger, hledger and beancount. Days that were not synchronized are an
// error in plain text: the programs would carry a price over them.

import * as v from 'valibot'
import { findPrices, type PriceFormat, priceLines } from '../../domain/rates/prices.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Schedulers } from '../../sync/schedulers.ts'
import { textParts } from '../endpoint/answers/text-parts.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import { AsOfParam, PriceEveryParam } from '../endpoint/params.ts'
import { readRetryDelay } from '../endpoint/retry-delay.ts'
import { type StoredDeps, storedEndpoint } from '../endpoint/stored.ts'
import type { UnservedLog } from '../endpoint/unserved-log.ts'
import { PAIR_HISTORY, requireRange } from '../figures/history-range.ts'
import { type MissingPrices, TEXT_TYPE } from '../figures/rates-errors.ts'

export type PricesDeps = StoredDeps & { scheduler: Pick<Schedulers, 'tasks'>; unserved: UnservedLog }

const PROGRAMS: Readonly<Record<PriceFormat, string>> = {
  ledger: 'ledger and hledger',
  beancount: 'beancount',
}

export function pricesEndpoints(deps: PricesDeps): AnyEndpoint[] {
  return [pricesEndpoint(deps, 'ledger'), pricesEndpoint(deps, 'beancount')]
}

function pricesEndpoint(deps: PricesDeps, format: PriceFormat): AnyEndpoint {
  return storedEndpoint(deps, {
    path: `/api/v1/history.${format}`,
    tag: 'History',
    about:
      `The points of /api/v1/history as price directives of ${PROGRAMS[format]}, of one side. A range with days that ` +
      'were not synchronized is a 503 in plain text: the programs would carry a price over these days.',
    query: v.object({
      ...PAIR_HISTORY,
      every: v.optional(PriceEveryParam, 'day'),
      as_of: v.optional(AsOfParam),
    }),
    answer: v.string(),
    notFound: 'No such provider, or no way between these currencies',
    effective({ from, to, every: _, ...query }, localDay) {
      return { ...query, ...requireRange({ from, to }, localDay(query.as_of)) }
    },
    async find(snapshot, { as_of: _, to: __, ...query }) {
      const prices = await findPrices(snapshot, query)
      const [hole] = prices.holes
      if (!hole) return prices
      deps.unserved.days(format, hole, { isRefused: true })
      throw new AppError(
        'unavailable',
        `the days from ${hole.from} to ${hole.to} have not been synchronized`,
        {
          details: { missingPrices: prices.holes } satisfies MissingPrices,
          isLogged: true,
          retryAfter: await readRetryDelay(deps.scheduler, query.provider, deps.clock),
        },
      )
    },
    forms: [
      { name: format, contentType: TEXT_TYPE, encode: (prices) => textParts(priceLines(format, prices)) },
    ],
  })
}
