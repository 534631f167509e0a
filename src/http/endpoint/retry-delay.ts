// Retry-After of days that were not synchronized.

import type { Schedulers } from '../../sync/schedulers.ts'
import type { Clock } from '../../values/dates.ts'

const MIN_RETRY_S = 3600 // before the next sync another try finds the same

/** Seconds to the next sync of a provider, at least an hour; without a scheduler an hour. */
export async function readRetryDelay(
  scheduler: Pick<Schedulers, 'tasks'>,
  provider: string,
  clock: Clock,
): Promise<number> {
  const tasks = await scheduler.tasks()
  const next = tasks.find((task) => task.provider === provider)?.nextRun
  return Math.max(MIN_RETRY_S, next ? (next.getTime() - clock().getTime()) / 1000 : 0)
}
