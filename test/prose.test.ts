// Counts the habits of language of the repository. Each rule has a budget for each folder; a budget only falls.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countsByFolder, listOffences, proseFiles, readBudgets, totals } from './support/prose/budgets.ts'
import { PROSE_RULES } from './support/prose/rules.ts'

const WRITE = 'node_modules/.bin/node test/support/prose/write.ts'
const SHOWN = 40

const { before, budgets } = readBudgets()
const files = proseFiles()
const counts = countsByFolder(files)

test('each rule of prose finds its bad example and accepts its good one', () => {
  for (const [name, { bad, good, offences }] of Object.entries(PROSE_RULES)) {
    assert.equal(offences(bad).length, 1, `${name}: bad example`)
    assert.deepEqual(offences(good), [], `${name}: good example`)
  }
})

test('prose.test.ts reads the sources, the tests and the pages', () => {
  const paths = new Set(files.map(({ path }) => path))
  for (const path of ['src/app.ts', 'schema.sql', 'README.md', 'test/prose.test.ts', 'src/web/page.tsx'])
    assert.ok(paths.has(path), path)
})

for (const name of Object.keys(PROSE_RULES)) {
  test(`no folder breaks the rule "${name}" more often than its budget`, () => {
    const folders = new Set([...Object.keys(counts), ...Object.keys(budgets)])
    for (const folder of [...folders].sort()) {
      const count = counts[folder]?.[name] ?? 0
      const budget = budgets[folder]?.[name] ?? 0
      if (count > budget) {
        const places = listOffences(files, folder, name)
        const advice = `${folder}: ${PROSE_RULES[name]?.advice} (${count} of at most ${budget})`
        assert.fail([advice, ...places.slice(0, SHOWN), `… of ${places.length}`].join('\n'))
      }
      assert.equal(count, budget, `${folder} has fewer than its budget: lower it with ${WRITE}`)
    }
  })
}

test('each rule of prose is broken at most a fifth as often as when counting began', () => {
  const now = totals(budgets)
  for (const name of Object.keys(PROSE_RULES)) assert.ok((now[name] ?? 0) <= (before[name] ?? 0) / 5, name)
})
