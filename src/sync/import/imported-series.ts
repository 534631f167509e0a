// Matches imported series with stored ones, by provider and code. Pair and side must be equal.

import type { OwnedData, SeriesInFile } from '../../domain/rates/export/export-file.ts'
import type { Provider } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import { hasIndicatorValues } from '../../store/indicators/values.ts'
import { raiseRevision } from '../../store/meta.ts'
import { takeInstant } from '../../store/rates/change-log.ts'
import { type ProviderRow, selectProviders, updateInvented } from '../../store/rates/providers.ts'
import { hasProviderRates } from '../../store/rates/rates.ts'
import { type SeriesRow, selectSeries } from '../../store/rates/series.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'

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
  for (const row of rows) {
    await refuseMixture(
      db,
      row,
      files.filter(({ series }) => series.provider === row.code),
    )
  }
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

/**
 * Rejects invented values for a store with those of the source, and the reverse. A store without values takes both.
 * @throws AppError `failed`
 */
export async function refuseMixture(
  db: ReadDb,
  { id, code, invented }: ProviderRow,
  files: readonly OwnedData[],
): Promise<void> {
  const isOther = (one: OwnedData) => one.invented !== invented
  if (!files.some(isOther)) return
  if (files.every(isOther) && !(await hasProviderRates(db, id)) && !(await hasIndicatorValues(db, id))) return
  const kinds = ['of the source', 'invented']
  const [stored, file] = invented ? kinds.toReversed() : kinds
  const words = `the values of ${code} are ${stored} here, and ${file} in the file`
  throw new AppError('failed', `${words}: nothing was imported`)
}

/** Marks a store without values as the file is, in the transaction before its first value. */
export async function storeMark(
  trx: WriteDb,
  provider: Provider,
  { invented }: Pick<OwnedData, 'invented'>,
  clock: Clock,
): Promise<void> {
  const row = (await selectProviders(trx)).find(({ code }) => code === provider.code)
  if (row?.invented === invented) return
  const at = await takeInstant(trx, clock())
  await updateInvented(trx, provider, invented === true)
  await raiseRevision(trx, at)
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
