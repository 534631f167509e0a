// Which stored series are those of an imported file. A series goes by its provider and code; it must be the same pair and
// side here.

import type { SeriesInFile } from '../../domain/rates/export-file.ts'
import { AppError } from '../../errors.ts'
import type { Provider } from '../../providers/provider.ts'
import { selectProviders } from '../../store/rates/providers.ts'
import { type SeriesRow, selectSeries } from '../../store/rates/series.ts'
import type { Db } from '../../store/tables.ts'

/** A series of the file, and the stored one that it is; undefined: it is to be made. */
export type Matched = {
  file: SeriesInFile
  stored: SeriesRow | undefined
  provider: Provider
  providerId: number
}

/** @throws AppError `failed` for a provider or a series that this program does not have, or has as another pair */
export async function matched(
  { db, providers }: { db: Db; providers: readonly Provider[] },
  files: readonly SeriesInFile[],
): Promise<Matched[]> {
  const rows = await selectProviders(db)
  const series = await selectSeries(db)
  return files.map((file) => {
    const { provider: code, external_code, pair, rate_type } = file.series
    const provider = providers.find((one) => one.code === code)
    const row = rows.find((one) => one.code === code)
    if (!provider || !row) throw new AppError('failed', `there is no provider ${code}: nothing was imported`)
    const stored = series.find((one) => one.provider_id === row.id && one.external_code === external_code)
    const own = stored && `${stored.base_currency}/${stored.quote_currency} ${stored.rate_type}`
    if (own !== undefined && own !== `${pair} ${rate_type}`) {
      const words = `the series ${external_code} of ${code} is ${own} here, and ${pair} ${rate_type} in the file`
      throw new AppError('failed', `${words}: nothing was imported`)
    }
    const isMade = series.some((one) => one.provider_id === row.id && isOf(file, one))
    if (!stored && (isMade || !entryOf(provider, file))) {
      throw new AppError('failed', `there is no series ${external_code} of ${code}: nothing was imported`)
    }
    return { file, stored, provider, providerId: row.id }
  })
}

/** The series of a catalogue whose code a sync would have learned. */
export function newSeries(provider: Provider, file: SeriesInFile) {
  const entry = entryOf(provider, file)
  if (!entry) throw new TypeError('matched without an entry')
  return { ...entry, externalCode: file.series.external_code }
}

function entryOf({ catalogue }: Provider, { series: { pair, rate_type } }: SeriesInFile) {
  return catalogue.find(
    (one) =>
      one.externalCode === undefined && `${one.base}/${one.quote}` === pair && one.rateType === rate_type,
  )
}

function isOf({ series: { pair, rate_type } }: SeriesInFile, row: SeriesRow): boolean {
  return `${row.base_currency}/${row.quote_currency}` === pair && row.rate_type === rate_type
}
