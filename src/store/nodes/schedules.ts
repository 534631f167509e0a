// When each provider is synced next, as the node wrote it down that has the scheduler: the others answer with it.

import type { Db } from '../tables.ts'
import { ofNodes } from './tables.ts'

export type ScheduleRow = { provider: string; cron: string; next_run: string | null }

export function selectSchedules(db: Db): Promise<ScheduleRow[]> {
  return ofNodes(db)
    .selectFrom('scheduler')
    .innerJoin('providers', 'providers.id', 'provider_id')
    .select(['code as provider', 'cron', 'next_run'])
    .execute()
}

/** Writes those of providers that are in the database. */
export async function upsertSchedules(db: Db, rows: readonly ScheduleRow[]): Promise<void> {
  for (const { provider, ...values } of rows) {
    await ofNodes(db)
      .insertInto('scheduler')
      .columns(['provider_id', 'cron', 'next_run'])
      .expression((of) =>
        of
          .selectFrom('providers')
          .select((one) => ['id', one.val(values.cron).as('cron'), one.val(values.next_run).as('next_run')])
          .where('code', '=', provider),
      )
      .onConflict((conflict) => conflict.column('provider_id').doUpdateSet(values))
      .execute()
  }
}
