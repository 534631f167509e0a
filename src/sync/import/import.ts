// Imports the export of another server, for a server without access to the bank. The import is recorded as a run.
// Exact stored values change only with `replace` (decisions 2.21).

import type { SeriesInFile } from '../../domain/rates/export/export-file.ts'
import type { Provider } from '../../providers/provider.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { INTERRUPTED, insertRun, type SyncCounts, type SyncRunRow } from '../../store/rates/sync-runs.ts'
import { addDays, type Clock, currentDay } from '../../values/dates.ts'
import { type LockDeps, withSyncLock } from '../lock.ts'
import { finishRun } from '../publication.ts'
import { matchSeries, type SeriesMatch } from './imported-series.ts'
import { importPair } from './pair.ts'

const COUNTED = ['inserted', 'updated', 'unchanged', 'kept'] as const

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

/** Result for one provider, also of a dry run. `kept` counts exact values of which the file has others. */
export type ImportResult = SyncCounts & { provider: string; kept: number; run: SyncRunRow | undefined }

/**
 * @throws AppError `conflict` while a sync runs, `failed` for a provider or series that this program does not have, for a
 * value that was stored in the future, and for values or covered days after tomorrow; then nothing was changed
 */
export async function importRates(
  deps: ImportDeps,
  files: readonly SeriesInFile[],
  options: ImportOptions,
): Promise<ImportResult[]> {
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

type LockedImportDeps = ImportDeps & { lock: Lock | undefined }

async function importProvider(
  { db, clock, signal, lock }: LockedImportDeps,
  providerId: number,
  series: readonly SeriesMatch[],
  options: ImportOptions,
): Promise<ImportResult> {
  const [{ provider }] = series as readonly [SeriesMatch, ...SeriesMatch[]]
  const counts = { inserted: 0, updated: 0, unchanged: 0, kept: 0 }
  const range = findRange(series)
  const started_at = clock().toISOString()
  const run = { provider_id: providerId, trigger: 'import', ...range, started_at } as const
  const runId = options.dryRun ? undefined : await atomically(db, (trx) => insertRun(trx, run), lock)
  let problem: string | undefined
  try {
    // Stores both sides of a pair together, as a sync does.
    for (const sides of Map.groupBy(series, ({ file }) => file.series.pair).values()) {
      if (signal.aborted) {
        problem = `${INTERRUPTED}: the program was stopped`
        if (runId === undefined) throw new AppError('failed', problem)
        break
      }
      const pairCounts = await atomically(
        db,
        (trx) => importPair(trx, sides, { ...options, clock, runId }),
        lock,
      )
      for (const name of COUNTED) counts[name] += pairCounts[name]
    }
  } catch (error) {
    if (runId === undefined) throw error
    problem = errorReason(error)
  }
  const { kept, ...accepted } = counts
  if (!problem && kept > 0)
    problem = `${kept} exact values were kept of which the file has others: see --replace`
  if (runId === undefined) return { provider: provider.code, ...counts, run: undefined }
  const isAny = accepted.inserted + accepted.updated + accepted.unchanged + kept > 0
  const status = problem === undefined ? 'ok' : isAny ? 'parcial' : 'error'
  const end = { ...accepted, status, message: problem ?? null, finished_at: clock().toISOString() } as const
  // The operator sees a failure, so hooks receive the days alone.
  const closedRun = await finishRun(db, provider, runId, end, { reportFailure: false, lock })
  return { provider: provider.code, ...counts, run: closedRun }
}

function findRange(series: readonly SeriesMatch[]): { date_from: string; date_to: string } {
  const days = series
    .flatMap(({ file: { covered, values } }) => [
      ...[covered[0]?.from, covered.at(-1)?.to],
      ...[values[0]?.day, values.at(-1)?.day],
    ])
    .filter((day) => day !== undefined)
    .sort()
  return { date_from: days[0] ?? '', date_to: days.at(-1) ?? '' }
}
