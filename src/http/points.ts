// The points of a series as JSON text, made once for a whole column, so that any range of it is a slice.

import { isoOf } from '../dates.ts'
import type { Column, RatePage } from '../store/rate-book.ts'

const BEFORE_VALUE = '{"rate_date":"YYYY-MM-DD","value":"'.length
const AFTER_VALUE = '"},'.length

/** The JSON array of the points from index `first` to before index `end`. */
export function pointsText(
  page: RatePage,
  seriesId: number,
  column: Column,
  first: number,
  end: number,
): Buffer {
  const key = `points ${seriesId}`
  let all = page.shelf.get(key)
  if (!all) {
    all = render(column)
    page.shelf.put(key, all)
  }
  if (first >= end) return Buffer.from('[]')
  const from = offsetOf(column, 0, first)
  const to = from + offsetOf(column, first, end) - 1 // without the last comma
  return Buffer.concat([OPEN, all.subarray(from, to), CLOSE])
}

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')

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
