import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { coalesced } from '../../../src/http/api/coalesced.ts'

test('who asks gets a turn that begins after it asked, and shares it with the others', async () => {
  const begun: number[] = []
  let asked = 0
  const look = coalesced(async () => {
    begun.push(asked)
    await setTimeout(20)
  }, 5)
  const ask = () => {
    asked += 1
    return look()
  }
  const first = Promise.all([ask(), ask(), ask()])
  while (begun.length === 0) await setTimeout(1)
  const later = ask() // the first turn is under way, and may have looked before this
  await first
  assert.deepEqual(begun.slice(0, 1), [3])
  await later
  assert.deepEqual(begun, [3, 4])
})

test('turns begin so far apart, however many ask', async () => {
  const begun: number[] = []
  const look = coalesced(async () => void begun.push(performance.now()), 30)
  const started = performance.now()
  let asked = 0
  while (begun.length < 6) {
    asked += 2
    await Promise.race([Promise.all([look(), look()]), setTimeout(5)])
  }
  assert.ok(asked > begun.length)
  // From the first: of two in a row the earlier may be late, when the machine has stood still.
  for (const [at, one] of begun.entries()) assert.ok(one - started >= 28 * at, `${at}: ${one - started} ms`)
})

test('a turn that fails fails for all who share it, and the next one is tried', async () => {
  let turns = 0
  const look = coalesced(async () => {
    turns += 1
    if (turns === 1) throw new Error('no')
  }, 1)
  const results = await Promise.allSettled([look(), look()])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await look()
  assert.equal(turns, 2)
})
