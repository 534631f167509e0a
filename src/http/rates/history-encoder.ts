// A history as JSON. The points of a series are made once for each block of its column, so that any range of it is a
// slice; in blocks, so that a range costs no more in a long column than in a short one.

import { isoOf } from '../../dates.ts'
import { type Column, roundedAt, valueAt } from '../../domain/rates/column.ts'
import type { SeriesHistory } from '../../domain/rates/queries.ts'
import { pointAt, type RatePoint } from '../../domain/rates/rates.ts'
import { type CacheStats, createLruCache } from '../../lru.ts'
import { holesField } from './holes.ts'

const BLOCK = 4096 // points, of some 50 bytes
const KEPT_BYTES = 4 * 1024 * 1024
const BEFORE_VALUE = '{"rate_date":"YYYY-MM-DD","value":"'.length
const AFTER_VALUE = '"},'.length // of an exact one
const END = Buffer.from(']}')
const NOTHING = new Uint8Array()

export type HistoryEncoder = {
  encode(history: SeriesHistory, asked?: { as_of?: string | undefined }): Uint8Array
  /** The blocks that are kept. */
  state(): CacheStats & { entries: number; bytes: number }
}

export function createHistoryEncoder(): HistoryEncoder {
  const stats = { hits: 0, misses: 0 }
  const blocks = createLruCache<Buffer>(KEPT_BYTES, stats)
  const numbers = new WeakMap<Column, number>() // a column that has changed is another one
  let columns = 0
  const blockOf = (column: Column, begin: number) => {
    const number = numbers.getOrInsertComputed(column, () => columns++)
    const key = `${number} ${begin}`
    const kept = blocks.get(key)
    if (kept) return kept
    const made = render(column, begin, Math.min(begin + BLOCK, column.days.length))
    blocks.put(key, made, made.length)
    return made
  }
  return {
    encode(history, asked) {
      const { series, first, end } = history
      const head = JSON.stringify({
        provider: history.provider,
        series_id: series.id,
        external_code: series.external_code,
        pair: `${series.base_currency}/${series.quote_currency}`,
        rate_type: series.rate_type,
        date_from: history.from,
        date_to: history.to,
        count: end - first,
        as_of: asked?.as_of,
        holes: holesField(history.holes),
      })
      const points = pointsOf(history, blockOf)
      return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"points":[`), points, END])
    },
    state: () => ({ ...blocks.size(), ...stats }),
  }
}

/** The points, one at a time. */
export function* pointsIn({ column, first, end }: SeriesHistory): Iterable<RatePoint> {
  for (let at = first; at < end; at += 1) yield pointAt(column, at)
}

/** The points from index `first` to before index `end`, as the inside of a JSON array. */
function pointsOf(
  { column, first, end }: SeriesHistory,
  blockOf: (column: Column, begin: number) => Buffer,
): Uint8Array {
  if (first >= end) return NOTHING
  const parts: Buffer[] = []
  for (let begin = first - (first % BLOCK); begin < end; begin += BLOCK) {
    const text = blockOf(column, begin)
    const from = begin < first ? lengthOf(column, begin, first) : 0
    const to = end < begin + BLOCK ? lengthOf(column, begin, end) : text.length
    parts.push(text.subarray(from, to))
  }
  const text = parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? NOTHING)
  return text.subarray(0, -1) // without the last comma
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
