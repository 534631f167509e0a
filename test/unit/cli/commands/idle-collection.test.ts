import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectHeap, idleAfterRush } from '../../../../src/cli/commands/idle-collection.ts'

test('idleAfterRush returns true for the first idle interval after a busy one', () => {
  const utilizations = [0, 0.005, 0.5, 0.9, 0.05, 0.02, 0.009, 0, 0, 0.11, 0.1, 0]
  const collects = utilizations.map(idleAfterRush())
  assert.deepEqual(
    collects.flatMap((does, index) => (does ? [index] : [])),
    [6, 11],
  )
})

test('idleAfterRush returns false without a busy interval', () => {
  assert.ok(![0, 0.05, 0.1, 0, 0.009].map(idleAfterRush()).includes(true))
})

test('collectGarbage frees an unreferenced object', async () => {
  const reference = new WeakRef({})
  await nextTurn() // a WeakRef references its target strongly until the current turn ends
  collectHeap()
  assert.equal(reference.deref(), undefined)
})
