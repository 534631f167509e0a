// Reads a file that the bank's website hands out: a workbook, or the same as CSV (upstream 5). What is not understood makes
// the whole file refused, each bad cell by its place, and nothing is guessed: neither the indicator nor the decimal sign nor
// which number is the month.

import { AppError } from '../../../errors.ts'
import { runsOf } from '../../../intervals.ts'
import type { Sheet } from '../../../spreadsheets/cells.ts'
import { readCsvSheet } from '../../../spreadsheets/csv.ts'
import { readWorkbook } from '../../../spreadsheets/workbook.ts'
import type { SpreadsheetFile, SpreadsheetSeries } from '../../provider.ts'
import { seriesNamed } from './names.ts'
import { decimalSignOf, readValue, type Shown } from './numbers.ts'
import { findTable, type Table, type Values } from './tables.ts'

const NAMED_FAULTS = 10

type Found = { code: string; values: Values }

/** @throws AppError `failed`, which names each bad cell */
export async function readBankFile(file: SpreadsheetFile): Promise<SpreadsheetSeries[]> {
  const table = tableOf(await sheetsOf(file.bytes))
  const found = codesOf(table, file)
  const cells = found.flatMap(({ values }) =>
    values.entries.flatMap(({ cell, place }) => (cell ? [{ cell, place }] : [])),
  )
  const sign = decimalSignOf(cells, file.decimal)
  if (typeof sign === 'object') throw refused([sign.fault])
  const faults = [...table.faults]
  const series = found.map((one) => readSeries(one, file, sign, faults))
  if (faults.length > 0) throw refused(faults)
  return series
}

async function sheetsOf(bytes: Buffer): Promise<Sheet[]> {
  const begin = bytes.toString('latin1', 0, 200)
  if (begin.startsWith('PK')) return readWorkbook(bytes)
  const howTo = 'open it in a spreadsheet, look whether its numbers have their decimals, and save it as .xlsx'
  if (begin.startsWith('\xd0\xcf\x11\xe0')) throw refused([`the file is a workbook of before 2007: ${howTo}`])
  if (/^(\xef\xbb\xbf)?\s*</.test(begin))
    throw refused([`the file is a web page, whatever its name says: ${howTo}`])
  return [readCsvSheet(bytes)]
}

function tableOf(sheets: readonly Sheet[]): Table {
  const tables = sheets.flatMap((sheet) => {
    const table = findTable(sheet)
    return table ? [{ name: sheet.name, table }] : []
  })
  const [found, second] = tables
  if (!found) throw refused(['there is no table of days and values in it'])
  if (second)
    throw refused([`there are tables in several sheets, ${found.name} and ${second.name}: keep one`])
  if (found.table === 'monthly') throw refused(['its values are of months, and the rates here are of days'])
  return found.table
}

/** Of which series the columns are. */
function codesOf({ series, headings }: Table, { series: known, code }: SpreadsheetFile): Found[] {
  const named = series.map((values) => {
    const title = values.title === undefined ? undefined : seriesNamed(values.title, headings, known)
    return { values, code: title?.code ?? (series.length === 1 ? codeAbove(headings, known) : undefined) }
  })
  if (code !== undefined) {
    if (!known.some((one) => one.code === code))
      throw refused([`there is no indicator ${code} among the series here`])
    const [only, ...others] = named.filter((one) => one.code === code)
    if (only && others.length === 0) return [{ ...only, code }]
    const [column, ...more] = named
    if (column && column.code === undefined && more.length === 0) return [{ ...column, code }]
    throw refused([`the file does not have the indicator ${code}, or not once: it has ${titlesOf(named)}`])
  }
  const found = named.flatMap((one) => (one.code === undefined ? [] : [{ ...one, code: one.code }]))
  if (found.length < named.length || new Set(found.map((one) => one.code)).size < found.length) {
    throw refused([
      `which indicator it is of cannot be told from ${titlesOf(named)}: give --indicator, such as 318`,
    ])
  }
  return found
}

/** The one series that the texts above a table name. */
function codeAbove(headings: readonly string[], known: SpreadsheetFile['series']): string | undefined {
  const codes = new Set(headings.map((heading) => seriesNamed(heading, [], known)?.code).filter(Boolean))
  const [code] = codes
  return codes.size === 1 ? code : undefined
}

function titlesOf(named: readonly { values: Values; code: string | undefined }[]): string {
  return named
    .map(
      ({ values: { title, place }, code }) =>
        `${place} ${title === undefined ? 'without a title' : JSON.stringify(title.slice(0, 80))}${code ? ` (${code})` : ''}`,
    )
    .join(', ')
}

function readSeries(
  { code, values: { entries, place: titlePlace } }: Found,
  { exact, lastDay }: SpreadsheetFile,
  sign: 'comma' | 'point',
  faults: string[],
): SpreadsheetSeries {
  const days = new Map<string, string>()
  const faultsBefore = faults.length
  const read: { day: string; place: string; shown: Shown }[] = []
  for (const { day, cell, place } of entries) {
    const first = days.get(day)
    if (first !== undefined) faults.push(`${place}: ${day} is there already, in ${first}`)
    days.set(day, place)
    if (!cell) continue
    if (day > lastDay) faults.push(`${place}: ${day} is after ${lastDay}, of which no value can be known`)
    const shown = readValue(cell, sign, exact)
    if ('fault' in shown) faults.push(`${place}: ${shown.fault}`)
    else read.push({ day, place, shown })
  }
  if (read.length === 0 && faults.length === faultsBefore)
    faults.push(`${titlePlace}: there are no values of ${code}`)
  const doubt = doubtOfDays(entries.filter(({ cell }) => cell))
  if (doubt) faults.push(`${titlePlace}: ${doubt}: write them as texts such as 2026-03-24`)
  read.sort((a, b) => (a.day < b.day ? -1 : 1))
  const mostDecimals = read.reduce(
    (most, { shown }) => (shown.fixed ? most : Math.max(most, shown.decimals)),
    0,
  )
  const newest = read.at(-1)?.day ?? ''
  return {
    code,
    values: read.map(({ day, place, shown: { value, decimals, fixed } }) => ({
      ...{ day, value, place },
      roundedTo: exact ? undefined : fixed ? decimals : mostDecimals,
    })),
    // An empty cell says that there was no value, if later days have some: else it may only not have been there yet.
    covered: runsOf([...days.keys()].filter((day) => day <= newest).sort()),
  }
}

/**
 * Why the days may not be what they seem. A program of another country takes 03/12/2026 for 12 March and makes it a date, and
 * leaves 24/03/2026 as a text; and days such as 11/01, 11/02 are rather the first ones of November, or they are months.
 */
function doubtOfDays(entries: Values['entries']): string | undefined {
  const writings = new Set(entries.map(({ writing }) => writing))
  if (writings.has('date') && writings.has('numbers')) {
    return 'some days are dates and others texts, as where a program took months for days'
  }
  if (entries.length < 2 || writings.has('clear')) return undefined
  const isOneOfMonth = new Set(entries.map(({ day }) => day.slice(8))).size === 1
  return isOneOfMonth ? 'each day is the same of another month' : undefined
}

function refused(faults: readonly string[]): AppError {
  const more = faults.length > NAMED_FAULTS ? [`and ${faults.length - NAMED_FAULTS} more`] : []
  return new AppError('failed', [...faults.slice(0, NAMED_FAULTS), ...more].join('\n  '))
}
