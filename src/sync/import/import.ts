// Stores what an export of another server says, for one that cannot reach the bank. It is recorded as a run. What is
// stored exactly is never changed by a file, unless the operator says so (decisions 2.21).

import { addDays, type Clock, todayIn } from '../../dates.ts'
import type { SeriesInFile } from '../../domain/rates/export-file.ts'
import { AppError, reasonOf } from '../../errors.ts'
import type { Provider } from '../../providers/provider.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { INTERRUPTED, insertRun, type SyncCounts, type SyncRunRow } from '../../store/sync-runs.ts'
import { type LockDeps, underSyncLock } from '../lock.ts'
import { closeAndTell } from '../publication.ts'
import { importPair } from './pair.ts'
import { type Matched, matched } from './series.ts'

const COUNTED = ['inserted', 'updated', 'unchanged', 'kept'] as const

export type ImportDeps = LockDeps & {
  providers: readonly Provider[]
  signal: AbortSignal
}

export type ImportOptions = {
  /** Whether exact values may be replaced by others. */
  replace: boolean
  /** Whether it is only counted. */
  dryRun: boolean
}

/** What an import did of one provider, or would do; `kept` are exact values of which the file has others. */
export type ImportEnd = SyncCounts & { provider: string; kept: number; run: SyncRunRow | undefined }

/**
 * @throws AppError `conflict` while a sync runs, `failed` for a provider or series that this program does not have, for a
 * value that was stored in the future, and for values or covered days after tomorrow; then nothing was changed
 */
export async function importRates(
  deps: ImportDeps,
  files: readonly SeriesInFile[],
  options: ImportOptions,
): Promise<ImportEnd[]> {
  refuseFuture(files, deps.clock().toISOString())
  const work = async (lock?: Lock) => {
    const series = await matched(deps, files)
    for (const one of series) refuseLaterDays(one, deps.clock)
    return importAll({ ...deps, lock }, series, options)
  }
  return options.dryRun ? work() : underSyncLock(deps, work)
}

/** What was stored in the future would be hidden from answers as of now, whose days count as answered. */
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

/** No source has published them. They would make a side look fresh for years, and each later hole look answered. */
function refuseLaterDays({ file, provider }: Matched, clock: Clock): void {
  const tomorrow = addDays(todayIn(clock, provider.timeZone), 1)
  const value = file.values.find(({ rate_date }) => rate_date > tomorrow)
  const coveredTo = file.covered.at(-1)?.to ?? ''
  if (!value && coveredTo <= tomorrow) return
  const what = value ? `a value of ${value.rate_date}` : `covered days up to ${coveredTo}`
  const series = `series ${file.series.external_code} of ${provider.code}`
  throw new AppError(
    'failed',
    `${series} has ${what}, which is after tomorrow, ${tomorrow}: nothing was imported; cambista rates discard ` +
      `--after ${tomorrow} removes such days from the server that wrote the file`,
  )
}

type Importing = ImportDeps & { lock: Lock | undefined }

async function importAll(
  deps: Importing,
  series: readonly Matched[],
  options: ImportOptions,
): Promise<ImportEnd[]> {
  const ends: ImportEnd[] = []
  for (const [id, ofProvider] of Map.groupBy(series, ({ providerId }) => providerId)) {
    ends.push(await importProvider(deps, id, ofProvider, options))
  }
  return ends
}

async function importProvider(
  { db, clock, signal, lock }: Importing,
  providerId: number,
  series: readonly Matched[],
  options: ImportOptions,
): Promise<ImportEnd> {
  const [{ provider }] = series as readonly [Matched, ...Matched[]]
  const counts = { inserted: 0, updated: 0, unchanged: 0, kept: 0 }
  const range = rangeOf(series)
  const run = { providerId, trigger: 'import', ...range, startedAt: clock().toISOString() } as const
  const runId = options.dryRun ? undefined : await atomically(db, (trx) => insertRun(trx, run), lock)
  let problem: string | undefined
  try {
    // Both sides of a pair together, as a sync stores them.
    for (const sides of Map.groupBy(series, ({ file }) => file.series.pair).values()) {
      if (signal.aborted) {
        problem = `${INTERRUPTED}: the program was stopped`
        if (runId === undefined) throw new AppError('failed', problem)
        break
      }
      const done = await atomically(db, (trx) => importPair(trx, sides, { ...options, clock, runId }), lock)
      for (const name of COUNTED) counts[name] += done[name]
    }
  } catch (error) {
    if (runId === undefined) throw error
    problem = reasonOf(error)
  }
  const { kept, ...accepted } = counts
  if (!problem && kept > 0)
    problem = `${kept} exact values were kept of which the file has others: see --replace`
  if (runId === undefined) return { provider: provider.code, ...counts, run: undefined }
  const isAny = accepted.inserted + accepted.updated + accepted.unchanged + kept > 0
  const status = problem === undefined ? 'ok' : isAny ? 'parcial' : 'error'
  const end = { ...accepted, status, message: problem ?? null, finishedAt: clock().toISOString() } as const
  // Whoever imports sees that it failed; hooks are told of the days alone.
  const closed = await closeAndTell(db, provider, runId, end, { tellFailure: false, lock })
  return { provider: provider.code, ...counts, run: closed }
}

function rangeOf(series: readonly Matched[]): { dateFrom: string; dateTo: string } {
  const days = series
    .flatMap(({ file: { covered, values } }) => [
      ...[covered[0]?.from, covered.at(-1)?.to],
      ...[values[0]?.rate_date, values.at(-1)?.rate_date],
    ])
    .filter((day) => day !== undefined)
    .sort()
  return { dateFrom: days[0] ?? '', dateTo: days.at(-1) ?? '' }
}
