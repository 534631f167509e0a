// Message of a run whose source is another server of this kind that has not synchronized some days itself. Health and
// the scheduler decide by its cause.

import type { RunCause } from '../../store/tables.ts'
import type { Interval } from '../../values/intervals.ts'

/** Days that a source has not synchronized, of an indicator or a table. */
export type SourceGap = { code: string; days: readonly Interval[] }

const UNSYNCHRONIZED = 'the source has not synchronized'
const NEEDS_MORE = 'the requests of a run did not suffice for the days around them'
const INTERVALS_NAMED = 10
const CODES_NAMED = 5

/**
 * Describes such days without a semicolon, which separates the problems of a message; undefined: none. `needsMore`:
 * the run has no requests left for the days around them.
 */
export function unsynchronizedInWords(lacking: readonly SourceGap[], needsMore: boolean): string | undefined {
  const codesByDays = new Map<string, string[]>()
  for (const { code, days } of lacking) {
    for (const { from, to } of days) {
      codesByDays.getOrInsertComputed(from === to ? from : `${from} to ${to}`, () => []).push(code)
    }
  }
  if (codesByDays.size === 0) return undefined
  const newestFirst = [...codesByDays].sort(([one], [other]) => (one < other ? 1 : -1))
  const words = newestFirst
    .slice(0, INTERVALS_NAMED)
    .map(([days, codes]) => `${days} of ${listInWords(codes)}`)
  const more = newestFirst.length - words.length
  if (more > 0) words.push(`${more} more intervals`)
  const rest = needsMore ? `, and ${NEEDS_MORE}: "cambista sync" reads the rest` : ''
  return `${UNSYNCHRONIZED} ${words.join(', ')}${rest}`
}

/** True if a run with this cause lacks only such days; `isComplete`: and it requested all others. */
export function lacksOnlyUnsynchronizedDays(cause: RunCause | null, { isComplete = false } = {}): boolean {
  return cause === 'unsynchronized' || (cause === 'unsynchronized_more' && !isComplete)
}

function listInWords(codes: readonly string[]): string {
  if (codes.length > CODES_NAMED) return `${codes.length} indicators`
  return codes.length > 1 ? `${codes.slice(0, -1).join(', ')} and ${codes.at(-1)}` : codes.join()
}
