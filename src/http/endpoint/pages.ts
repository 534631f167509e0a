// Lists by id, a page at a time (decisions 3.13): from the oldest on for programs, from the newest back for people. An
// answer always says where to go on, also when there is nothing more for now: a client that loops handles nothing twice
// and misses nothing.

import * as v from 'valibot'
import type { Page } from '../../domain/documents/queries.ts'
import { invalidParameters } from './errors.ts'
import { cursorParam, LimitParam, waitParam } from './params.ts'

const DESCENDING = 'before goes with order=desc: without it pages are asked for with after'
const WAITING = 'wait goes with order=asc: with order=desc there is nothing to wait for'
const ASCENDING = 'after goes with order=asc: with order=desc pages are asked for with before'

/** The parameters of a list that goes up alone, to be spread into the schema of its query. */
export const ASCENDING_PARAMETERS = {
  limit: v.optional(LimitParam, '50'),
  after: v.optional(cursorParam('Only greater ids: the next_after of the page before')),
}

/** Those of a list that goes either way. */
export const PAGE_PARAMETERS = {
  limit: ASCENDING_PARAMETERS.limit,
  order: v.optional(
    v.pipe(
      v.picklist(['asc', 'desc'], 'must be asc or desc'),
      v.metadata({ description: 'asc: from the oldest on; desc: from the newest back' }),
    ),
    'asc',
  ),
  after: ASCENDING_PARAMETERS.after,
  before: v.optional(cursorParam('With order=desc, only smaller ids: the next_before of the page before')),
}

/** For a list that a client can wait for. */
export const WAIT_PARAMETER = v.optional(
  waitParam('How many seconds to wait for a first row where there is none'),
)

/** The page that a query asks for. @throws AppError `invalid` for an `after`, `before` or `wait` of the other order */
export function pageOf(query: {
  limit: number
  order?: 'asc' | 'desc'
  after?: number | undefined
  before?: number | undefined
  wait?: number | undefined
}): Page {
  const { limit, order = 'asc', after, before } = query
  const wrong =
    order === 'asc' ? ({ before: DESCENDING } as const) : ({ after: ASCENDING, wait: WAITING } as const)
  const faults = Object.entries(wrong).flatMap(([name, msg]) => {
    const given = query[name as 'before' | 'after' | 'wait']
    return given === undefined ? [] : [{ loc: ['query', name], msg, type: 'order', input: String(given) }]
  })
  if (faults.length > 0) throw invalidParameters(faults)
  return {
    limit,
    order,
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
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
