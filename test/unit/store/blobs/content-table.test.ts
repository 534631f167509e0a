import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { createMemoryBudget } from '../../../../src/runtime/memory-budget.ts'
import { createBlobTable } from '../../../../src/store/blobs/blob-table.ts'

const sha256Bytes = (text: string) => hash('sha256', text, 'buffer')

test('the blob table finds 100,000 blobs by SHA-256 and number, with 64 bytes each', () => {
  using memory = createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()
  const table = createBlobTable(memory)
  const count = 100_000
  for (let index = 0; index < count; index++) {
    const sha256 = sha256Bytes(`content ${index}`)
    assert.equal(table.find(sha256), undefined)
    assert.equal(table.add(sha256, index * 2 ** 20, 2 * index), index)
  }
  assert.equal(table.count(), count)
  for (let index = 0; index < count; index++) {
    const sha256 = sha256Bytes(`content ${index}`)
    assert.equal(table.find(sha256), index)
    assert.deepEqual(table.at(index), {
      sha256: sha256.toString('hex'),
      size: index * 2 ** 20,
      file: 2 * index,
    })
  }
  assert.equal(table.find(sha256Bytes('another')), undefined)
  assert.ok(memory.usedBytes() < count * 64, `${memory.usedBytes() / count} bytes each`)
})

test('blobs with similar SHA-256 have different entries', () => {
  using memory = createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()
  const table = createBlobTable(memory)
  const alike = Array.from({ length: 300 }, (_, at) => {
    const sha256 = Buffer.alloc(32, 7)
    sha256.writeUInt16BE(at, 30)
    return sha256
  })
  for (const [file, sha256] of alike.entries()) table.add(sha256, 1, file)
  assert.deepEqual(
    alike.map((sha256) => table.find(sha256)),
    alike.map((_, at) => at),
  )
})
