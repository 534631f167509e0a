// Pages of lists by id (decisions#reading): ascending for programs, descending for people. Every answer has the cursor
// of the next page, also the last one. A client that loops handles each row once.

import * as v from 'valibot'
import type { PageRequest } from '../../domain/documents/page-request.ts'
import { withDescription } from './answers/shapes.ts'
import { invalidParameters } from './error-shape.ts'
import { cursorParam, LimitParam, waitParam } from './params.ts'

const DESCENDING = 'before goes with order=desc: without it pages are asked for with after'
const WAITING = 'wait goes with order=asc: with order=desc there is nothing to wait for'
const ASCENDING = 'after goes with order=asc: with order=desc pages are asked for with before'

/** Parameters of an ascending list, for the schema of its query. */
export const ASCENDING_PARAMETERS = {
  limit: v.optional(LimitParam, '50'),
  after: v.optional(cursorParam('Only greater ids: the next_after of the page before')),
}

/** Parameters of a list in either order. */
export const PAGE_PARAMETERS = {
  limit: ASCENDING_PARAMETERS.limit,
  order: v.optional(
    withDescription(
      v.picklist(['asc', 'desc'], 'must be asc or desc'),
      'asc: from the oldest on; desc: from the newest back',
    ),
    'asc',
  ),
  after: ASCENDING_PARAMETERS.after,
  before: v.optional(cursorParam('With order=desc, only smaller ids: the next_before of the page before')),
}

/** Parameter of a list with long polling. */
export const WAIT_PARAMETER = v.optional(
  waitParam('How many seconds to wait for a first row where there is none'),
)

/** Converts a query to a page. @throws AppError `invalid` for an `after`, `before` or `wait` of the other order */
export function parsePage(query: {
  limit: number
  order?: 'asc' | 'desc'
  after?: number | undefined
  before?: number | undefined
  wait?: number | undefined
}): PageRequest {
  const { limit, order = 'asc', after, before } = query
  const wrong =
    order === 'asc' ? ({ before: DESCENDING } as const) : ({ after: ASCENDING, wait: WAITING } as const)
  const faults = Object.entries(wrong).flatMap(([name, msg]) => {
    const value = query[name as 'before' | 'after' | 'wait']
    return value === undefined ? [] : [{ loc: ['query', name], msg, type: 'order', input: String(value) }]
  })
  if (faults.length > 0) throw invalidParameters(faults)
  return {
    limit,
    order,
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
  }
}

/** Returns the cursor fields of a page. `last`: its last row. `hasMore`: rows follow it. */
export function nextCursor(
  { order, after, before }: PageRequest,
  last: { id: number } | undefined,
  hasMore: boolean,
) {
  return order === 'asc'
    ? { next_after: last?.id ?? after ?? 0, has_more: hasMore }
    : { next_before: last?.id ?? before ?? 0, has_more: hasMore }
}
