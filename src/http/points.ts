// The points of a series as JSON text, made once for a whole column, so that any range of it is a slice.

import { isoOf } from '../dates.ts'
import type { Column, RatePage } from '../store/rate-book.ts'

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
  const key = `points ${seriesId}`
  let all = page.pieces.get(key)
  if (!all) {
    all = render(column)
    page.pieces.put(key, all, all.length)
  }
  const from = offsetOf(column, 0, first)
  return all.subarray(from, from + offsetOf(column, first, end) - 1) // without the last comma
}

const NOTHING = new Uint8Array()

/** Length of the text of some points: dates are all of one length, values are not. */
function offsetOf(column: Column, first: number, end: number): number {
  let length = (end - first) * (BEFORE_VALUE + AFTER_VALUE)
  for (let at = first; at < end; at += 1) length += column.values[at]?.length ?? 0
  return length
}

function render({ days, values }: Column): Buffer {
  let text = ''
  for (const [at, value] of values.entries()) {
    text += `{"rate_date":"${isoOf(days[at] ?? 0)}","value":"${value}"},`
  }
  return Buffer.from(text, 'latin1')
}
