// Encodes a history as JSON. Points are encoded once for each block of a column, and a range is a slice of that.
// Blocks make a range as cheap in a long column as in a short one.

import { type Column, columnDecimals, columnValue } from '../../domain/rates/column.ts'
import type { SeriesHistory } from '../../domain/rates/queries.ts'
import { type RatePoint, ratePoint } from '../../domain/rates/rates.ts'
import { type CacheStats, createLruCache } from '../../runtime/lru.ts'
import { isoDate } from '../../values/dates.ts'
import { holesField } from '../figures/holes.ts'

const BLOCK = 4096 // points, of some 50 bytes
const CACHE_BYTES = 4 * 1024 * 1024
const BEFORE_VALUE = '{"rate_date":"YYYY-MM-DD","value":"'.length
const AFTER_VALUE = '"},'.length // after an exact value
const END = Buffer.from(']}')
const NOTHING = new Uint8Array()

export type HistoryEncoder = {
  encode(history: SeriesHistory, query?: { as_of?: string | undefined }): Uint8Array
  /** State of the block cache. */
  state(): CacheStats & { entries: number; bytes: number }
}

export function createHistoryEncoder(): HistoryEncoder {
  const stats = { hits: 0, misses: 0 }
  const blocks = createLruCache<Buffer>(CACHE_BYTES, stats)
  const numbers = new WeakMap<Column, number>() // a column that has changed is another one
  let columns = 0
  const cachedBlock = (column: Column, begin: number) => {
    const number = numbers.getOrInsertComputed(column, () => columns++)
    const key = `${number} ${begin}`
    const cached = blocks.get(key)
    if (cached) return cached
    const block = render(column, begin, Math.min(begin + BLOCK, column.days.length))
    blocks.put(key, block, block.length)
    return block
  }
  return {
    encode(history, query) {
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
        as_of: query?.as_of,
        holes: holesField(history.holes),
      })
      const points = pointsText(history, cachedBlock)
      return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"points":[`), points, END])
    },
    state: () => ({ ...blocks.size(), ...stats }),
  }
}

/** Lists the points. */
export function* listPoints({ column, first, end }: SeriesHistory): Iterable<RatePoint> {
  for (let at = first; at < end; at += 1) yield ratePoint(column, at)
}

/** Encodes the points from index `first` to before index `end`, as the inside of a JSON array. */
function pointsText(
  { column, first, end }: SeriesHistory,
  blockOf: (column: Column, begin: number) => Buffer,
): Uint8Array {
  if (first >= end) return NOTHING
  const parts: Buffer[] = []
  for (let begin = first - (first % BLOCK); begin < end; begin += BLOCK) {
    const text = blockOf(column, begin)
    const from = begin < first ? textLength(column, begin, first) : 0
    const to = end < begin + BLOCK ? textLength(column, begin, end) : text.length
    parts.push(text.subarray(from, to))
  }
  const text = parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? NOTHING)
  return text.subarray(0, -1) // without the last comma
}

/** Returns the length of encoded points: dates have a fixed length, values do not. */
function textLength(column: Column, first: number, end: number): number {
  const { starts, rounded } = column
  let length = (end - first) * (BEFORE_VALUE + AFTER_VALUE) + (starts[end] ?? 0) - (starts[first] ?? 0)
  if (rounded) for (let at = first; at < end; at += 1) length += roundedText(column, at).length
  return length
}

function roundedText(column: Column, at: number): string {
  const decimals = columnDecimals(column, at)
  return decimals === undefined ? '' : `,"rounded_to":${decimals}`
}

function render(column: Column, first: number, end: number): Buffer {
  let text = ''
  for (let at = first; at < end; at += 1) {
    const date = isoDate(column.days[at] ?? 0)
    text += `{"rate_date":"${date}","value":"${columnValue(column, at)}"${roundedText(column, at)}},`
  }
  return Buffer.from(text, 'latin1')
}
