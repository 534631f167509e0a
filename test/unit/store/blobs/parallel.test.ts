import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { inParallel } from '../../../../src/store/blobs/parallel.ts'

test('`inParallel` processes every item once, and at most `atOnce` in parallel', async () => {
  let [running, most] = [0, 0]
  const items: number[] = []
  await inParallel(new Set([1, 2, 3, 4, 5, 6, 7]), 3, async (item) => {
    running++
    most = Math.max(most, running)
    await setImmediate()
    items.push(item)
    running--
  })
  assert.deepEqual([items.sort(), most], [[1, 2, 3, 4, 5, 6, 7], 3])
  await inParallel([], 3, () => assert.fail())
})

test('`inParallel` throws the first failure after all running items, and begins no further one', async () => {
  const startedItems: number[] = []
  let endCount = 0
  const work = inParallel(
    Array.from({ length: 100 }, (_, at) => at),
    4,
    async (item) => {
      startedItems.push(item)
      await setImmediate()
      if (item === 5) throw new Error('five')
      await setImmediate()
      endCount++
    },
  )
  await assert.rejects(work, /five/)
  assert.ok(startedItems.length <= 12, startedItems.join())
  assert.equal(endCount, startedItems.length - 1)
})
