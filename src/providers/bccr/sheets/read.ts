// Reads a file from the bank's website: a workbook, or the same as CSV (upstream 5). An invalid cell rejects the whole
// file, with the place of each such cell. Nothing is guessed: neither the indicator, nor the decimal sign, nor the
// order of day and month.

import type { Sheet } from '../../../formats/sheets/cells.ts'
import { readCsvSheet } from '../../../formats/sheets/csv.ts'
import { readWorkbook } from '../../../formats/sheets/workbook.ts'
import { AppError } from '../../../runtime/errors.ts'
import { toIntervals } from '../../../values/intervals.ts'
import type { SpreadsheetFile, SpreadsheetSeries } from '../../provider.ts'
import { findSeries } from './names.ts'
import { findDecimalSign, readValue, type SheetValue } from './numbers.ts'
import { findTable, type IndicatorTable, type SheetValues } from './tables.ts'

const REPORTED_FAULTS = 10

type CodedValues = { code: string; values: SheetValues }

/** @throws AppError `failed`, with the place of each invalid cell */
export async function readBankFile(file: SpreadsheetFile): Promise<SpreadsheetSeries[]> {
  const table = findOnlyTable(await readSheets(file.bytes))
  const columns = assignCodes(table, file)
  const cells = columns.flatMap(({ values }) =>
    values.entries.flatMap(({ cell, place }) => (cell ? [{ cell, place }] : [])),
  )
  const sign = findDecimalSign(cells, file.decimal)
  if (typeof sign === 'object') throw fileError([sign.fault])
  const faults = [...table.faults]
  const series = columns.map((one) => readSeries(one, file, sign, faults))
  if (faults.length > 0) throw fileError(faults)
  return series
}

async function readSheets(bytes: Buffer): Promise<Sheet[]> {
  const begin = bytes.toString('latin1', 0, 200)
  if (begin.startsWith('PK')) return readWorkbook(bytes)
  const remedy =
    'open it in a spreadsheet, look whether its numbers have their decimals, and save it as .xlsx'
  if (begin.startsWith('\xd0\xcf\x11\xe0'))
    throw fileError([`the file is a workbook of before 2007: ${remedy}`])
  if (/^(\xef\xbb\xbf)?\s*</.test(begin))
    throw fileError([`the file is a web page, whatever its name says: ${remedy}`])
  return [readCsvSheet(bytes, (sheet) => findTable(sheet) !== undefined)]
}

function findOnlyTable(sheets: readonly Sheet[]): IndicatorTable {
  const tables = sheets.flatMap((sheet) => {
    const table = findTable(sheet)
    return table ? [{ name: sheet.name, table }] : []
  })
  const [first, second] = tables
  if (!first) throw fileError(['there is no table of days and values in it'])
  if (second)
    throw fileError([`there are tables in several sheets, ${first.name} and ${second.name}: keep one`])
  if (first.table === 'monthly') throw fileError(['its values are of months, and the rates here are of days'])
  return first.table
}

/** Determines the series of each column. */
function assignCodes(
  { series, headings }: IndicatorTable,
  { series: candidates, code }: SpreadsheetFile,
): CodedValues[] {
  const columns = series.map((values) => {
    const title = values.title === undefined ? undefined : findSeries(values.title, headings, candidates)
    return {
      values,
      code: title?.code ?? (series.length === 1 ? headingCode(headings, candidates) : undefined),
    }
  })
  if (code !== undefined) {
    if (!candidates.some((one) => one.code === code))
      throw fileError([`there is no indicator ${code} among the series here`])
    const [only, ...others] = columns.filter((one) => one.code === code)
    if (only && others.length === 0) return [{ ...only, code }]
    const [column, ...more] = columns
    if (column && column.code === undefined && more.length === 0) return [{ ...column, code }]
    throw fileError([
      `the file does not have the indicator ${code}, or not once: it has ${describeColumns(columns)}`,
    ])
  }
  const coded = columns.flatMap((one) => (one.code === undefined ? [] : [{ ...one, code: one.code }]))
  if (coded.length < columns.length || new Set(coded.map((one) => one.code)).size < coded.length) {
    throw fileError([
      `which indicator it is of cannot be told from ${describeColumns(columns)}: give --indicator, such as 318`,
    ])
  }
  return coded
}

