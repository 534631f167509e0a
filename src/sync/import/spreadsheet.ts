// What a file of a provider's website says, as an import takes it. Its values are as new as the import, and a file whose
// newest value is far from what is known is taken for another series, or for one whose decimals a spreadsheet has lost.

import { addDays, type Clock, dayOf, todayIn } from '../../dates.ts'
import { isBetween, product, ratio } from '../../decimal.ts'
import type { SeriesInFile } from '../../domain/rates/export-file.ts'
import { AppError } from '../../errors.ts'
import type { Provider, SpreadsheetFile, SpreadsheetSeries } from '../../providers/provider.ts'
import { selectProviders } from '../../store/rates/providers.ts'
import { selectRatesIn } from '../../store/rates/rates.ts'
import { type SeriesRow, selectSeriesOf } from '../../store/rates/series.ts'
import type { Db } from '../../store/tables.ts'
import { catalogueEntry } from '../state.ts'

const NEAR_DAYS = 366
const NEAR = '2' // within a year no rate known here has doubled or halved but by a new currency
const FAR = '10000'
const BESIDE = { days: 31, factor: '5' } // a lost decimal sign makes ten of one; 2.2 is the largest devaluation of a night

/** @throws AppError `failed` for a file that is not understood, or that cannot be true */
export async function readSpreadsheet(
  { db, clock }: { db: Db; clock: Clock },
  provider: Provider,
  file: Pick<SpreadsheetFile, 'bytes' | 'code' | 'decimal' | 'exact'>,
): Promise<SeriesInFile[]> {
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  if (!row || !provider.spreadsheets) throw new AppError('failed', `${provider.code} has no files to import`)
  const read = await provider.spreadsheets()
  const rows = await selectSeriesOf(db, row.id)
  const today = todayIn(clock, provider.timeZone)
  const series = rows.map(({ external_code: code, name }) => ({ code, name }))
  const found = await read({ ...file, series, lastDay: addDays(today, 1) })
  const storedAt = clock().toISOString()
  const files: SeriesInFile[] = []
  for (const one of found) {
    const stored = rows.find(({ external_code }) => external_code === one.code) as SeriesRow
    await refuseImplausible(db, provider, stored, one, today)
    files.push(asImported(provider, stored, one, storedAt))
  }
  return files
}

function asImported(
  provider: Provider,
  row: SeriesRow,
  { values, covered }: SpreadsheetSeries,
  storedAt: string,
): SeriesInFile {
  return {
    series: {
      provider: provider.code,
      series_id: row.id,
      external_code: row.external_code,
      pair: `${row.base_currency}/${row.quote_currency}`,
      rate_type: row.rate_type,
    },
    covered,
    values: values.map(({ day, value, roundedTo }) => ({
      ...{ rate_date: day, value, stored_at: storedAt },
      rounded_to: roundedTo ?? null,
    })),
  }
}

async function refuseImplausible(
  db: Db,
  provider: Provider,
  row: SeriesRow,
  { values }: SpreadsheetSeries,
  today: string,
): Promise<void> {
  const newest = values.at(-1)
  if (!newest) return
  for (const [at, one] of values.entries()) refuseBeside(values[at - 1], one)
  const { day, value, place } = newest
  const distance = ({ rate_date }: { rate_date: string }) => Math.abs(dayOf(rate_date) - dayOf(day))
  const around = { from: addDays(day, -NEAR_DAYS), to: addDays(day, NEAR_DAYS) }
  const [nearest] = (await selectRatesIn(db, [row.id], around)).sort((a, b) => distance(a) - distance(b))
  const band = nearest
    ? { low: nearest.value, high: nearest.value }
    : catalogueEntry(provider, row)?.plausibleRange
  if (!band) {
    const words = `nothing is stored of ${row.name}, ${row.external_code}, within a year of ${day}`
    throw new AppError('failed', `${place}: ${words}, so nothing says that ${value} can be right`)
  }
  const factor = nearest || distance({ rate_date: today }) <= NEAR_DAYS ? NEAR : FAR
  if (isBetween(value, ratio([band.low], [factor]), product(band.high, factor))) return
  const known = nearest ? `${nearest.value} of ${nearest.rate_date}` : `${band.low} to ${band.high} of today`
  const words = `${place}: ${value} is too far from the ${known} to be ${row.name}, ${row.external_code}`
  throw new AppError(
    'failed',
    `${words}: is it another indicator, or were its decimals lost when it was saved?`,
  )
}

type ReadValue = SpreadsheetSeries['values'][number]

function refuseBeside(before: ReadValue | undefined, { day, value, place }: ReadValue): void {
  if (!before || dayOf(day) - dayOf(before.day) > BESIDE.days) return
  const { factor } = BESIDE
  if (isBetween(value, ratio([before.value], [factor]), product(before.value, factor))) return
  const words = `${value} and the ${before.value} of ${before.day} differ by more than a factor of ${factor}`
  throw new AppError('failed', `${place}: ${words}: were its decimals lost, or is --decimal needed?`)
}
