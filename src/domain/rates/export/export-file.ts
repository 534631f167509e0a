// Reads the file of an export. Accepts it as a whole or not at all. Its last line has the number of values and the
// SHA-256 of the text before. Each line must be valid.

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../runtime/errors.ts'
import { addDays, type IsoDate, isIsoDate } from '../../../values/dates.ts'
import { isCanonicalDecimal, isPositive } from '../../../values/decimal.ts'
import type { Interval } from '../../../values/intervals.ts'
import {
  csvHeader,
  type ExportEnd,
  type ExportedSeries,
  type ExportedValue,
  type ExportFormat,
  type OwnedLine,
  RATE_FIELDS,
  readOwnedLine,
} from './export-format.ts'

/** Covered days and values of a series or an indicator in a file, by day. `invented`: those of a demo. */
export type OwnedData = { covered: Interval[]; values: ExportedValue[]; invented?: true }

export type SeriesInFile = OwnedData & { series: ExportedSeries }

const MAX_DIGITS = 40 // limit for values of providers too
const MAX_DECIMALS = 20
const MAX_LINE_BYTES = 4096
const MAX_EXCERPT = 80

/** Lines of a kind of export, without its end. `addLine` returns the fault of an invalid line. */
type LineReader<L> = {
  header: string
  readLine(text: string, format: ExportFormat): L | ExportEnd | undefined
  addLine(line: L): string | undefined
}

/** Reads the series of a file. @throws AppError `failed` for a file that is not a complete export */
export async function readExport(chunks: AsyncIterable<Buffer>): Promise<SeriesInFile[]> {
  const series: SeriesInFile[] = []
  const seenKeys = new Set<string>()
  await readExportLines<OwnedLine<ExportedSeries>>(chunks, {
    header: csvHeader(RATE_FIELDS),
    readLine: (text, format) => readOwnedLine(text, format, RATE_FIELDS),
    addLine(line) {
      if (line.kind === 'invented') return markOwners(series, ({ series }) => series, line)
      let last = series.at(-1)
      if (!last || !isDeepStrictEqual(last.series, line.owner)) {
        const { provider, external_code } = line.owner
        const key = `${provider} ${external_code}`
        if (seenKeys.has(key)) return `the series ${external_code} is there twice`
        seenKeys.add(key)
        last = { series: line.owner, covered: [], values: [] }
        series.push(last)
      }
      return addOwnedLine(last, line)
    },
  })
  return series
}

/**
 * Reads the lines of a file, and validates its end: the number of values and the SHA-256.
 * @throws AppError `failed` for a file that is not a complete export, with the number of the line
 */
export async function readExportLines<L extends { kind: string }>(
  chunks: AsyncIterable<Buffer>,
  { header, readLine, addLine }: LineReader<L>,
): Promise<void> {
  const hash = createHash('sha256')
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
      format = text === header ? 'csv' : 'ndjson'
      if (format === 'csv') return hash.update(bytes)
    }
    const line = readLine(text, format)
    if (!line) throw rejection(`not a line of cambista export: ${quotedStart(text)}`)
    if (isEnd(line)) {
      hasEnd = true
      if (line.sha256 !== hash.digest('hex'))
        throw rejection('the SHA-256 is that of other lines: the file was altered')
      if (line.count !== count) throw rejection(`the file has ${count} values, and not ${line.count}`)
      return
    }
    hash.update(bytes)
    const fault = addLine(line)
    if (fault) throw rejection(fault)
    if (line.kind === 'value') count += 1
  }
  for await (const line of splitLines(chunks)) readNext(line)
  if (!hasEnd)
    throw new AppError('failed', 'the file has no end, so a part of it is missing: nothing was imported')
}

function isEnd(line: { kind: string } | ExportEnd): line is ExportEnd {
  return line.kind === 'end'
}

/** Marks the data of a provider as invented. */
export function markOwners<D extends OwnedData>(
  all: readonly D[],
  owner: (data: D) => { provider: string },
  { provider }: { provider: string },
): undefined {
  for (const one of all) if (owner(one).provider === provider) one.invented = true
}

/**
 * Adds a line to its owner; returns the fault of an invalid one. `anySign`: zero and negative values are valid. Covered
 * days and values are in order.
 */
export function addOwnedLine(
  { covered, values }: OwnedData,
  line: Exclude<OwnedLine<unknown>, { kind: 'invented' }>,
  { anySign = false } = {},
): string | undefined {
  const fault =
    line.kind === 'covered'
      ? coveredFault(line.days, covered.at(-1))
      : valueFault(line.value, values.at(-1)?.day, anySign)
  if (fault !== undefined) return fault
  if (line.kind === 'covered') covered.push(line.days)
  else values.push(line.value)
  return undefined
}

function coveredFault({ from, to }: Interval, previous: Interval | undefined): string | undefined {
  if (!isIsoDate(from) || !isIsoDate(to) || from > to) return `no range of days: ${from} to ${to}`
  if (previous && from <= addDays(previous.to, 1)) return `the days from ${from} are not in order`
  return undefined
}

function valueFault(
  { day, value, rounded_to, stored_at }: ExportedValue,
  previous: IsoDate | undefined,
  anySign: boolean,
): string | undefined {
  if (!isIsoDate(day)) return `${quotedStart(day)} is no day`
  if (previous !== undefined && day <= previous) return `${day} is not after ${previous}`
  const isValue = value.length <= MAX_DIGITS && isCanonicalDecimal(value) && (anySign || isPositive(value))
  if (!isValue) return `${quotedStart(value)} is no value`
  if (rounded_to !== null && (rounded_to < 0 || rounded_to > MAX_DECIMALS)) {
    return `${rounded_to} is no number of decimals`
  }
  const instant = Date.parse(stored_at)
  const isInstant = !Number.isNaN(instant) && new Date(instant).toISOString() === stored_at
  return isInstant ? undefined : `${quotedStart(stored_at)} is no instant such as 2026-03-24T12:00:00.000Z`
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

export function quotedStart(text: string): string {
  return JSON.stringify(text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text)
}
