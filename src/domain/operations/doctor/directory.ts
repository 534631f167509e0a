// Notes oddities of the directory. Requests work with them, so they are no findings.

import { selectCompanies } from '../../../store/directory/companies.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { withoutCase } from '../../directory/directory.ts'
import type { Report } from './examination.ts'

const PAIRS_NAMED = 20

/** Notes companies whose codes differ only by case. Older versions accepted such codes; they are rejected today. */
export async function examineDirectory(db: ReadDb, report: Report): Promise<void> {
  const alike = Map.groupBy(await selectCompanies(db), ({ code }) => withoutCase(code))
  const several = [...alike.values()].filter((companies) => companies.length > 1)
  for (const companies of several.slice(0, PAIRS_NAMED)) {
    const names = companies.map(({ id, code }) => `${JSON.stringify(code)} of company ${id}`)
    report.note(`company codes that differ only by case: ${names.join(', ')}`, { about: 'code-change' })
  }
  if (several.length > PAIRS_NAMED) report.note(`${several.length - PAIRS_NAMED} more such codes`)
}
