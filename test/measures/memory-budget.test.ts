// Memory of the process after buffers of a budget were freed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryBudget } from '../../src/runtime/memory-budget.ts'

const MIB = 1024 ** 2

test('a disposed MemoryShare returns its memory to the system at once', () => {
  const budget = createMemoryBudget({ each: 2 ** 30, all: 2 ** 30 })
  const before = process.memoryUsage.rss()
  for (let round = 0; round < 20; round++) {
    using share = budget.open()
    for (let block = 0; block < 256; block++) share.take(256 * 1024).fill(round)
  }
  const growth = process.memoryUsage.rss() - before
  assert.ok(growth < 100 * MIB, `of 20 times 64 MiB there are ${growth / MIB} MiB left`)
})
