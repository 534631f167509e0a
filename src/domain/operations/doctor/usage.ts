// Compares the bytes that count against quotas with the sizes of the documents. A wrong sum loses no data.

import { correctSum, selectWrongSums } from '../../../store/documents/usage.ts'
import type { InspectedDatabase } from '../../../store/engine.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import type { WriteDb } from '../../../store/tables.ts'
import type { Report } from './examination.ts'

export async function noteUsage(
  { db, schema }: Pick<InspectedDatabase, 'db' | 'schema'>,
  report: Report,
): Promise<void> {
  if (schema < SCHEMA_VERSION) return
  for (const { table, id, used, bytes } of await selectWrongSums(db)) {
    const whose = table === 'companies' ? `company ${id}` : `token ${id}`
    report.note(`${used} bytes count against the quota of ${whose}, its documents have ${bytes}`, {
      about: 'repair',
    })
  }
}

/** Recomputes the sums. The server must be stopped. */
export async function correctUsage(db: WriteDb): Promise<void> {
  for (const wrong of await selectWrongSums(db)) await correctSum(db, wrong)
}
