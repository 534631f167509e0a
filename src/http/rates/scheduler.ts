import * as v from 'valibot'
import { TIME_ZONE } from '../../dates.ts'
import type { NightlyBackup } from '../../domain/backup/nightly.ts'
import { selectLastFinishedRun } from '../../store/sync-runs.ts'
import type { Db } from '../../store/tables.ts'
import type { Scheduler } from '../../sync/scheduler.ts'
import { type AnyEndpoint, freshReply, get } from '../api/endpoint.ts'
import { Instant } from '../api/shapes.ts'

const SchedulerOut = v.object({
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

export function schedulerEndpoints({
  db,
  scheduler,
  backups,
}: {
  db: Db
  scheduler: Scheduler
  backups: NightlyBackup | undefined
}): AnyEndpoint[] {
  return [
    get({
      path: '/api/v1/scheduler',
      summary: 'Whether the embedded scheduler is active, and when its tasks run',
      answer: SchedulerOut,
      async handle() {
        const { state, schedule, nextRun } = scheduler.status()
        const last = await selectLastFinishedRun(db)
        return freshReply({
          enabled: state !== 'disabled',
          running: state === 'running',
          timezone: TIME_ZONE,
          tasks: [
            {
              name: 'sync',
              schedule,
              next_run: nextRun?.toISOString() ?? null,
              last_run: last?.started_at ?? null,
              last_status: last?.status ?? null,
            },
            ...(backups ? [backupTask(backups.status())] : []),
          ],
        })
      },
    }),
  ]
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
