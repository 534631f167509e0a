// Run of an import of rates or indicators. Each part of the file has a transaction. A dry run counts only.

import type { OwnedData } from '../../domain/rates/export/export-file.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { INTERRUPTED, type RunEnd, type SyncCounts } from '../../store/rates/sync-runs.ts'
import type { WriteDb } from '../../store/tables.ts'
import type { LockDeps } from '../lock.ts'

/** `kept` counts stored values of which the file has others. */
export type ValueCounts = SyncCounts & { kept: number }

/** Result for one provider; `run` undefined: a dry run. */
export type ImportResult<R> = ValueCounts & { provider: string; run: R | undefined }

type ImportRun<P, R> = {
  provider: string
  dryRun: boolean
  /** Name of the values that stay without `--replace`. */
  keptValues: string
  /** Inserts the row of the run, and returns its id. */
  open(trx: WriteDb, run: { trigger: 'import'; started_at: string }): Promise<number>
  /** Imports a part; without a run it stores nothing. */
  importPart(trx: WriteDb, part: P, runId: number | undefined): Promise<ValueCounts>
  /** `cause`: of a program that was stopped. */
  close(runId: number, end: RunEnd, cause: 'interrupted' | null): Promise<R>
}

const COUNTED = ['inserted', 'updated', 'unchanged', 'kept'] as const

export async function runImport<P, R>(
  {
    db,
    clock,
    signal,
    lock,
  }: Pick<LockDeps, 'db' | 'clock'> & { signal: AbortSignal; lock: Lock | undefined },
  parts: Iterable<P>,
  { provider, dryRun, keptValues, open, importPart, close }: ImportRun<P, R>,
): Promise<ImportResult<R>> {
  const counts = { inserted: 0, updated: 0, unchanged: 0, kept: 0 }
  const run = { trigger: 'import', started_at: clock().toISOString() } as const
  const runId = dryRun ? undefined : await atomically(db, (trx) => open(trx, run), lock)
  let problem: string | undefined
  let cause: 'interrupted' | null = null
  try {
    for (const part of parts) {
      if (signal.aborted) {
        cause = 'interrupted'
        throw new AppError('failed', `${INTERRUPTED}: the program was stopped`)
      }
      const added = await atomically(db, (trx) => importPart(trx, part, runId), lock)
      for (const name of COUNTED) counts[name] += added[name]
    }
  } catch (error) {
    if (runId === undefined) throw error
    problem = errorReason(error)
  }
  if (runId === undefined) return { provider, ...counts, run: undefined }
  const { kept, ...accepted } = counts
  if (kept > 0) problem ??= `${kept} ${keptValues} were kept of which the file has others: see --replace`
  const isAny = COUNTED.some((name) => counts[name] > 0)
  const status = problem === undefined ? 'ok' : isAny ? 'parcial' : 'error'
  const end = { ...accepted, status, message: problem ?? null, finished_at: clock().toISOString() } as const
  return { provider, ...counts, run: await close(runId, end, cause) }
}

/** Returns the first and last day of the data of a file. */
export function findRange(data: readonly OwnedData[]): { date_from: string; date_to: string } {
  const days = data
    .flatMap(({ covered, values }) => [
      ...[covered[0]?.from, covered.at(-1)?.to],
      ...[values[0]?.day, values.at(-1)?.day],
    ])
    .filter((day) => day !== undefined)
    .sort()
  return { date_from: days[0] ?? '', date_to: days.at(-1) ?? '' }
}
