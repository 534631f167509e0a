// Events of a sync for hooks: the days that its run completed, the values that it corrected, and its failure. Events
// are queued in the transaction that closes the row of the run (decisions#messages).

import { hasHook, queueEvent } from '../domain/hooks/queued-events.ts'
import { isBenchmark } from '../domain/rates/freshness.ts'
import type { Provider } from '../providers/provider.ts'
import { atomically, type Lock } from '../store/engine.ts'
import { deleteHookDays, insertHookDays, selectWholeHookDays } from '../store/hooks/days.ts'
import { takeCorrections } from '../store/rates/change-log.ts'
import { rateKey, type StoredRate } from '../store/rates/rates.ts'
import { selectProviderSeries } from '../store/rates/series.ts'
import { closeRun, findPreviousRun, type RunEnd, type SyncRunRow } from '../store/rates/sync-runs.ts'
import type { WriteDb } from '../store/tables.ts'
import { currentDay, type IsoDate } from '../values/dates.ts'
import type { RunContext } from './state.ts'

const MAX_DAYS = 500
const MAX_CORRECTIONS = 500

type Value = Pick<StoredRate, 'series_id' | 'rate_date'>

/** Records days on which a side of the benchmark got its first value, in the transaction of the caller. */
export async function recordNewDays(
  trx: WriteDb,
  { provider, providerId, series }: Pick<RunContext, 'provider' | 'providerId' | 'series'>,
  writes: readonly Value[],
  stored: readonly Value[],
): Promise<void> {
  const sides = new Set(series.filter((one) => isBenchmark(provider, one)).map(({ id }) => id))
  const storedKeys = new Set(stored.filter(({ series_id }) => sides.has(series_id)).map(rateKey))
  const additions = writes.filter((one) => sides.has(one.series_id) && !storedKeys.has(rateKey(one)))
  if (additions.length === 0 || !(await hasHook(trx, 'rates.published'))) return
  await insertHookDays(trx, providerId, [...new Set(additions.map(({ rate_date }) => rate_date))])
}

/** Closes the row of a run and queues its events. `reportFailure`: also queues `sync.failed`. */
export function finishRun(
  db: WriteDb,
  provider: Provider,
  runId: number,
  end: RunEnd,
  { reportFailure, lock }: { reportFailure: boolean; lock: Lock | undefined },
): Promise<SyncRunRow> {
  const at = end.finished_at
  const work = async (trx: WriteDb) => {
    const run = await closeRun(trx, runId, end)
    const about = { provider: provider.code, run_id: run.id }
    const days = await takeWholeDays(trx, provider, run)
    if (days.length > 0) {
      const range = { from: days[0], to: days.at(-1), days: days.slice(-MAX_DAYS) }
      await queueEvent(trx, 'rates.published', at, { ...about, ...range })
    }
    const { corrections, count } = await takeCorrections(trx, run.provider_id, MAX_CORRECTIONS)
    if (count > 0) await queueEvent(trx, 'rates.corrected', at, { ...about, count, corrections })
    if (reportFailure && (await isNewFailure(trx, provider, run, at))) {
      const { trigger, started_at } = run
      await queueEvent(trx, 'sync.failed', at, { ...about, trigger, started_at })
    }
    return run
  }
  return atomically(db, work, lock)
}

/** Takes the recorded days on which each enabled side of the benchmark has a value. */
async function takeWholeDays(trx: WriteDb, provider: Provider, run: SyncRunRow): Promise<IsoDate[]> {
  const series = await selectProviderSeries(trx, run.provider_id)
  const sides = series.filter((one) => one.enabled && isBenchmark(provider, one)).map(({ id }) => id)
  const days = sides.length > 0 ? await selectWholeHookDays(trx, run.provider_id, sides) : []
  await deleteHookDays(trx, run.provider_id) // a day with one side is recorded again with its other side
  return days
}

/** Returns true for the first failure and once on each further day. A failed sync is retried every few minutes. */
async function isNewFailure(trx: WriteDb, provider: Provider, run: SyncRunRow, at: string): Promise<boolean> {
  if (run.status !== 'error') return false
  const before = await findPreviousRun(trx, run)
  return before?.status !== 'error' || localDay(before.finished_at, provider) !== localDay(at, provider)
}

function localDay(instant: string | null, { timeZone }: Provider): IsoDate {
  return currentDay(() => new Date(instant ?? 0), timeZone)
}
