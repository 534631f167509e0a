import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryBudget, type MemoryShare } from '../../../src/runtime/memory-budget.ts'
import { createFixedRows, createPackedRows } from '../../../src/runtime/packed-rows.ts'

const open = (): MemoryShare => createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()

test('createFixedRows returns rows by index', () => {
  for (const size of [1, 8, 40, 1000]) {
    using memory = open()
    const rows = createFixedRows(size, memory)
    const count = 50_000 / Math.ceil(size / 10)
    for (let index = 0; index < count; index++) rows.add().fill((index * 31) % 251)
    assert.equal(rows.count(), count)
    for (let index = 0; index < count; index++) {
      const row = rows.at(index)
      assert.equal(row.length, size)
      assert.ok(row.every((byte) => byte === (index * 31) % 251))
    }
    assert.ok(
      memory.usedBytes() <= count * size * 1.05 + 264 * 1024,
      `${memory.usedBytes()} bytes for ${count * size}`,
    )
  }
})

test('createPackedRows iterates over rows of any size in order', () => {
  using memory = open()
  const rows = createPackedRows(memory)
  const texts = Array.from({ length: 20_000 }, (_, at) => `${at} `.repeat((at * 7919) % 150).slice(0, 2000))
  for (const text of texts) rows.add(Buffer.byteLength(text)).write(text)
  assert.deepEqual(
    [...rows].map((row) => row.toString()),
    texts,
  )
  const bytes = texts.reduce((sum, text) => sum + text.length, 0)
  assert.ok(memory.usedBytes() <= bytes * 1.05 + 264 * 1024, `${memory.usedBytes()} bytes for ${bytes}`)
})

test('a few rows take at most 16 KiB', () => {
  using memory = open()
  createFixedRows(40, memory).add()
  createPackedRows(memory).add(100)
  assert.ok(memory.usedBytes() <= 16 * 1024)
})
