// The points of a series as JSON text, made once for each block of its column, so that any range of it is a slice. In
// blocks, so that a range costs no more in a long column than in a short one.

import { isoOf } from '../../dates.ts'
import { type Column, roundedAt, valueAt } from '../../domain/rates/column.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'

const BLOCK = 4096 // points, of some 50 bytes
const BEFORE_VALUE = '{"rate_date":"YYYY-MM-DD","value":"'.length
const AFTER_VALUE = '"},'.length // of an exact one

/** The points from index `first` to before index `end`, as the inside of a JSON array. */
export function encodePoints(
  snapshot: RateSnapshot,
  seriesId: number,
  column: Column,
  first: number,
  end: number,
): Uint8Array {
  if (first >= end) return NOTHING
  const parts: Buffer[] = []
  for (let begin = first - (first % BLOCK); begin < end; begin += BLOCK) {
    const text = blockText(snapshot, seriesId, column, begin)
    const from = begin < first ? lengthOf(column, begin, first) : 0
    const to = end < begin + BLOCK ? lengthOf(column, begin, end) : text.length
    parts.push(text.subarray(from, to))
  }
  const text = parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? NOTHING)
  return text.subarray(0, -1) // without the last comma
}

const NOTHING = new Uint8Array()

function blockText(snapshot: RateSnapshot, seriesId: number, column: Column, begin: number): Buffer {
  const key = `points ${seriesId} ${begin}`
  const kept = snapshot.pieces.get(key)
  if (kept) return kept
  const made = render(column, begin, Math.min(begin + BLOCK, column.days.length))
  snapshot.pieces.put(key, made, made.length)
  return made
}

/** Length of the text of some points: dates are all of one length, values are not. */
function lengthOf(column: Column, first: number, end: number): number {
  const { starts, rounded } = column
  let length = (end - first) * (BEFORE_VALUE + AFTER_VALUE) + (starts[end] ?? 0) - (starts[first] ?? 0)
  if (rounded) for (let at = first; at < end; at += 1) length += roundedText(column, at).length
  return length
}

function roundedText(column: Column, at: number): string {
  const decimals = roundedAt(column, at)
  return decimals === undefined ? '' : `,"rounded_to":${decimals}`
}

function render(column: Column, first: number, end: number): Buffer {
  let text = ''
  for (let at = first; at < end; at += 1) {
    const date = isoOf(column.days[at] ?? 0)
    text += `{"rate_date":"${date}","value":"${valueAt(column, at)}"${roundedText(column, at)}},`
  }
  return Buffer.from(text, 'latin1')
}
