// Notes the last sync of each provider.

import { type ProviderRow, selectProviders } from '../../../store/rates/providers.ts'
import { selectLastFinishedRun, selectNewestRun } from '../../../store/rates/sync-runs.ts'
import { isLocked } from '../../../store/sqlite/lock.ts'
import { type CheckContext, runText } from './examination.ts'

export async function noteSyncs(context: CheckContext): Promise<void> {
  const { db, providers, report } = context
  const rows = await selectProviders(db)
  for (const { code } of providers) {
    const row = rows.find((one) => one.code === code)
    const last = row && (await selectLastFinishedRun(db, row.id))
    const of = providers.length > 1 ? ` of ${code}` : ''
    if (!last) await reportUnsynced(context, row, of)
    else report.note(`last sync${of}: ${runText(last)}`)
  }
}

/** `of`: names the provider if there are several. */
async function reportUnsynced(
  { db, dataDir, report }: CheckContext,
  row: ProviderRow | undefined,
  of: string,
): Promise<void> {
  const never = of ? `no sync${of} yet` : 'never synced'
  const open = row && (await selectNewestRun(db, row.id))
  if (open) {
    const began = `${never}: the first run began at ${open.started_at}`
    if (dataDir === undefined || isLocked(dataDir, 'sync.lock')) report.note(`${began} and has not ended`)
    else report.note(`${began} and was interrupted`, { about: 'first-sync' })
  } else if (row?.enabled)
    report.finding('rates', `${never}, so that there are no rates`, { about: 'first-sync' })
  else report.note(row ? `${never}: ${row.code} is disabled` : never)
}
