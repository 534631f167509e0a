// Formats of an export, CSV and NDJSON, for writing and reading. Each series has its covered days, then its values.
// At the end are the number of values and the SHA-256 of all bytes before (decisions 2.21).

import { createHash } from 'node:crypto'
import type { SeriesRow } from '../../../store/rates/series.ts'
import type { IsoDate } from '../../../values/dates.ts'
import type { Interval } from '../../../values/intervals.ts'

export type ExportFormat = 'csv' | 'ndjson'

/** Series of a line. */
export type ExportedSeries = {
  provider: string
  series_id: number
  external_code: string
  pair: string
  rate_type: string
}

/** A value; `stored_at` is an instant with milliseconds. */
export type ExportedValue = {
  rate_date: IsoDate
  value: string
  rounded_to: number | null
  stored_at: string
}

/** Last line of a file. */
export type ExportEnd = { kind: 'end'; count: number; sha256: string }

export type RateLine =
  | { kind: 'value'; series: ExportedSeries; value: ExportedValue }
  | { kind: 'covered'; series: ExportedSeries; days: Interval }

export const CSV_HEADER =
  'provider,series_id,external_code,pair,rate_type,rate_date,value,rounded_to,stored_at'

/** Lines in a part of an export: 150 kB, in 1 to 2 ms. */
export const LINES_AT_ONCE = 2000

const COVERED = '# covered,'
const END = '# end,'

/** Writes the lines of a format. The prefix of a series is made once for all its lines. */
export type LineWriter = {
  header: string
  covered(series: ExportedSeries, days: Interval): string
  /** Start of a line with a value of this series, up to its day. */
  prefix(series: ExportedSeries): string
  /** Remainder of the line; `storedAt` is the instant as text. */
  rest(day: IsoDate, value: string, roundedTo: number | undefined, storedAt: string): string
  end(count: number, sha256: string): string
}

export const WRITERS: Record<ExportFormat, LineWriter> = {
  csv: {
    header: `${CSV_HEADER}\n`,
    covered: (series, { from, to }) => `${COVERED}${csvPrefix(series)},${from},${to}\n`,
    prefix: (series) => `${csvPrefix(series)},`,
    rest: (day, value, roundedTo, storedAt) => `${day},${value},${roundedTo ?? ''},${storedAt}\n`,
    end: csvEnd,
  },
  ndjson: {
    header: '',
    covered: (series, { from, to }) =>
      `${JSON.stringify({ ...series, covered_from: from, covered_to: to })}\n`,
    prefix: (series) => `${JSON.stringify(series).slice(0, -1)},"rate_date":"`,
    rest: (day, value, roundedTo, storedAt) =>
      `${day}","value":"${value}","rounded_to":${roundedTo ?? null},"stored_at":"${storedAt}"}\n`,
    end: jsonEnd,
  },
}

/** Parses a line without its end; undefined: not a line of an export. Values are not validated. */
export function readLine(line: string, format: ExportFormat): RateLine | ExportEnd | undefined {
  return format === 'csv' ? readCsv(line) : readJson(line)
}

export function exportedSeries(series: SeriesRow, provider: string): ExportedSeries {
  return {
    provider,
    series_id: series.id,
    external_code: series.external_code,
    pair: `${series.base_currency}/${series.quote_currency}`,
    rate_type: series.rate_type,
  }
}

/** Encodes the parts of an export, which return the number of values, and appends the line of `end`. */
export function* encodeWithEnd(
  parts: Generator<string, number, void>,
  end: (count: number, sha256: string) => string,
): Generator<Buffer, void> {
  const hash = createHash('sha256')
  let part = parts.next()
  for (; !part.done; part = parts.next()) {
    const bytes = Buffer.from(part.value)
    hash.update(bytes)
    yield bytes
  }
  yield Buffer.from(end(part.value, hash.digest('hex')))
}

export function csvEnd(count: number, sha256: string): string {
  return `${END}${count},${sha256}\n`
}

export function jsonEnd(count: number, sha256: string): string {
  return `${JSON.stringify({ count, sha256 })}\n`
}

/** Parses the last line of a CSV; undefined: another line. */
export function readCsvEnd(line: string): ExportEnd | undefined {
  if (!line.startsWith(END)) return undefined
  const [count = '', sha256 = '', ...more] = line.slice(END.length).split(',')
  return more.length === 0 && /^\d+$/.test(count) ? { kind: 'end', count: Number(count), sha256 } : undefined
}

/** Parses a line of NDJSON; undefined: no object. */
export function jsonObject(line: string): Record<string, unknown> | undefined {
  try {
    const row = JSON.parse(line)
    return typeof row === 'object' && row !== null ? row : undefined
  } catch {
    return undefined // the caller reports the line
  }
}

/** Reads the object of the last line of NDJSON; undefined: another line. */
export function readJsonEnd({ count, sha256 }: Record<string, unknown>): ExportEnd | undefined {
  return typeof count === 'number' && typeof sha256 === 'string' ? { kind: 'end', count, sha256 } : undefined
}

/** Codes and pairs have neither commas nor quotes, because they are built into the program. */
function csvPrefix({ provider, series_id, external_code, pair, rate_type }: ExportedSeries): string {
  return `${provider},${series_id},${external_code},${pair},${rate_type}`
}

function readCsv(line: string): RateLine | ExportEnd | undefined {
  if (line.startsWith(END)) return readCsvEnd(line)
  const isCovered = line.startsWith(COVERED)
  const cells = (isCovered ? line.slice(COVERED.length) : line).split(',')
  if (cells.length !== (isCovered ? 7 : 9)) return undefined
  const [provider = '', id = '', external_code = '', pair = '', rate_type = '', ...rest] = cells
  if (!/^\d{1,15}$/.test(id)) return undefined
  const series = { provider, series_id: Number(id), external_code, pair, rate_type }
  if (isCovered) return { kind: 'covered', series, days: { from: rest[0] ?? '', to: rest[1] ?? '' } }
  const [rate_date = '', value = '', rounded = '', stored_at = ''] = rest
  if (!/^\d{0,2}$/.test(rounded)) return undefined
  const rounded_to = rounded === '' ? null : Number(rounded)
  return { kind: 'value', series, value: { rate_date, value, rounded_to, stored_at } }
}

function readJson(line: string): RateLine | ExportEnd | undefined {
  const row = jsonObject(line)
  if (!row) return undefined
  const end = readJsonEnd(row)
  if (end) return end
  const { provider, series_id, external_code, pair, rate_type } = row
  const texts = [provider, external_code, pair, rate_type]
  if (!texts.every((one) => typeof one === 'string') || !Number.isSafeInteger(series_id)) return undefined
  const series = { provider, series_id, external_code, pair, rate_type } as ExportedSeries
  const { covered_from: from, covered_to: to, rate_date, value, rounded_to, stored_at } = row
  if (typeof from === 'string' && typeof to === 'string')
    return { kind: 'covered', series, days: { from, to } }
  if (![rate_date, value, stored_at].every((one) => typeof one === 'string')) return undefined
  if (rounded_to !== null && !Number.isInteger(rounded_to)) return undefined
  return { kind: 'value', series, value: { rate_date, value, rounded_to, stored_at } as ExportedValue }
}
