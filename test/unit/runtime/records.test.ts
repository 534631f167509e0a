import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryBudget, type MemoryShare } from '../../../src/runtime/memory-budget.ts'
import { createFixedRecords, createRecords } from '../../../src/runtime/records.ts'

const open = (): MemoryShare => createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()

test('createFixedRecords returns records by index', () => {
  for (const size of [1, 8, 40, 1000]) {
    using memory = open()
    const records = createFixedRecords(size, memory)
    const count = 50_000 / Math.ceil(size / 10)
    for (let index = 0; index < count; index++) records.add().fill((index * 31) % 251)
    assert.equal(records.count(), count)
    for (let index = 0; index < count; index++) {
      const record = records.at(index)
      assert.equal(record.length, size)
      assert.ok(record.every((byte) => byte === (index * 31) % 251))
    }
    assert.ok(
      memory.usedBytes() <= count * size * 1.05 + 264 * 1024,
      `${memory.usedBytes()} bytes for ${count * size}`,
    )
  }
})

test('createRecords iterates over records of any size in order', () => {
  using memory = open()
  const records = createRecords(memory)
  const texts = Array.from({ length: 20_000 }, (_, at) => `${at} `.repeat((at * 7919) % 150).slice(0, 2000))
  for (const text of texts) records.add(Buffer.byteLength(text)).write(text)
  assert.deepEqual(
    [...records].map((record) => record.toString()),
    texts,
  )
  const bytes = texts.reduce((sum, text) => sum + text.length, 0)
  assert.ok(memory.usedBytes() <= bytes * 1.05 + 264 * 1024, `${memory.usedBytes()} bytes for ${bytes}`)
})

test('a few records take at most 16 KiB', () => {
  using memory = open()
  createFixedRecords(40, memory).add()
  createRecords(memory).add(100)
  assert.ok(memory.usedBytes() <= 16 * 1024)
})
