// Days that were never synchronized, as a history names them. They are not days without a value.

import { addDays } from './days.ts'

export type Hole = { from: string; to: string }

/** Holes of an answer: absent if none are missing, null if the server cannot know. */
export type AnswerHoles = readonly Hole[] | null | undefined

export type MissingDays = { holes: readonly Hole[]; isUnknown: boolean }

export function isAnyMissing({ holes, isUnknown }: MissingDays): boolean {
  return isUnknown || holes.length > 0
}

/** The holes of all sides of a pair, in order; those that touch are one. */
export function mergeHoles(answers: readonly AnswerHoles[]): MissingDays {
  const sorted = answers.flatMap((holes) => holes ?? []).sort((a, b) => (a.from < b.from ? -1 : 1))
  const merged: Hole[] = []
  for (const { from, to } of sorted) {
    const last = merged.at(-1)
    if (!last || from > addDays(last.to, 1)) merged.push({ from, to })
    else if (to > last.to) last.to = to
  }
  return { holes: merged, isUnknown: answers.includes(null) }
}
