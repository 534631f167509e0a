// Compares the bytes that count against quotas, and the counters of the summary, with the documents. A wrong sum loses
// no data. Notes oddities of the directory, with which requests work.

import { selectCompanies } from '../../../store/directory/companies.ts'
import { recountDocuments, selectWrongCounts } from '../../../store/documents/counts.ts'
import { correctSum, selectWrongSums } from '../../../store/documents/usage.ts'
import type { WriteDb } from '../../../store/tables.ts'
import { currentDay } from '../../../values/dates.ts'
import { withoutCase } from '../../directory/directory.ts'
import type { CheckContext } from './examination.ts'

const PAIRS_NAMED = 20

export async function noteUsage({ db, dataDir, report }: CheckContext): Promise<void> {
  const advice = dataDir === undefined ? undefined : ({ about: 'repair' } as const) // `--repair` is for data directories
  for (const { table, id, used, bytes } of await selectWrongSums(db)) {
    const whose = table === 'companies' ? `company ${id}` : `token ${id}`
    report.note(`${used} bytes count against the quota of ${whose}, its documents have ${bytes}`, advice)
  }
  for (const { agentId, counted, found } of await selectWrongCounts(db)) {
    const differences = Object.entries(found).flatMap(([name, value]) => {
      const count = counted[name as keyof typeof counted]
      return count === value ? [] : [`${count} ${name} and not ${value}`]
    })
    report.note(
      `the counters of agent ${agentId} differ from its documents: ${differences.join(', ')}`,
      advice,
    )
  }
}

/** Notes companies whose codes differ only by case. Older versions accepted such codes; they are rejected today. */
export async function examineDirectory({ db, report }: CheckContext): Promise<void> {
  const alike = Map.groupBy(await selectCompanies(db), ({ code }) => withoutCase(code))
  const several = [...alike.values()].filter((companies) => companies.length > 1)
  for (const companies of several.slice(0, PAIRS_NAMED)) {
    const names = companies.map(({ id, code }) => `${JSON.stringify(code)} of company ${id}`)
    report.note(`company codes that differ only by case: ${names.join(', ')}`, { about: 'code-change' })
  }
  if (several.length > PAIRS_NAMED) report.note(`${several.length - PAIRS_NAMED} more such codes`)
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
