import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../src/errors.ts'
import { createMemoryBudget } from '../src/memory-budget.ts'

const MIB = 1024 ** 2
const refusal = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof AppError)
  assert.equal(error.code, code)
  assert.match(error.message, words)
  return true
}

test('a request has its limit, and all of them together have one', () => {
  const budget = createMemoryBudget({ each: 2 * MIB, all: 3 * MIB })
  const [first, second] = [budget.open(), budget.open()]
  first.take(2 * MIB)
  assert.throws(
    () => first.take(1),
    refusal('too-large', /is limited to 2 MiB: send fewer documents at once/),
  )
  second.take(MIB)
  assert.throws(() => second.take(1), refusal('busy', /3 MiB\): try again in a moment/))
  assert.deepEqual([first.held(), second.held(), budget.held()], [2 * MIB, MIB, 3 * MIB])
  first[Symbol.dispose]()
  second.take(MIB)
  assert.equal(budget.held(), 2 * MIB)
})

test('what is freed is gone, counts no more, and is not freed twice', () => {
  const budget = createMemoryBudget({ each: MIB, all: MIB })
  const share = budget.open()
  const [kept, freed] = [share.take(1000), share.take(500)]
  freed.fill(1)
  share.free(freed)
  share.free(freed)
  share.free(Buffer.alloc(10))
  assert.deepEqual([freed.length, kept.length, share.held(), budget.held()], [0, 1000, 1000, 1000])
  share[Symbol.dispose]()
  share[Symbol.dispose]()
  assert.deepEqual([kept.length, share.held(), budget.held()], [0, 0, 0])
  assert.deepEqual([...budget.open().take(100)], new Array(100).fill(0))
})

test('a part counts as the share does, and goes with it or before it', () => {
  const budget = createMemoryBudget({ each: MIB, all: 2 * MIB })
  const share = budget.open()
  share.take(1000)
  const [one, other] = [share.part(), share.part()]
  const bytes = one.take(2000)
  other.take(3000)
  assert.deepEqual([share.held(), one.held(), budget.held()], [6000, 2000, 6000])
  assert.throws(() => one.take(MIB), refusal('too-large', /1 MiB/))
  one[Symbol.dispose]()
  assert.deepEqual([bytes.length, share.held(), budget.held()], [0, 4000, 4000])
  share[Symbol.dispose]()
  assert.deepEqual([other.held(), share.held(), budget.held()], [0, 0, 0])
})

test('memory that is freed goes back at once', () => {
  const budget = createMemoryBudget({ each: 2 ** 30, all: 2 ** 30 })
  const before = process.memoryUsage.rss()
  for (let round = 0; round < 20; round++) {
    using share = budget.open()
    for (let block = 0; block < 256; block++) share.take(256 * 1024).fill(round)
  }
  const grown = process.memoryUsage.rss() - before
  assert.ok(grown < 100 * MIB, `of 20 times 64 MiB there are ${grown / MIB} MiB left`)
})
