// Holes of a history: days that were never synchronized, unlike days without a value.

import { addInterval, type Interval as Hole } from '../../../values/intervals.ts'

export type { Hole }

/** Holes of a response: absent if there are none, null if the server cannot know. */
export type ResponseHoles = readonly Hole[] | null | undefined

export type KnownHoles = { holes: readonly Hole[]; isUnknown: boolean }

export function isAnyMissing({ holes, isUnknown }: KnownHoles): boolean {
  return isUnknown || holes.length > 0
}

/** Merges the holes of all sides of a pair, in order. Adjacent holes become one. */
export function mergeHoles(responses: readonly ResponseHoles[]): KnownHoles {
  const holes = responses.flatMap((holes) => holes ?? []).reduce(addInterval, [])
  return { holes, isUnknown: responses.includes(null) }
}
