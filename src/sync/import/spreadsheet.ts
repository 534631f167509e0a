// Reads the spreadsheets of the website of a provider for an import. Their values count as stored at the time of the
// import. A file whose newest value is far from stored values is rejected. Either the series is another one, or a
// spreadsheet program dropped its decimals.

import type { SeriesInFile } from '../../domain/rates/export/export-file.ts'
import { exportedSeries } from '../../domain/rates/export/export-format.ts'
import type { Provider, SpreadsheetFile, SpreadsheetSeries } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import { selectProviders } from '../../store/rates/providers.ts'
import { selectRates } from '../../store/rates/rates.ts'
import { type SeriesRow, selectProviderSeries } from '../../store/rates/series.ts'
import type { ReadDb } from '../../store/tables.ts'
import { addDays, type Clock, currentDay, dayNumber } from '../../values/dates.ts'
import { isInRange, product, ratio } from '../../values/decimal.ts'
import { catalogueEntry } from '../state.ts'

const NEAR_DAYS = 366
const NEAR = '2' // no known rate doubled or halved within a year, except by a new currency
const FAR = '10000'
const JUMP = { days: 31, factor: '5' } // a lost decimal sign multiplies by ten; the largest devaluation of a night is 2.2

/** @throws AppError `failed` for a file that cannot be parsed or has implausible values */
export async function readSpreadsheet(
  { db, clock }: { db: ReadDb; clock: Clock },
  provider: Provider,
  file: Pick<SpreadsheetFile, 'bytes' | 'code' | 'decimal' | 'exact'>,
): Promise<SeriesInFile[]> {
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  if (!row || !provider.spreadsheets) throw new AppError('failed', `${provider.code} has no files to import`)
  const read = await provider.spreadsheets()
  const rows = await selectProviderSeries(db, row.id)
  const today = currentDay(clock, provider.timeZone)
  const series = rows.map(({ external_code: code, name }) => ({ code, name }))
  const imports = await read({ ...file, series, lastDay: addDays(today, 1) })
  const instant = clock().toISOString()
  const files: SeriesInFile[] = []
  for (const one of imports) {
    const row = rows.find(({ external_code }) => external_code === one.code) as SeriesRow
    await refuseImplausible(db, provider, row, one, today)
    files.push(toImport(provider, row, one, instant))
  }
  return files
}

function toImport(
  provider: Provider,
  row: SeriesRow,
  { values, covered }: SpreadsheetSeries,
  instant: string,
): SeriesInFile {
  return {
    series: exportedSeries(row, provider.code),
    covered,
    values: values.map(({ day, value, roundedTo }) => ({
      ...{ day, value, rounded_to: roundedTo ?? null, stored_at: instant },
    })),
  }
}

async function refuseImplausible(
  db: ReadDb,
  provider: Provider,
  row: SeriesRow,
  { values }: SpreadsheetSeries,
  today: string,
): Promise<void> {
  const newest = values.at(-1)
  if (!newest) return
  for (const [at, one] of values.entries()) refuseJump(values[at - 1], one)
  const { day, value, place } = newest
  const distance = ({ rate_date }: { rate_date: string }) => Math.abs(dayNumber(rate_date) - dayNumber(day))
  const around = { from: addDays(day, -NEAR_DAYS), to: addDays(day, NEAR_DAYS) }
  const [nearest] = (await selectRates(db, [row.id], around)).sort((a, b) => distance(a) - distance(b))
  const band = nearest
    ? { low: nearest.value, high: nearest.value }
    : catalogueEntry(provider, row)?.plausibleRange
  if (!band) {
    const words = `nothing is stored of ${row.name}, ${row.external_code}, within a year of ${day}`
    throw new AppError('failed', `${place}: ${words}, so nothing says that ${value} can be right`)
  }
  const factor = nearest || distance({ rate_date: today }) <= NEAR_DAYS ? NEAR : FAR
  if (isInRange(value, ratio([band.low], [factor]), product(band.high, factor))) return
  const reference = nearest
    ? `${nearest.value} of ${nearest.rate_date}`
    : `${band.low} to ${band.high} of today`
  const words = `${place}: ${value} is too far from the ${reference} to be ${row.name}, ${row.external_code}`
  throw new AppError(
    'failed',
    `${words}: is it another indicator, or were its decimals lost when it was saved?`,
  )
}

type ReadValue = SpreadsheetSeries['values'][number]

function refuseJump(before: ReadValue | undefined, { day, value, place }: ReadValue): void {
  if (!before || dayNumber(day) - dayNumber(before.day) > JUMP.days) return
  const { factor } = JUMP
  if (isInRange(value, ratio([before.value], [factor]), product(before.value, factor))) return
  const words = `${value} and the ${before.value} of ${before.day} differ by more than a factor of ${factor}`
  throw new AppError('failed', `${place}: ${words}: were its decimals lost, or is --decimal needed?`)
}
