import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatchMemory } from '../../../../src/http/rates/batch-memory.ts'

const PIECE = Buffer.alloc(1000 - 512) // 1000 bytes with its buffer

test('a full memory rejects a batch, and has room after another is released', () => {
  const open = createBatchMemory({ bytes: 3000, graceMs: 3_600_000 })
  const [first, second] = [open(assert.fail), open(assert.fail)]
  for (const pieces of [first, first, second]) pieces.add(PIECE)
  assert.throws(() => second.add(PIECE), { code: 'busy' })
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  for (let at = 0; at < 2; at += 1) second.add(PIECE)
  assert.throws(() => second.add(PIECE), { code: 'busy' })
})

test('a full memory cuts its oldest batches, also that which needs room', () => {
  const open = createBatchMemory({ bytes: 3000, graceMs: 0 })
  const cut: string[] = []
  const [first, second] = [open(() => cut.push('first')), open(() => cut.push('second'))]
  for (const pieces of [first, second, second]) pieces.add(PIECE)
  const third = open(() => cut.push('third'))
  third.add(PIECE)
  assert.deepEqual(cut, ['first'])
  assert.throws(() => first.add(PIECE), { code: 'busy' })
  assert.deepEqual(cut, ['first'])
  for (let at = 0; at < 2; at += 1) third.add(PIECE)
  assert.deepEqual(cut, ['first', 'second'])
  assert.throws(() => third.add(PIECE), { code: 'busy' })
  assert.deepEqual(cut, ['first', 'second', 'third'])
})

test('pieces are released at the end of their chunks, and when a client disconnects', async () => {
  const open = createBatchMemory({ bytes: 1000, graceMs: 60_000 })
  for (let at = 0; at < 3; at += 1) {
    const pieces = open(assert.fail)
    pieces.add(PIECE)
    const chunks = pieces.chunks()
    assert.deepEqual((await chunks.next()).value, PIECE)
    if (at === 1) await chunks.return()
    else assert.equal((await chunks.next()).done, true)
  }
})
