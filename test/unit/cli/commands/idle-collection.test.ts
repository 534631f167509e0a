import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectGarbage, idleAfterRush } from '../../../src/cli/commands/idle-collection.ts'

test('the first idle interval after a busy one asks for a collection, and no other', () => {
  const utilizations = [0, 0.005, 0.5, 0.9, 0.05, 0.02, 0.009, 0, 0, 0.11, 0.1, 0]
  const collects = utilizations.map(idleAfterRush())
  assert.deepEqual(
    collects.flatMap((does, index) => (does ? [index] : [])),
    [6, 11],
  )
})

test('without a rush no interval asks for one', () => {
  assert.ok(![0, 0.05, 0.1, 0, 0.009].map(idleAfterRush()).includes(true))
})

test('a collection takes away what is not held', async () => {
  const left = new WeakRef({})
  await nextTurn() // a WeakRef holds its target until the turn that made it ends
  collectGarbage()
  assert.equal(left.deref(), undefined)
})
