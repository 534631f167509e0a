// Reads what an export wrote. A file is believed as a whole or not at all: it must have its end, with the number of values
// and the SHA-256 of what came before, and each line must be one that an export writes.

import { createHash } from 'node:crypto'
import { addDays, type IsoDate, isIsoDate } from '../../dates.ts'
import { canonicalDecimal } from '../../decimal.ts'
import { AppError } from '../../errors.ts'
import type { Interval } from '../../intervals.ts'
import {
  CSV_HEADER,
  type ExportedSeries,
  type ExportedValue,
  type ExportFormat,
  type ExportLine,
  readLine,
} from './export-format.ts'

/** What a file says of one series, in the order of days. */
export type SeriesInFile = { series: ExportedSeries; covered: Interval[]; values: ExportedValue[] }

const MOST_DIGITS = 40 // as of values that are read from a provider
const MOST_DECIMALS = 20
const LONGEST_LINE = 4096
const SHOWN = 80

/** The series of a file, in its order. @throws AppError `failed` for a file that is not wholly an export */
export async function readExport(chunks: AsyncIterable<Buffer>): Promise<SeriesInFile[]> {
  const hash = createHash('sha256')
  const found: SeriesInFile[] = []
  const seen = new Set<string>()
  let format: ExportFormat | undefined
  let number = 0
  let count = 0
  let isOver = false
  const refuse = (what: string) => new AppError('failed', `line ${number}: ${what}: nothing was imported`)
  const take = (bytes: Buffer) => {
    number += 1
    if (isOver) throw refuse('there is more after the end of the export')
    const text = bytes.toString('utf8', 0, bytes.length - 1)
    if (format === undefined) {
      format = text === CSV_HEADER ? 'csv' : 'ndjson'
      if (format === 'csv') return hash.update(bytes)
    }
    const line = readLine(text, format)
    if (!line) throw refuse(`no line of an export of cambista: ${excerpt(text)}`)
    if (line.kind === 'end') {
      isOver = true
      if (line.sha256 !== hash.digest('hex'))
        throw refuse('the SHA-256 is that of other lines: the file was altered')
      if (line.count !== count) throw refuse(`the file has ${count} values, and not ${line.count}`)
      return
    }
    hash.update(bytes)
    let last = found.at(-1)
    if (!last || !isSame(last.series, line.series)) {
      const { provider, external_code } = line.series
      const key = `${provider} ${external_code}`
      if (seen.has(key)) throw refuse(`the series ${external_code} is there twice`)
      seen.add(key)
      last = { series: line.series, covered: [], values: [] }
      found.push(last)
    }
    const fault = add(last, line)
    if (fault) throw refuse(fault)
    if (line.kind === 'value') count += 1
  }
  for await (const line of linesOf(chunks)) take(line)
  if (!isOver)
    throw new AppError('failed', 'the file has no end, so a part of it is missing: nothing was imported')
  return found
}

/** Adds a line to what is known of its series; what is wrong with it, if something is. */
function add(
  { covered, values }: SeriesInFile,
  line: Exclude<ExportLine, { kind: 'end' }>,
): string | undefined {
  if (line.kind === 'covered') {
    const { from, to } = line.days
    if (!isIsoDate(from) || !isIsoDate(to) || from > to) return `no range of days: ${from} to ${to}`
    const before = covered.at(-1)
    if (before && from <= addDays(before.to, 1)) return `the days from ${from} are not in order`
    covered.push(line.days)
    return undefined
  }
  const { value } = line
  const fault = faultOf(value, values.at(-1)?.rate_date)
  if (!fault) values.push(value)
  return fault
}

function faultOf(
  { rate_date, value, rounded_to, stored_at }: ExportedValue,
  before: IsoDate | undefined,
): string | undefined {
  if (!isIsoDate(rate_date)) return `${excerpt(rate_date)} is no day`
  if (before !== undefined && rate_date <= before) return `${rate_date} is not after ${before}`
  const isValue = value.length <= MOST_DIGITS && canonicalDecimal(value) === value
  if (!isValue || value === '0' || value.startsWith('-')) return `${excerpt(value)} is no value`
  if (rounded_to !== null && (rounded_to < 0 || rounded_to > MOST_DECIMALS)) {
    return `${rounded_to} is no number of decimals`
  }
  const instant = Date.parse(stored_at)
  const isInstant = !Number.isNaN(instant) && new Date(instant).toISOString() === stored_at
  return isInstant ? undefined : `${excerpt(stored_at)} is no instant such as 2026-03-24T12:00:00.000Z`
}

function isSame(a: ExportedSeries, b: ExportedSeries): boolean {
  return (
    a.external_code === b.external_code &&
    a.provider === b.provider &&
    a.series_id === b.series_id &&
    a.pair === b.pair &&
    a.rate_type === b.rate_type
  )
}

/** Lines with their ends. @throws AppError `failed` for a last one without, or one that is too long */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let from = 0
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      yield bytes.subarray(from, at + 1)
      from = at + 1
    }
    rest = Buffer.from(bytes.subarray(from))
    if (rest.length > LONGEST_LINE)
      throw new AppError('failed', 'the file is no export of cambista: its lines are too long')
  }
  if (rest.length > 0) {
    throw new AppError(
      'failed',
      'the file ends within a line, so a part of it is missing: nothing was imported',
    )
  }
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)
}
