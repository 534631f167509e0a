// The words of a run whose source is another server like this one, and says which days it has not synchronized itself. Health
// and the scheduler read them again from the message of the run.

import type { Interval } from '../../intervals.ts'

/** Days that a source has not synchronized, of an indicator or a table. */
export type MissingDays = { code: string; days: readonly Interval[] }

const UNSYNCHRONIZED = 'the source has not synchronized'
const NEEDS_MORE = 'the requests of a run did not suffice for the days around them'
const INTERVALS_NAMED = 10
const CODES_NAMED = 5

/**
 * One problem without a semicolon, by which a message is split into its problems; undefined: no day is lacking. `needsMore`:
 * the run may not make all requests for the days around them.
 */
export function unsynchronizedInWords(
  lacking: readonly MissingDays[],
  needsMore: boolean,
): string | undefined {
  const codesOf = new Map<string, string[]>()
  for (const { code, days } of lacking) {
    for (const { from, to } of days) {
      codesOf.getOrInsertComputed(from === to ? from : `${from} to ${to}`, () => []).push(code)
    }
  }
  if (codesOf.size === 0) return undefined
  const newestFirst = [...codesOf].sort(([one], [other]) => (one < other ? 1 : -1))
  const words = newestFirst
    .slice(0, INTERVALS_NAMED)
    .map(([days, codes]) => `${days} of ${listInWords(codes)}`)
  const more = newestFirst.length - words.length
  if (more > 0) words.push(`${more} more intervals`)
  const rest = needsMore ? `, and ${NEEDS_MORE}: "cambista sync" reads the rest` : ''
  return `${UNSYNCHRONIZED} ${words.join(', ')}${rest}`
}

/** Whether a run with this message lacks nothing but such days; `isComplete`: and it requested all others. */
export function lacksOnlyUnsynchronizedDays(message: string | null, { isComplete = false } = {}): boolean {
  if (!message?.startsWith(UNSYNCHRONIZED) || message.includes('; ')) return false
  return !isComplete || !message.includes(NEEDS_MORE)
}

function listInWords(codes: readonly string[]): string {
  if (codes.length > CODES_NAMED) return `${codes.length} indicators`
  return codes.length > 1 ? `${codes.slice(0, -1).join(', ')} and ${codes.at(-1)}` : codes.join()
}
