// Lowers the budgets of test/prose.test.ts to today's counts. `offences FOLDER [RULE]` prints the places instead.

import {
  type Counts,
  countsByFolder,
  listOffences,
  proseFiles,
  readBudgets,
  totals,
  writeBudgets,
} from './budgets.ts'
import { PROSE_RULES } from './rules.ts'

const [command, folder = '', rule] = process.argv.slice(2)
const files = proseFiles()
if (command === 'offences') {
  for (const name of rule ? [rule] : Object.keys(PROSE_RULES)) {
    const places = listOffences(files, folder, name)
    if (places.length > 0) process.stdout.write(`${[`\n${name}: ${places.length}`, ...places].join('\n')}\n`)
  }
} else {
  const { before, budgets } = readBudgets()
  writeBudgets({ before, budgets: lowered(budgets, countsByFolder(files)) })
  const now = totals(readBudgets().budgets)
  process.stdout.write(
    `${Object.keys(before)
      .map((name) => `${now[name] ?? 0} of ${before[name]} ${name}\n`)
      .join('')}`,
  )
}

/** The counts of today where they are lower. */
function lowered(budgets: Record<string, Counts>, counts: Record<string, Counts>): Record<string, Counts> {
  const lower = (folder: string) =>
    Object.entries(counts[folder] ?? {})
      .map(([name, count]) => [name, Math.min(count, budgets[folder]?.[name] ?? 0)] as const)
      .filter(([, count]) => count > 0)
  return Object.fromEntries(Object.keys(budgets).map((folder) => [folder, Object.fromEntries(lower(folder))]))
}
