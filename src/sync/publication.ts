// What hooks are told of a sync: the days that its run completed, and that it failed. Both go into the queue with the
// transaction that closes the record of the run (decisions 5.1).

import { type IsoDate, todayIn } from '../dates.ts'
import { isHooked, queueEvent } from '../domain/hooks/events.ts'
import { isBenchmark } from '../domain/rates/freshness.ts'
import type { Provider } from '../providers/provider.ts'
import { atomically, type Lock } from '../store/engine.ts'
import { deleteHookDays, insertHookDays, selectWholeHookDays } from '../store/hooks/days.ts'
import type { StoredRate } from '../store/rates/rates.ts'
import { selectSeriesOf } from '../store/rates/series.ts'
import { closeRun, findRunBefore, INTERRUPTED, type RunEnd, type SyncRunRow } from '../store/sync-runs.ts'
import type { Db } from '../store/tables.ts'
import type { SyncRecord } from './state.ts'

const DAYS_AT_MOST = 500

type Value = Pick<StoredRate, 'series_id' | 'rate_date'>

/** Remembers the days of which a side of the benchmark had no value and has one now, inside the caller's transaction. */
export async function noteNewDays(
  trx: Db,
  { provider, providerId, series }: Pick<SyncRecord, 'provider' | 'providerId' | 'series'>,
  writes: readonly Value[],
  stored: readonly Value[],
): Promise<void> {
  const sides = new Set(series.filter((one) => isBenchmark(provider, one)).map(({ id }) => id))
  const placeOf = ({ series_id, rate_date }: Value) => `${series_id} ${rate_date}`
  const known = new Set(stored.filter(({ series_id }) => sides.has(series_id)).map(placeOf))
  const gained = writes.filter((one) => sides.has(one.series_id) && !known.has(placeOf(one)))
  if (gained.length === 0 || !(await isHooked(trx, 'rates.published'))) return
  await insertHookDays(trx, providerId, [...new Set(gained.map(({ rate_date }) => rate_date))])
}

/** Closes the record of a run, and queues what hooks are told of it. `tellFailure`: of a failed run, too. */
export function closeAndTell(
  db: Db,
  provider: Provider,
  runId: number,
  end: RunEnd,
  { tellFailure: isFailureTold, lock }: { tellFailure: boolean; lock: Lock | undefined },
): Promise<SyncRunRow> {
  const work = async (trx: Db) => {
    const run = await closeRun(trx, runId, end)
    await tellDays(trx, provider, run, end.finishedAt)
    if (isFailureTold) await tellFailure(trx, provider, run, end.finishedAt)
    return run
  }
  return atomically(db, work, lock)
}

async function tellDays(trx: Db, provider: Provider, run: SyncRunRow, at: string): Promise<void> {
  const series = await selectSeriesOf(trx, run.provider_id)
  const sides = series.filter((one) => one.enabled && isBenchmark(provider, one)).map(({ id }) => id)
  const days = sides.length > 0 ? await selectWholeHookDays(trx, run.provider_id, sides) : []
  await deleteHookDays(trx, run.provider_id) // half a day comes back with its other half
  const [from] = days
  if (from === undefined) return
  await queueEvent(trx, 'rates.published', at, {
    provider: provider.code,
    run_id: run.id,
    from,
    to: days.at(-1),
    days: days.slice(-DAYS_AT_MOST),
  })
}

/** Once while it lasts, and once more on each further day: a failed sync is tried again every few minutes. */
async function tellFailure(trx: Db, provider: Provider, run: SyncRunRow, at: string): Promise<void> {
  if (run.status !== 'error') return
  const before = await findRunBefore(trx, run)
  const isToldOf = before?.status === 'error' && !before.message?.includes(INTERRUPTED)
  if (isToldOf && dayOf(before.finished_at, provider) === dayOf(at, provider)) return
  await queueEvent(trx, 'sync.failed', at, {
    provider: provider.code,
    run_id: run.id,
    trigger: run.trigger,
    started_at: run.started_at,
  })
}

function dayOf(instant: string | null, { timeZone }: Provider): IsoDate {
  return todayIn(() => new Date(instant ?? 0), timeZone)
}
