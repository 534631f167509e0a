import * as v from 'valibot'
import type { NightlyBackup } from '../../domain/operations/backup/nightly.ts'
import { selectProviders } from '../../store/rates/providers.ts'
import { selectLastFinishedRun, selectRuns } from '../../store/rates/sync-runs.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { Schedulers, SyncTask } from '../../sync/schedulers.ts'
import { TIME_ZONE } from '../../values/dates.ts'
import { Instant, titledObject } from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get } from '../endpoint/endpoint.ts'
import { LimitParam, ProviderParam } from '../endpoint/params.ts'
import { SyncRunOut } from '../figures/run-shapes.ts'

const SchedulerOut = titledObject('Scheduler', {
  enabled: v.boolean(),
  running: v.boolean(),
  timezone: v.string(),
  tasks: v.array(
    v.object({
      name: v.string(),
      schedule: v.string(),
      next_run: v.nullable(Instant),
      last_run: v.nullable(Instant),
      last_status: v.nullable(v.picklist(['ok', 'parcial', 'error'])),
    }),
  ),
})

export function schedulerEndpoint(
  db: ReadDb,
  scheduler: Schedulers,
  backups: NightlyBackup | undefined,
): AnyEndpoint {
  return get({
    path: '/api/v1/scheduler',
    about: 'Whether the embedded scheduler is active, and when its tasks run.',
    tag: 'Server',
    answer: SchedulerOut,
    async handle() {
      const state = await scheduler.state()
      const syncs = []
      for (const task of await scheduler.tasks()) syncs.push(await syncTask(db, task, syncs.length === 0))
      return freshReply({
        enabled: state !== 'disabled',
        running: state === 'running',
        timezone: TIME_ZONE,
        tasks: [...syncs, ...(backups ? [backupTask(backups.status())] : [])],
      })
    },
  })
}

/** The first provider's is the contract's task `sync`; those of others are named by their code. */
async function syncTask(db: ReadDb, { provider, cron, timeZone, nextRun }: SyncTask, isFirst: boolean) {
  const row = (await selectProviders(db)).find(({ code }) => code === provider)
  const last = row && (await selectLastFinishedRun(db, row.id))
  return {
    name: isFirst ? 'sync' : `sync ${provider}`,
    schedule: timeZone === TIME_ZONE ? cron : `CRON_TZ=${timeZone} ${cron}`,
    next_run: nextRun?.toISOString() ?? null,
    last_run: last?.started_at ?? null,
    last_status: last?.status ?? null,
  }
}

function backupTask({ schedule, nextRun, lastRun, lastStatus }: ReturnType<NightlyBackup['status']>) {
  return {
    name: 'backup',
    schedule,
    next_run: nextRun?.toISOString() ?? null,
    last_run: lastRun?.toISOString() ?? null,
    last_status: lastStatus ?? null,
  }
}

export function syncRunsEndpoint(db: ReadDb): AnyEndpoint {
  return get({
    path: '/api/v1/sync/runs',
    about: 'The newest first: the requested range, the stored values and the error of each run.',
    tag: 'Server',
    query: v.object({ provider: v.optional(ProviderParam), limit: v.optional(LimitParam, '20') }),
    answer: v.array(SyncRunOut),
    async handle({ query }) {
      return freshReply(await selectRuns(db, { providerCode: query.provider, limit: query.limit }))
    },
  })
}
