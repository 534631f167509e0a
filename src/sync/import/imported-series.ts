// Matches imported series with stored ones, by provider and code. Pair and side must be equal.

import type { SeriesInFile } from '../../domain/rates/export/export-file.ts'
import type { Provider } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import { selectProviders } from '../../store/rates/providers.ts'
import { type SeriesRow, selectSeries } from '../../store/rates/series.ts'
import type { ReadDb } from '../../store/tables.ts'

/** Series of the file with its stored series; undefined: to be inserted. */
export type SeriesMatch = {
  file: SeriesInFile
  stored: SeriesRow | undefined
  provider: Provider
  providerId: number
}

/** @throws AppError `failed` for a provider or a series that this program does not have, or has as another pair */
export async function matchSeries(
  { db, providers }: { db: ReadDb; providers: readonly Provider[] },
  files: readonly SeriesInFile[],
): Promise<SeriesMatch[]> {
  const rows = await selectProviders(db)
  const series = await selectSeries(db)
  return files.map((file) => {
    const { provider: code, external_code, pair, rate_type } = file.series
    const provider = providers.find((one) => one.code === code)
    const row = rows.find((one) => one.code === code)
    if (provider?.isOptional && !row) {
      const advice = `run cambista provider enable ${code} first`
      throw new AppError('failed', `the provider ${code} is not enabled: nothing was imported; ${advice}`)
    }
    if (!provider || !row) throw new AppError('failed', `there is no provider ${code}: nothing was imported`)
    const storedRow = series.find((one) => one.provider_id === row.id && one.external_code === external_code)
    const storedName =
      storedRow && `${storedRow.base_currency}/${storedRow.quote_currency} ${storedRow.rate_type}`
    if (storedName !== undefined && storedName !== `${pair} ${rate_type}`) {
      const words = `the series ${external_code} of ${code} is ${storedName} here, and ${pair} ${rate_type} in the file`
      throw new AppError('failed', `${words}: nothing was imported`)
    }
    const isInserted = series.some((one) => one.provider_id === row.id && isSameSide(file, one))
    if (!storedRow && (isInserted || !findEntry(provider, file))) {
      throw new AppError('failed', `there is no series ${external_code} of ${code}: nothing was imported`)
    }
    return { file, stored: storedRow, provider, providerId: row.id }
  })
}

/** Returns the series of a catalogue entry without a code, with the code of the file. */
export function newSeries(provider: Provider, file: SeriesInFile) {
  const entry = findEntry(provider, file)
  if (!entry) throw new TypeError('matched without an entry')
  return { ...entry, externalCode: file.series.external_code }
}

function findEntry({ catalogue }: Provider, { series: { pair, rate_type } }: SeriesInFile) {
  return catalogue.find(
    (one) =>
      one.externalCode === undefined && `${one.base}/${one.quote}` === pair && one.rateType === rate_type,
  )
}

function isSameSide({ series: { pair, rate_type } }: SeriesInFile, row: SeriesRow): boolean {
  return `${row.base_currency}/${row.quote_currency}` === pair && row.rate_type === rate_type
}
