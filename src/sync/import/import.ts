// Imports the export of another server, for a server without access to the bank. The import is recorded as a run.
// Exact stored values change only with `replace` (decisions#export).

import type { SeriesInFile } from '../../domain/rates/export/export-file.ts'
import type { Provider } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Lock } from '../../store/engine.ts'
import { insertRun, type SyncRunRow } from '../../store/rates/sync-runs.ts'
import { addDays, type Clock, currentDay } from '../../values/dates.ts'
import { type LockDeps, withSyncLock } from '../lock.ts'
import { finishRun } from '../publication.ts'
import { findRange, type ImportResult, runImport } from './import-run.ts'
import { matchSeries, type SeriesMatch, storeMark } from './imported-series.ts'
import { importPair } from './pair.ts'

export type ImportDeps = LockDeps & {
  providers: readonly Provider[]
  signal: AbortSignal
}

export type ImportOptions = {
  /** Replaces exact values by others. */
  replace: boolean
  /** Counts only, and stores nothing. */
  dryRun: boolean
}

/**
 * @throws AppError `conflict` while a sync runs, `failed` for a provider or series that this program does not have, for a
 * value that was stored in the future, and for values or covered days after tomorrow; then nothing was changed
 */
export async function importRates(
  deps: ImportDeps,
  files: readonly SeriesInFile[],
  options: ImportOptions,
): Promise<ImportResult<SyncRunRow>[]> {
  refuseFuture(files, deps.clock().toISOString())
  const work = async (lock?: Lock) => {
    const series = await matchSeries(deps, files)
    for (const one of series) refuseLaterDays(one, deps.clock)
    const byProvider = Map.groupBy(series, ({ providerId }) => providerId)
    return Array.fromAsync(byProvider, ([id, some]) => importProvider({ ...deps, lock }, id, some, options))
  }
  return options.dryRun ? work() : withSyncLock(deps, work)
}

/**
 * Rejects values stored in the future. `as_of` queries of now would not return them, although their days count as
 * covered.
 */
function refuseFuture(files: readonly SeriesInFile[], now: string): void {
  for (const { values } of files) {
    for (const { stored_at } of values) {
      if (stored_at <= now) continue
      throw new AppError(
        'failed',
        `a value was stored at ${stored_at}, and now is ${now}: which clock is wrong?`,
      )
    }
  }
}

/**
 * Rejects days after tomorrow, which no source has published. Because of them a side would look fresh for years, and hide
 * later holes.
 */
function refuseLaterDays({ file, provider }: SeriesMatch, clock: Clock): void {
  const tomorrow = addDays(currentDay(clock, provider.timeZone), 1)
  const value = file.values.find(({ day }) => day > tomorrow)
  const lastCovered = file.covered.at(-1)?.to ?? ''
  if (!value && lastCovered <= tomorrow) return
  const subject = value ? `a value of ${value.day}` : `covered days up to ${lastCovered}`
  const series = `series ${file.series.external_code} of ${provider.code}`
  throw new AppError(
    'failed',
    `${series} has ${subject}, which is after tomorrow, ${tomorrow}: nothing was imported; cambista rates discard ` +
      `--after ${tomorrow} removes such days from the server that wrote the file`,
  )
}

function importProvider(
  deps: ImportDeps & { lock: Lock | undefined },
  providerId: number,
  series: readonly SeriesMatch[],
  { dryRun, replace }: ImportOptions,
): Promise<ImportResult<SyncRunRow>> {
  const { db, clock, lock } = deps
  const [{ provider, file }] = series as readonly [SeriesMatch, ...SeriesMatch[]]
  const range = findRange(series.map(({ file }) => file))
  // Stores both sides of a pair together, as a sync does.
  const pairs = Map.groupBy(series, ({ file }) => file.series.pair)
  return runImport(deps, pairs.values(), {
    ...{ provider: provider.code, dryRun, keptValues: 'exact values' },
    async open(trx, run) {
      await storeMark(trx, provider, file, clock)
      return insertRun(trx, { ...run, ...range, provider_id: providerId })
    },
    importPart: (trx, sides, runId) => importPair(trx, sides, { replace, clock, runId }),
    // The operator sees a failure, so hooks receive the days alone.
    close: (runId, end, cause) =>
      finishRun(db, provider, runId, { ...end, cause }, { reportFailure: false, lock }),
  })
}
