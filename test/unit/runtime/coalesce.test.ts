import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { coalesce } from '../../../src/runtime/coalesce.ts'

test('a caller gets a run that begins after its call, and shares it with other callers', async () => {
  const callsAtStart: number[] = []
  let calls = 0
  const runOnce = coalesce(async () => {
    callsAtStart.push(calls)
    await setTimeout(20)
  }, 5)
  const ask = () => {
    calls += 1
    return runOnce()
  }
  const first = Promise.all([ask(), ask(), ask()])
  while (callsAtStart.length === 0) await setTimeout(1)
  const later = ask() // the first run is under way, and may have read earlier state
  await first
  assert.deepEqual(callsAtStart.slice(0, 1), [3])
  await later
  assert.deepEqual(callsAtStart, [3, 4])
})

test('runs are at least the pause apart, however many callers there are', async () => {
  const starts: number[] = []
  const runPaced = coalesce(async () => void starts.push(performance.now()), 30)
  const started = performance.now()
  let calls = 0
  while (starts.length < 6) {
    calls += 2
    await Promise.race([Promise.all([runPaced(), runPaced()]), setTimeout(5)])
  }
  assert.ok(calls > starts.length)
  // Measured from the first run: the earlier of two may be late after a stall of the machine.
  for (const [at, start] of starts.entries())
    assert.ok(start - started >= 28 * at, `${at}: ${start - started} ms`)
})

test('a failed run fails for all its callers, and the next one is started', async () => {
  let turns = 0
  const runOnce = coalesce(async () => {
    turns += 1
    if (turns === 1) throw new Error('no')
  }, 1)
  const results = await Promise.allSettled([runOnce(), runOnce()])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await runOnce()
  assert.equal(turns, 2)
})
