// Days that were not synchronized, in answers of ours (decisions 2.6, lists).

import * as v from 'valibot'
import type { Interval } from '../../intervals.ts'
import { Day } from '../api/shapes.ts'

const MOST_SHOWN = 20

export const HolesOut = v.optional(
  v.pipe(
    v.nullable(v.array(v.object({ from: Day, to: Day }))),
    v.metadata({
      description:
        'Days of the range that were not synchronized, absent without any; null: with as_of before the record of them',
    }),
  ),
)

type Holes = readonly Interval[] | null

/** The field of a JSON object; undefined: there is nothing to say. */
export function holesField(holes: Holes): Holes | undefined {
  return holes?.length === 0 ? undefined : holes
}

/** The header `X-Holes` of a table: at most 20 intervals. */
export function holesHeaders({ holes }: { holes: Holes }): Record<string, string> {
  if (holes === null) return { 'x-holes': 'unknown' }
  if (holes.length === 0) return {}
  const shown = holes.slice(0, MOST_SHOWN).map(({ from, to }) => `${from}..${to}`)
  if (holes.length > MOST_SHOWN) shown.push('more')
  return { 'x-holes': shown.join(', ') }
}
