// Holes of a history: days that were never synchronized, unlike days without a value.

import { addDays } from '../days.ts'

export type Hole = { from: string; to: string }

/** Holes of a response: absent if there are none, null if the server cannot know. */
export type ResponseHoles = readonly Hole[] | null | undefined

export type KnownHoles = { holes: readonly Hole[]; isUnknown: boolean }

export function isAnyMissing({ holes, isUnknown }: KnownHoles): boolean {
  return isUnknown || holes.length > 0
}

/** Merges the holes of all sides of a pair, in order. Adjacent holes become one. */
export function mergeHoles(responses: readonly ResponseHoles[]): KnownHoles {
  const holes = responses.flatMap((holes) => holes ?? []).sort((a, b) => (a.from < b.from ? -1 : 1))
  const merged: Hole[] = []
  for (const { from, to } of holes) {
    const last = merged.at(-1)
    if (!last || from > addDays(last.to, 1)) merged.push({ from, to })
    else if (to > last.to) last.to = to
  }
  return { holes: merged, isUnknown: responses.includes(null) }
}
