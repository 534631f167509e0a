// Reads the file of an export. Accepts it as a whole or not at all. Its last line has the number of values and the
// SHA-256 of the text before. Each line must be valid.

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../runtime/errors.ts'
import { addDays, type IsoDate, isIsoDate } from '../../values/dates.ts'
import { canonicalDecimal } from '../../values/decimal.ts'
import type { Interval } from '../../values/intervals.ts'
import {
  CSV_HEADER,
  type ExportedSeries,
  type ExportedValue,
  type ExportFormat,
  type ExportLine,
  readLine,
} from './export-format.ts'

/** A series in a file, with its values by day. */
export type SeriesInFile = { series: ExportedSeries; covered: Interval[]; values: ExportedValue[] }

const MAX_DIGITS = 40 // limit for values of providers too
const MAX_DECIMALS = 20
const MAX_LINE_BYTES = 4096
const MAX_EXCERPT = 80

/** Reads the series of a file. @throws AppError `failed` for a file that is not a complete export */
export async function readExport(chunks: AsyncIterable<Buffer>): Promise<SeriesInFile[]> {
  const hash = createHash('sha256')
  const series: SeriesInFile[] = []
  const seenKeys = new Set<string>()
  let format: ExportFormat | undefined
  let number = 0
  let count = 0
  let hasEnd = false
  const rejection = (what: string) => new AppError('failed', `line ${number}: ${what}: nothing was imported`)
  const readNext = (bytes: Buffer) => {
    number += 1
    if (hasEnd) throw rejection('there is more after the end of the export')
    const text = bytes.toString('utf8', 0, bytes.length - 1)
    if (format === undefined) {
      format = text === CSV_HEADER ? 'csv' : 'ndjson'
      if (format === 'csv') return hash.update(bytes)
    }
    const line = readLine(text, format)
    if (!line) throw rejection(`not a line of cambista export: ${quotedExcerpt(text)}`)
    if (line.kind === 'end') {
      hasEnd = true
      if (line.sha256 !== hash.digest('hex'))
        throw rejection('the SHA-256 is that of other lines: the file was altered')
      if (line.count !== count) throw rejection(`the file has ${count} values, and not ${line.count}`)
      return
    }
    hash.update(bytes)
    let last = series.at(-1)
    if (!last || !isDeepStrictEqual(last.series, line.series)) {
      const { provider, external_code } = line.series
      const key = `${provider} ${external_code}`
      if (seenKeys.has(key)) throw rejection(`the series ${external_code} is there twice`)
      seenKeys.add(key)
      last = { series: line.series, covered: [], values: [] }
      series.push(last)
    }
    const fault = addLine(last, line)
    if (fault) throw rejection(fault)
    if (line.kind === 'value') count += 1
  }
  for await (const line of splitLines(chunks)) readNext(line)
  if (!hasEnd)
    throw new AppError('failed', 'the file has no end, so a part of it is missing: nothing was imported')
  return series
}

/** Adds a line to its series; returns the fault of an invalid one. */
function addLine(
  { covered, values }: SeriesInFile,
  line: Exclude<ExportLine, { kind: 'end' }>,
): string | undefined {
  if (line.kind === 'covered') {
    const { from, to } = line.days
    if (!isIsoDate(from) || !isIsoDate(to) || from > to) return `no range of days: ${from} to ${to}`
    const previous = covered.at(-1)
    if (previous && from <= addDays(previous.to, 1)) return `the days from ${from} are not in order`
    covered.push(line.days)
    return undefined
  }
  const { value } = line
  const fault = valueFault(value, values.at(-1)?.rate_date)
  if (!fault) values.push(value)
  return fault
}

function valueFault(
  { rate_date, value, rounded_to, stored_at }: ExportedValue,
  previous: IsoDate | undefined,
): string | undefined {
  if (!isIsoDate(rate_date)) return `${quotedExcerpt(rate_date)} is no day`
  if (previous !== undefined && rate_date <= previous) return `${rate_date} is not after ${previous}`
  const isValue = value.length <= MAX_DIGITS && canonicalDecimal(value) === value
  if (!isValue || value === '0' || value.startsWith('-')) return `${quotedExcerpt(value)} is no value`
  if (rounded_to !== null && (rounded_to < 0 || rounded_to > MAX_DECIMALS)) {
    return `${rounded_to} is no number of decimals`
  }
  const instant = Date.parse(stored_at)
  const isInstant = !Number.isNaN(instant) && new Date(instant).toISOString() === stored_at
  return isInstant ? undefined : `${quotedExcerpt(stored_at)} is no instant such as 2026-03-24T12:00:00.000Z`
}

/**
 * Splits text into lines with their ends.
 * @throws AppError `failed` for a last line without an end, or one that is too long
 */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let from = 0
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      yield bytes.subarray(from, at + 1)
      from = at + 1
    }
    rest = Buffer.from(bytes.subarray(from))
    if (rest.length > MAX_LINE_BYTES)
      throw new AppError('failed', 'the file is no export of cambista: its lines are too long')
  }
  if (rest.length > 0) {
    throw new AppError(
      'failed',
      'the file ends within a line, so a part of it is missing: nothing was imported',
    )
  }
}

function quotedExcerpt(text: string): string {
  return JSON.stringify(text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text)
}
