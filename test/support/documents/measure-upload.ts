// Reads an upload of 400,000 documents as a server does, without the disk. Prints the bytes that its budget counts and
// the growth of the process. Run with --expose-gc.

import { setTimeout as sleep } from 'node:timers/promises'
import { isDocuments } from '../../../src/domain/documents/uploads/upload.ts'
import { recognizeBlob } from '../../../src/domain/invoices/recognition.ts'
import { createUploadReader } from '../../../src/http/documents/uploads/json-body.ts'
import { createMemoryBudget } from '../../../src/runtime/memory-budget.ts'
import { createSemaphore } from '../../../src/runtime/semaphore.ts'
import { createBlobBatch } from '../../../src/store/blobs/batch.ts'
import type { BlobWriter } from '../../../src/store/blobs/writer.ts'

const COUNT = 400_000
const AT_ONCE = 1000
const SETTLED_READINGS = 5
const READING_MS = 100

const writer: BlobWriter = {
  write: () => undefined,
  finish: async () => ({ sha256: '', size: 0, path: '', sync: async () => {}, discard: async () => {} }),
  discard: async () => {},
}
const folder = {
  path: '',
  begin: async () => writer,
  unlink: async () => {},
  commitFiles: async () => {},
  semaphore: createSemaphore(8),
}

async function* body(count: number) {
  yield Buffer.from('{"owner_id":1,"company_id":1,"agent_id":1,"documents":[')
  for (let from = 0; from < count; from += AT_ONCE) {
    const documents = Array.from({ length: AT_ONCE }, (_, at) => {
      const base64 = Buffer.from(`content ${from + at}`).toString('base64')
      return JSON.stringify({ name: `factura-${from + at}.pdf`, mimetype: 'application/pdf', base64 })
    })
    yield Buffer.from((from > 0 ? ',' : '') + documents.join(','))
  }
  yield Buffer.from(']}')
}

function memory(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Returns the size of the process once it no longer falls. V8 frees collected pages later, in other threads. */
async function settledRss(): Promise<number> {
  let smallest = process.memoryUsage.rss()
  for (let sinceFall = 0; sinceFall < SETTLED_READINGS; sinceFall += 1) {
    await sleep(READING_MS)
    memory()
    const rss = process.memoryUsage.rss()
    if (rss < smallest) [smallest, sinceFall] = [rss, 0]
  }
  return smallest
}

async function read(count: number) {
  const share = createMemoryBudget({ each: 2 ** 26, all: 2 ** 27 }).open()
  const beginBatch = (own: typeof share) => createBlobBatch(folder, own)
  const reader = createUploadReader({
    beginBatch,
    memory: share,
    watch: async () => {},
    recognize: recognizeBlob,
  })
  await reader.read(body(count))
  const { documents } = reader.upload
  if (!isDocuments(documents) || documents.valid?.files.count() !== count)
    throw new Error('not all were read')
  return { reader, share }
}

await read(AT_ONCE) // compiles and loads code once
const [before, rssBefore] = [memory(), await settledRss()]
const { reader, share } = await read(COUNT)
const [grown, rssGrown] = [memory() - before, (await settledRss()) - rssBefore]
const usedBytes = share.usedBytes()
await reader.discard()
const leftBytes = share.usedBytes()
process.stdout.write(JSON.stringify({ count: COUNT, held: usedBytes, grown, rssGrown, left: leftBytes }))
