// The points of a series as JSON text, made once for each block of its column, so that any range of it is a slice. In
// blocks, so that a range costs no more in a long column than in a short one.

import { isoOf } from '../dates.ts'
import { type Column, type RatePage, valueAt } from '../store/rate-book.ts'

const BLOCK = 4096 // points, of some 50 bytes
const BEFORE_VALUE = '{"rate_date":"YYYY-MM-DD","value":"'.length
const AFTER_VALUE = '"},'.length

/** The points from index `first` to before index `end`, as the inside of a JSON array. */
export function pointsText(
  page: RatePage,
  seriesId: number,
  column: Column,
  first: number,
  end: number,
): Uint8Array {
  if (first >= end) return NOTHING
  const parts: Buffer[] = []
  for (let begin = first - (first % BLOCK); begin < end; begin += BLOCK) {
    const text = blockText(page, seriesId, column, begin)
    const from = begin < first ? lengthOf(column, begin, first) : 0
    const to = end < begin + BLOCK ? lengthOf(column, begin, end) : text.length
    parts.push(text.subarray(from, to))
  }
  const text = parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? NOTHING)
  return text.subarray(0, -1) // without the last comma
}

const NOTHING = new Uint8Array()

function blockText(page: RatePage, seriesId: number, column: Column, begin: number): Buffer {
  const key = `points ${seriesId} ${begin}`
  const kept = page.pieces.get(key)
  if (kept) return kept
  const made = render(column, begin, Math.min(begin + BLOCK, column.days.length))
  page.pieces.put(key, made, made.length)
  return made
}

/** Length of the text of some points: dates are all of one length, values are not. */
function lengthOf({ starts }: Column, first: number, end: number): number {
  return (end - first) * (BEFORE_VALUE + AFTER_VALUE) + (starts[end] ?? 0) - (starts[first] ?? 0)
}

function render(column: Column, first: number, end: number): Buffer {
  let text = ''
  for (let at = first; at < end; at += 1) {
    text += `{"rate_date":"${isoOf(column.days[at] ?? 0)}","value":"${valueAt(column, at)}"},`
  }
  return Buffer.from(text, 'latin1')
}
