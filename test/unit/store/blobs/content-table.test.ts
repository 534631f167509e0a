import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { createMemoryBudget } from '../../../src/memory-budget.ts'
import { createContentTable } from '../../../src/store/blobs/content-table.ts'

const sha256Of = (text: string) => hash('sha256', text, 'buffer')

test('finds each of many contents by its SHA-256 and by its number, in little memory', () => {
  using memory = createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()
  const table = createContentTable(memory)
  const count = 100_000
  for (let index = 0; index < count; index++) {
    const sha256 = sha256Of(`content ${index}`)
    assert.equal(table.find(sha256), undefined)
    assert.equal(table.add(sha256, index * 2 ** 20, 2 * index), index)
  }
  assert.equal(table.count(), count)
  for (let index = 0; index < count; index++) {
    const sha256 = sha256Of(`content ${index}`)
    assert.equal(table.find(sha256), index)
    assert.deepEqual(table.at(index), {
      sha256: sha256.toString('hex'),
      size: index * 2 ** 20,
      file: 2 * index,
    })
  }
  assert.equal(table.find(sha256Of('another')), undefined)
  assert.ok(memory.held() < count * 64, `${memory.held() / count} bytes each`)
})

test('contents whose SHA-256 are alike are told apart', () => {
  using memory = createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()
  const table = createContentTable(memory)
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
