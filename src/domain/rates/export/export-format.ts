// Formats of an export, CSV and NDJSON, for writing and reading. Each series, or indicator, has its covered days, then
// its values. At the end are the number of values and the SHA-256 of all bytes before (decisions#export).

import { createHash } from 'node:crypto'
import type { ProviderRow } from '../../../store/rates/providers.ts'
import type { SeriesRow } from '../../../store/rates/series.ts'
import { ascendingInstants, type StoredAtRun } from '../../../store/rates/stored-at.ts'
import { type IsoDate, isoDate } from '../../../values/dates.ts'
import type { Interval } from '../../../values/intervals.ts'
import { type Column, columnDecimals, columnValue } from '../column.ts'

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
  day: IsoDate
  value: string
  rounded_to: number | null
  stored_at: string
}

/** Last line of a file. */
export type ExportEnd = { kind: 'end'; count: number; sha256: string }

/** Line of an owner: a series or an indicator. Or the mark of a provider whose values are invented. */
export type OwnedLine<O> =
  | { kind: 'invented'; provider: string }
  | { kind: 'value'; owner: O; value: ExportedValue }
  | { kind: 'covered'; owner: O; days: Interval }

/** Fields of the lines: the names of those of an owner, and of the day of a value. */
export type LineFields<O> = {
  owner: readonly (keyof O & string)[]
  day: 'rate_date' | 'value_date'
  hasRounding: boolean
}

/** Data of an owner; `head`: a line before them, `runs`: instants by day. */
export type ExportedColumn<O> = {
  head?: string
  owner: O
  covered: Iterable<Interval>
  column: Column
  runs: readonly StoredAtRun[]
}

export const RATE_FIELDS: LineFields<ExportedSeries> = {
  owner: ['provider', 'series_id', 'external_code', 'pair', 'rate_type'],
  day: 'rate_date',
  hasRounding: true,
}
const LINES_AT_ONCE = 2000 // 150 kB, in 1 to 2 ms
const COVERED = '# covered,'
const END = '# end,'
const INVENTED_MARK = '# invented,'
/** CSV cells that are numbers. */
const NUMBERS: ReadonlyMap<string, RegExp> = new Map([
  ['series_id', /^\d{1,15}$/],
  ['rounded_to', /^\d{0,2}$/],
])

/** Writes the lines of a format. The prefix of an owner is made once for all its lines. */
export type LineWriter<O> = {
  header: string
  invented(provider: string): string
  covered(owner: O, days: Interval): string
  /** Start of a line with a value of this owner, up to its day. */
  prefix(owner: O): string
  /** Remainder of the line; `storedAt` is the instant as text. */
  rest(day: IsoDate, value: string, roundedTo: number | undefined, storedAt: string): string
  end(count: number, sha256: string): string
}

export const WRITERS = createWriters(RATE_FIELDS)

/** Codes and pairs have neither commas nor quotes, because they are built into the program. */
export function createWriters<O>(fields: LineFields<O>): Record<ExportFormat, LineWriter<O>> {
  const { day: dayName, hasRounding } = fields
  const cells = (owner: O) => fields.owner.map((name) => owner[name]).join(',')
  return {
    csv: {
      header: `${csvHeader(fields)}\n`,
      invented: (provider) => `${INVENTED_MARK}${provider}\n`,
      covered: (owner, { from, to }) => `${COVERED}${cells(owner)},${from},${to}\n`,
      prefix: (owner) => `${cells(owner)},`,
      rest: (day, value, roundedTo, storedAt) =>
        `${day},${value},${hasRounding ? `${roundedTo ?? ''},` : ''}${storedAt}\n`,
      end: (count, sha256) => `${END}${count},${sha256}\n`,
    },
    ndjson: {
      header: '',
      invented: (invented) => `${JSON.stringify({ invented })}\n`,
      covered: (owner, { from, to }) =>
        `${JSON.stringify({ ...owner, covered_from: from, covered_to: to })}\n`,
      prefix: (owner) => `${JSON.stringify(owner).slice(0, -1)},"${dayName}":"`,
      rest: (day, value, roundedTo, storedAt) =>
        `${day}","value":"${value}",${hasRounding ? `"rounded_to":${roundedTo ?? null},` : ''}"stored_at":"${storedAt}"}\n`,
      end: (count, sha256) => `${JSON.stringify({ count, sha256 })}\n`,
    },
  }
}

