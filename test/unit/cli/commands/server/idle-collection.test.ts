import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectHeap, idleAfterRush } from '../../../../../src/cli/commands/server/idle-collection.ts'

/** Indexes of the intervals that a collection follows. */
function collections(intervals: [utilization: number, megabytes: number][]): number[] {
  const isIdle = idleAfterRush()
  return intervals.flatMap(([utilization, megabytes], index) =>
    isIdle({ utilization, memory: megabytes * 2 ** 20 }) ? [index] : [],
  )
}

test('idleAfterRush returns true for the first idle interval after the start and after a busy one', () => {
  const utilizations = [0.005, 0.5, 0.9, 0.05, 0.02, 0.009, 0, 0, 0.11, 0.1, 0]
  assert.deepEqual(collections(utilizations.map((utilization) => [utilization, 100])), [0, 5, 10])
})

test('idleAfterRush returns false after the first idle interval, without a busy one', () => {
  assert.deepEqual(collections([0.05, 0.1, 0, 0.009, 0.05, 0].map((utilization) => [utilization, 100])), [2])
})

test('idleAfterRush returns true once for memory that grew by 32 MiB, and remains', () => {
  const megabytes = [120, 100, 132, 133, 140, 140, 140, 170, 173, 150]
  assert.deepEqual(collections(megabytes.map((one) => [0.001, one])), [0, 4, 9])
})

test('collectGarbage frees an unreferenced object', async () => {
  const reference = new WeakRef({})
  await nextTurn() // a WeakRef references its target strongly until the current turn ends
  collectHeap()
  assert.equal(reference.deref(), undefined)
})
