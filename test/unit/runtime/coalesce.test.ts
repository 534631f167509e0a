import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coalesce } from '../../../src/runtime/coalesce.ts'

const HOUR_MS = 3_600_000

test('a caller gets a run that begins after its call, and shares it with other callers', async () => {
  const callsAtStart: number[] = []
  const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let calls = 0
  const runOnce = coalesce(async () => {
    callsAtStart.push(calls)
    began.resolve()
    await end.promise
  }, 5)
  const ask = () => {
    calls += 1
    return runOnce()
  }
  const first = Promise.all([ask(), ask(), ask()])
  await began.promise
  const later = ask() // the first run is under way, and may have read earlier state
  end.resolve()
  await first
  assert.deepEqual(callsAtStart.slice(0, 1), [3])
  await later
  assert.deepEqual(callsAtStart, [3, 4])
})

test('runs are at least the pause apart, however many callers there are', async () => {
  const waits: number[] = []
  let runs = 0
  const sleep = async (ms: number) => void waits.push(ms)
  const runPaced = coalesce(async () => void runs++, HOUR_MS, sleep) // a pause that no stall uses up
  for (let turn = 0; turn < 4; turn += 1) await Promise.all([runPaced(), runPaced(), runPaced()])
  const [first, ...others] = waits
  assert.deepEqual([runs, first, others.length], [4, 0, 3])
  assert.ok(
    others.every((ms) => ms > HOUR_MS / 2 && ms <= HOUR_MS),
    String(waits),
  )
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