/** Returns the only series that the texts above a table name. */
function headingCode(headings: readonly string[], candidates: SpreadsheetFile['series']): string | undefined {
  const codes = new Set(headings.map((heading) => findSeries(heading, [], candidates)?.code).filter(Boolean))
  const [code] = codes
  return codes.size === 1 ? code : undefined
}

function describeColumns(columns: readonly { values: SheetValues; code: string | undefined }[]): string {
  return columns
    .map(
      ({ values: { title, place }, code }) =>
        `${place} ${title === undefined ? 'without a title' : JSON.stringify(title.slice(0, 80))}${code ? ` (${code})` : ''}`,
    )
    .join(', ')
}

function readSeries(
  { code, values: { entries, place: titlePlace } }: CodedValues,
  { exact, lastDay }: SpreadsheetFile,
  sign: 'comma' | 'point',
  faults: string[],
): SpreadsheetSeries {
  const days = new Map<string, string>()
  const earlierFaults = faults.length
  const rows: { day: string; place: string; value: SheetValue }[] = []
  for (const { day, cell, place } of entries) {
    const first = days.get(day)
    if (first !== undefined) faults.push(`${place}: ${day} is there already, in ${first}`)
    days.set(day, place)
    if (!cell) continue
    if (day > lastDay) faults.push(`${place}: ${day} is after ${lastDay}, of which no value can be known`)
    const value = readValue(cell, sign, exact)
    if ('fault' in value) faults.push(`${place}: ${value.fault}`)
    else rows.push({ day, place, value })
  }
  if (rows.length === 0 && faults.length === earlierFaults)
    faults.push(`${titlePlace}: there are no values of ${code}`)
  const doubt = dateDoubt(entries.filter(({ cell }) => cell))
  if (doubt) faults.push(`${titlePlace}: ${doubt}: write them as texts such as 2026-03-24`)
  rows.sort((a, b) => (a.day < b.day ? -1 : 1))
  const mostDecimals = rows.reduce(
    (most, { value }) => (value.fixed ? most : Math.max(most, value.decimals)),
    0,
  )
  const newest = rows.at(-1)?.day ?? ''
  return {
    code,
    values: rows.map(({ day, place, value: { value, decimals, fixed } }) => ({
      ...{ day, value, place },
      roundedTo: exact ? undefined : fixed ? decimals : mostDecimals,
    })),
    // An empty cell before the newest value means "no value"; after it, the value may not be published yet.
    covered: toIntervals([...days.keys()].filter((day) => day <= newest).sort()),
  }
}

/**
 * Explains why the days may be wrong. A spreadsheet with US settings turns 03/12/2026 into the date 12 March and leaves
 * 24/03/2026 as text. Days such as 11/01, 11/02 may be in November, or months.
 */
function dateDoubt(entries: SheetValues['entries']): string | undefined {
  const notations = new Set(entries.map(({ notation }) => notation))
  if (notations.has('date') && notations.has('numbers')) {
    return 'some days are dates and others texts, as where a program took months for days'
  }
  if (entries.length < 2 || notations.has('clear')) return undefined
  const isOneOfMonth = new Set(entries.map(({ day }) => day.slice(8))).size === 1
  return isOneOfMonth ? 'each day is the same of another month' : undefined
}

function fileError(faults: readonly string[]): AppError {
  const more = faults.length > REPORTED_FAULTS ? [`and ${faults.length - REPORTED_FAULTS} more`] : []
  return new AppError('failed', [...faults.slice(0, REPORTED_FAULTS), ...more].join('\n  '))
}
