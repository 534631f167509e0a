// Memory of the process while an upload of JSON is read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDocuments } from '../../src/domain/documents/uploads/upload.ts'
import { base64, createMemory, openReader } from '../support/documents/uploads.ts'

test('a large body needs the memory of a few blocks', async () => {
  const block = Buffer.from(base64('0123456789ab'.repeat(8192)))
  async function* large() {
    yield Buffer.from('{"documents":[{"name":"a","mimetype":"a/b","base64":"')
    for (let bytesSent = 0; bytesSent < 300_000_000; bytesSent += block.length) yield Buffer.from(block)
    yield Buffer.from('"}]}')
  }
  let size = 0
  let peak = 0
  const before = process.memoryUsage().rss
  const { beginBatch } = createMemory()
  const writer = {
    write(bytes: Buffer) {
      size += bytes.length
      peak = Math.max(peak, process.memoryUsage.rss())
      return undefined
    },
    keep: async () => 0,
    discard: async () => {},
  }
  const reader = openReader(() => ({ ...beginBatch(), begin: () => writer }))
  await reader.read(large())
  assert.ok(isDocuments(reader.upload.documents))
  assert.ok(size > 225_000_000)
  assert.ok(peak - before < 100_000_000, `memory rose by ${peak - before} bytes`)
})
