// The costs of requests and of a start stay within test/bench/budget.json. A landing that lowers a count writes the
// lower one: `node test/budget/budget.ts`. A commit that raises a count changes that file alone, with the reason.
// So the file always has the present counts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureBudget, readBudget } from './budget.ts'

/** Shares by which a count may differ from the file. Writes have timers and the disk, too. */
const TOLERANCE = { reads: 0.005, writes: 0.01, files: 0.02, bytes: 0.1 }
/** Its calls depend on the moment at which the file arrives. */
const FILE = 'content of a document'
/** Random ids decide on which pages a row falls. */
const PART = 0.5

const budget = readBudget()
const measured = await measureBudget()

test('each kind of request has its counts in the budget', () => {
  const names = (of: typeof budget) =>
    Object.entries(of).map(([kind, counts]) => [kind, Object.keys(counts)] as const)
  assert.deepEqual(names(measured), names(budget))
})

for (const [kind, counts] of Object.entries(budget)) {
  test(`${kind} costs what the budget has`, () => {
    const wrong = Object.entries(counts).filter(([name, count]) => {
      const difference = Math.abs((measured[kind]?.[name] ?? Number.NaN) - count)
      return !(difference <= count * share(kind, name) + (name === 'pages' ? PART : 0))
    })
    assert.deepEqual(
      wrong.map(([name, count]) => `${name}: ${measured[kind]?.[name]} instead of ${count}`),
      [],
    )
  })
}

function share(kind: string, name: string): number {
  if (name === 'bytes') return TOLERANCE.bytes
  if (kind === FILE) return TOLERANCE.files
  return 'fsyncs' in (budget[kind] ?? {}) ? TOLERANCE.writes : TOLERANCE.reads
}
