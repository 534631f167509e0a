// Days that were not synchronized, in answers of the rates API (decisions#lists).

import * as v from 'valibot'
import type { Interval } from '../../values/intervals.ts'
import { Day, withDescription } from '../endpoint/answers/shapes.ts'

const MAX_INTERVALS = 20

export const HolesOut = v.optional(
  withDescription(
    v.nullable(v.array(v.object({ from: Day, to: Day }))),
    'Days of the range that were not synchronized, absent without any; null: with as_of before the record of them. ' +
      'Of a pair also days before the range, over which a value would be carried to a day of it',
  ),
)

type Holes = readonly Interval[] | null

/** Returns the value of the JSON field, or undefined without holes. */
export function holesField(holes: Holes): Holes | undefined {
  return holes?.length === 0 ? undefined : holes
}

/** Returns the header `X-Holes` of a table, with at most 20 intervals and then `more`. */
export function holesHeaders({ holes }: { holes: Holes }): Record<string, string> {
  if (holes === null) return { 'x-holes': 'unknown' }
  if (holes.length === 0) return {}
  const texts = holes.slice(0, MAX_INTERVALS).map(({ from, to }) => `${from}..${to}`)
  if (holes.length > MAX_INTERVALS) texts.push('more')
  return { 'x-holes': texts.join(', ') }
}
