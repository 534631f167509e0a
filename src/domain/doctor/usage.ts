// Whether what counts against the quotas is what the documents have. Nothing is lost by a wrong sum.

import type { Examined } from '../../store/engine.ts'
import { openDatabase } from '../../store/sqlite/database.ts'
import { SCHEMA_VERSION } from '../../store/sqlite/migrations.ts'
import { correctSum, selectWrongSums } from '../../store/usage.ts'
import type { Report } from './examination.ts'

export async function noteUsage(
  { db, schema }: Pick<Examined, 'db' | 'schema'>,
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

/** Adds up anew. The server must be stopped. */
export async function correctUsage(dataDir: string): Promise<void> {
  const db = openDatabase(dataDir, { mustExist: true })
  try {
    for (const wrong of await selectWrongSums(db)) await correctSum(db, wrong)
  } finally {
    await db.destroy()
  }
}
