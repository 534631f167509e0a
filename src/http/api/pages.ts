// Lists by id, a page at a time (decisions 3.13): from the oldest on for programs, from the newest back for people. An
// answer always says where to go on, also when there is nothing more for now: a client that loops handles nothing twice
// and misses nothing.

import * as v from 'valibot'
import type { Page } from '../../domain/documents/queries.ts'
import { invalidParameters } from './errors.ts'
import { IdParam, LimitParam } from './params.ts'

const DESCENDING = 'before goes with order=desc: without it pages are asked for with after'
const ASCENDING = 'after goes with order=asc: with order=desc pages are asked for with before'

/** The parameters of a list, to be spread into the schema of its query. */
export const PAGE_PARAMETERS = {
  limit: v.optional(LimitParam, '50'),
  order: v.optional(v.picklist(['asc', 'desc'], 'must be asc or desc'), 'asc'),
  after: v.optional(
    v.pipe(IdParam, v.metadata({ description: 'only greater ids: the next_after of the page before' })),
  ),
  before: v.optional(
    v.pipe(
      IdParam,
      v.metadata({ description: 'with order=desc, only smaller ids: the next_before of the page before' }),
    ),
  ),
}

/** The page that a query asks for. @throws AppError `invalid` for an `after` or `before` of the other order */
export function pageOf(query: {
  limit: number
  order: 'asc' | 'desc'
  after?: number | undefined
  before?: number | undefined
}): Page {
  const { limit, order, after, before } = query
  const [wrong, msg] = order === 'asc' ? (['before', DESCENDING] as const) : (['after', ASCENDING] as const)
  const given = query[wrong]
  if (given !== undefined) {
    throw invalidParameters([{ loc: ['query', wrong], msg, type: 'order', input: String(given) }])
  }
  return {
    limit,
    order,
    ...(after !== undefined && { after: Math.min(after, Number.MAX_SAFE_INTEGER) }),
    ...(before !== undefined && { before: Math.min(before, Number.MAX_SAFE_INTEGER) }),
  }
}

/** What is said beside the rows of a page. `last` is the last of its rows; `hasMore`: there are others after it. */
export function placeAfter(
  { order, after, before }: Page,
  last: { id: number } | undefined,
  hasMore: boolean,
) {
  return order === 'asc'
    ? { next_after: last?.id ?? after ?? 0, has_more: hasMore }
    : { next_before: last?.id ?? before ?? 0, has_more: hasMore }
}
