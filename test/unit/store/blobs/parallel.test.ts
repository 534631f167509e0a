import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { inParallel } from '../../../src/store/blobs/parallel.ts'

test('works on every item once, so many at once and no more', async () => {
  let [running, most] = [0, 0]
  const done: number[] = []
  await inParallel(new Set([1, 2, 3, 4, 5, 6, 7]), 3, async (item) => {
    running++
    most = Math.max(most, running)
    await setImmediate()
    done.push(item)
    running--
  })
  assert.deepEqual([done.sort(), most], [[1, 2, 3, 4, 5, 6, 7], 3])
  await inParallel([], 3, () => assert.fail())
})

test('throws the first failure when nothing runs any more, and begins nothing after it', async () => {
  const begun: number[] = []
  let ended = 0
  const work = inParallel(
    Array.from({ length: 100 }, (_, at) => at),
    4,
    async (item) => {
      begun.push(item)
      await setImmediate()
      if (item === 5) throw new Error('five')
      await setImmediate()
      ended++
    },
  )
  await assert.rejects(work, /five/)
  assert.ok(begun.length <= 12, begun.join())
  assert.equal(ended, begun.length - 1)
})