export function csvHeader<O>(fields: LineFields<O>): string {
  return [...fields.owner, ...valueNames(fields)].join(',')
}

function valueNames<O>({ day, hasRounding }: LineFields<O>): string[] {
  return [day, 'value', ...(hasRounding ? ['rounded_to'] : []), 'stored_at']
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

/** Encodes an export in parts. The marks of invented values are below the values. */
export function* encodeExport<O>(
  all: Iterable<ExportedColumn<O>>,
  writer: LineWriter<O>,
  providers: readonly ProviderRow[],
): Generator<Buffer, void> {
  const hash = createHash('sha256')
  const encode = (text: string) => {
    const bytes = Buffer.from(text)
    hash.update(bytes)
    return bytes
  }
  let count = 0
  let text = writer.header
  for (const { head = '', owner, covered, column, runs } of all) {
    text += head
    for (const days of covered) text += writer.covered(owner, days)
    const prefix = writer.prefix(owner)
    const findInstant = ascendingInstants(runs)
    for (let at = 0; at < column.days.length; at += 1) {
      const day = isoDate(column.days[at] ?? 0)
      text += prefix + writer.rest(day, columnValue(column, at), columnDecimals(column, at), findInstant(day))
      if (at % LINES_AT_ONCE !== LINES_AT_ONCE - 1) continue
      yield encode(text)
      text = ''
    }
    count += column.days.length
  }
  for (const { code, invented } of providers) if (invented) text += writer.invented(code)
  if (text !== '') yield encode(text)
  yield Buffer.from(writer.end(count, hash.digest('hex')))
}

/** Parses a line without its end; undefined: not a line of an export. Values are not validated. */
export function readOwnedLine<O>(
  line: string,
  format: ExportFormat,
  fields: LineFields<O>,
): OwnedLine<O> | ExportEnd | undefined {
  if (format === 'csv' && line.startsWith(END)) return readCsvEnd(line)
  if (format === 'csv' && line.startsWith(INVENTED_MARK))
    return { kind: 'invented', provider: line.slice(INVENTED_MARK.length) }
  const row = format === 'csv' ? csvRow(line, fields) : jsonObject(line)
  return row && readRow(row, fields)
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

function readCsvEnd(line: string): ExportEnd | undefined {
  const [count = '', sha256 = '', ...more] = line.slice(END.length).split(',')
  return more.length === 0 && /^\d+$/.test(count) ? { kind: 'end', count: Number(count), sha256 } : undefined
}

/** Parses a line of CSV to the fields of NDJSON. */
function csvRow<O>(line: string, fields: LineFields<O>): Record<string, unknown> | undefined {
  const isCovered = line.startsWith(COVERED)
  if (!isCovered && line.startsWith('#')) return undefined
  const cells = (isCovered ? line.slice(COVERED.length) : line).split(',')
  const names = [...fields.owner, ...(isCovered ? ['covered_from', 'covered_to'] : valueNames(fields))]
  if (cells.length !== names.length) return undefined
  const row: Record<string, unknown> = {}
  for (const [at, name] of names.entries()) {
    const cell = cells[at] ?? ''
    row[name] = !NUMBERS.get(name)?.test(cell) ? cell : cell === '' ? null : Number(cell)
  }
  return row
}

function readRow<O>(
  row: Record<string, unknown>,
  fields: LineFields<O>,
): OwnedLine<O> | ExportEnd | undefined {
  const { count, sha256, covered_from: from, covered_to: to, value, stored_at, invented } = row
  if (typeof invented === 'string') return { kind: 'invented', provider: invented }
  if (typeof count === 'number' && typeof sha256 === 'string') return { kind: 'end', count, sha256 }
  const isOwner = fields.owner.every((name) =>
    name === 'series_id' ? Number.isSafeInteger(row[name]) : typeof row[name] === 'string',
  )
  if (!isOwner) return undefined
  const owner = Object.fromEntries(fields.owner.map((name) => [name, row[name]])) as O
  if (typeof from === 'string' && typeof to === 'string')
    return { kind: 'covered', owner, days: { from, to } }
  const day = row[fields.day]
  const rounded_to = fields.hasRounding ? row.rounded_to : null
  if (![day, value, stored_at].every((one) => typeof one === 'string')) return undefined
  if (rounded_to !== null && !Number.isInteger(rounded_to)) return undefined
  return { kind: 'value', owner, value: { day, value, rounded_to, stored_at } as ExportedValue }
}
