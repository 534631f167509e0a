import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/runtime/errors.ts'
import { createMemoryBudget } from '../../../src/runtime/memory-budget.ts'

const MIB = 1024 ** 2
const refusal = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof AppError)
  assert.equal(error.code, code)
  assert.match(error.message, words)
  return true
}

test('MemoryShare.take has a limit for each request and one for all', () => {
  const budget = createMemoryBudget({ each: 2 * MIB, all: 3 * MIB })
  const [first, second] = [budget.open(), budget.open()]
  first.take(2 * MIB)
  assert.throws(
    () => first.take(1),
    refusal('too-large', /is limited to 2 MiB: send fewer documents at once/),
  )
  second.take(MIB)
  assert.throws(() => second.take(1), refusal('busy', /3 MiB\): try again in a moment/))
  assert.deepEqual([first.usedBytes(), second.usedBytes(), budget.usedBytes()], [2 * MIB, MIB, 3 * MIB])
  first[Symbol.dispose]()
  second.take(MIB)
  assert.equal(budget.usedBytes(), 2 * MIB)
})

test('MemoryShare.free releases a buffer once', () => {
  const budget = createMemoryBudget({ each: MIB, all: MIB })
  const share = budget.open()
  const [used, freed] = [share.take(1000), share.take(500)]
  freed.fill(1)
  share.free(freed)
  share.free(freed)
  share.free(Buffer.alloc(10))
  assert.deepEqual([freed.length, used.length, share.usedBytes(), budget.usedBytes()], [0, 1000, 1000, 1000])
  share[Symbol.dispose]()
  share[Symbol.dispose]()
  assert.deepEqual([used.length, share.usedBytes(), budget.usedBytes()], [0, 0, 0])
  assert.deepEqual([...budget.open().take(100)], new Array(100).fill(0))
})

test('MemoryShare.part counts towards its share and is disposed of with it', () => {
  const budget = createMemoryBudget({ each: MIB, all: 2 * MIB })
  const share = budget.open()
  share.take(1000)
  const [one, other] = [share.part(), share.part()]
  const bytes = one.take(2000)
  other.take(3000)
  assert.deepEqual([share.usedBytes(), one.usedBytes(), budget.usedBytes()], [6000, 2000, 6000])
  assert.throws(() => one.take(MIB), refusal('too-large', /1 MiB/))
  one[Symbol.dispose]()
  assert.deepEqual([bytes.length, share.usedBytes(), budget.usedBytes()], [0, 4000, 4000])
  share[Symbol.dispose]()
  assert.deepEqual([other.usedBytes(), share.usedBytes(), budget.usedBytes()], [0, 0, 0])
})
