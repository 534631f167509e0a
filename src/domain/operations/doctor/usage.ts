// Compares the bytes that count against quotas, and the counters of the summary, with the documents. A wrong sum loses
// no data.

import { recountDocuments, selectWrongCounts } from '../../../store/documents/counts.ts'
import { correctSum, selectWrongSums } from '../../../store/documents/usage.ts'
import type { InspectedDatabase } from '../../../store/engine.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import type { WriteDb } from '../../../store/tables.ts'
import { currentDay } from '../../../values/dates.ts'
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
  for (const { agentId, counted, found } of await selectWrongCounts(db)) {
    const differences = Object.entries(found).flatMap(([name, value]) => {
      const count = counted[name as keyof typeof counted]
      return count === value ? [] : [`${count} ${name} and not ${value}`]
    })
    report.note(`the counters of agent ${agentId} differ from its documents: ${differences.join(', ')}`, {
      about: 'repair',
    })
  }
}

/** Recomputes the sums and the counters. The server must be stopped. */
export async function correctUsage(db: WriteDb): Promise<void> {
  for (const wrong of await selectWrongSums(db)) await correctSum(db, wrong)
  if ((await selectWrongCounts(db)).length > 0) {
    await recountDocuments(
      db,
      currentDay(() => new Date()),
    )
  }
}
