import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../../src/runtime/errors.ts'
import {
  type ByteRange,
  type Chunks,
  checkedChunks,
  createReaderPool,
  fileChunks,
} from '../../../../src/store/blobs/chunks.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { until } from '../../../support/terminal.ts'

const BYTES = randomBytes(1_000_000)

function begin(t: TestContext, range: ByteRange, pool = createReaderPool()) {
  const path = join(temporaryDirectory(t), 'file')
  writeFileSync(path, BYTES)
  let closeCount = 0
  const reads: Promise<unknown>[] = []
  const openFile = async () => {
    const file = await open(path)
    const close = file.close.bind(file)
    file.close = () => {
      closeCount++
      return close()
    }
    const read = file.read.bind(file) as (...words: unknown[]) => Promise<unknown>
    const recorded = (...words: unknown[]) => {
      const reading = read(...words)
      reads.push(reading)
      return reading
    }
    return Object.assign(file, { read: recorded as typeof file.read })
  }
  return { chunks: fileChunks(openFile, range, pool), closeCount: () => closeCount, reads }
}

test('chunks contain every byte of a range, and the file is closed', async (t) => {
  const ends = [0, 1, 262_143, 262_144, 262_145, 524_288, 999_998, 999_999]
  for (const start of ends) {
    for (const end of ends.filter((one) => one >= start)) {
      const { chunks, closeCount } = begin(t, { start, end })
      const copies: Buffer[] = []
      for await (const chunk of chunks) copies.push(Buffer.from(chunk))
      assert.equal(Buffer.concat(copies).equals(BYTES.subarray(start, end + 1)), true, `${start} to ${end}`)
      assert.equal(closeCount(), 1)
    }
  }
})

test('a chunk is valid until the next one is requested', async (t) => {
  const { chunks, reads } = begin(t, { start: 0, end: 999_999 })
  let [at, count] = [0, 0]
  for await (const chunk of chunks) {
    count += 1
    if (at + chunk.length < 1_000_000) await until(() => reads.length > count) // the next chunk is being read
    await Promise.all(reads)
    assert.equal(chunk.equals(BYTES.subarray(at, at + chunk.length)), true)
    at += chunk.length
  }
  assert.equal(at, 1_000_000)
})

test('uses the memory of two chunks, however many there are', async (t) => {
  const { chunks } = begin(t, { start: 0, end: 999_999 })
  const memory = new Set<ArrayBufferLike>()
  for await (const chunk of chunks) memory.add(chunk.buffer)
  assert.equal(memory.size, 2)
})

test('beyond 16 readers chunks are small, and later large again', async (t) => {
  const pool = createReaderPool()
  const all = Array.from({ length: 40 }, () => begin(t, { start: 0, end: 999_999 }, pool))
  const firsts = await Promise.all(all.map(({ chunks }) => chunks.next()))
  const lengths = firsts.map(({ value }) => value?.length ?? 0)
  assert.equal(lengths.filter((length) => length === 262_144).length, 16)
  assert.equal(lengths.filter((length) => length === 16_384).length, 24)
  await Promise.all(all.map(({ chunks }) => chunks.return()))
  assert.equal(pool.readers, 0)
  const copies = await Array.fromAsync(
    begin(t, { start: 0, end: 999_999 }, { ...createReaderPool(), readers: 40 }).chunks,
    (chunk) => Buffer.from(chunk),
  )
  assert.equal(Buffer.concat(copies).equals(BYTES), true)
})

test('40 readers run at most four reads in parallel', async (t) => {
  const pool = createReaderPool()
  let reads = 0
  let most = 0
  const path = join(temporaryDirectory(t), 'file')
  writeFileSync(path, BYTES)
  const openFile = async () => {
    const file = await open(path)
    const read = file.read.bind(file) as (...words: unknown[]) => Promise<never>
    const counted = async (...words: unknown[]) => {
      reads += 1
      most = Math.max(most, reads)
      return read(...words).finally(() => {
        reads -= 1
      })
    }
    return Object.assign(file, { read: counted })
  }
  const range = { start: 0, end: 999_999 }
  const all = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const chunks = fileChunks(openFile, range, pool)
      return Buffer.concat(await Array.fromAsync(chunks, (chunk) => Buffer.from(chunk)))
    }),
  )
  assert.ok(all.every((bytes) => bytes.equals(BYTES)))
  assert.equal(most, 4)
  assert.deepEqual([pool.readers, pool.semaphore.status()], [0, { running: 0, waiting: 0 }])
})

test('a reader that stops early, or whose file ends early, releases its permit', async (t) => {
  const pool = createReaderPool()
  const all = Array.from({ length: 40 }, (_, at) =>
    begin(t, { start: 0, end: at % 2 ? 999_999 : 1_000_000 }, pool),
  )
  await Promise.allSettled(
    all.map(async ({ chunks }, at) => {
      for await (const chunk of chunks) if (at % 3 === 0) return chunk.length
      return 0
    }),
  )
  assert.deepEqual([pool.readers, pool.semaphore.status()], [0, { running: 0, waiting: 0 }])
})

test('the file is opened at the first read, and closed when the reader stops early', async (t) => {
  const unread = begin(t, { start: 0, end: 999_999 })
  await unread.chunks.return()
  assert.equal(unread.closeCount(), 0)
  const partial = begin(t, { start: 0, end: 999_999 })
  for await (const _ of partial.chunks) break
  assert.equal(partial.closeCount(), 1)
})

test('an end of the file before the end of the range is an error', async (t) => {
  const { chunks, closeCount } = begin(t, { start: 900_000, end: 1_000_000 })
  await assert.rejects(Array.fromAsync(chunks), /shorter than it was/)
  assert.equal(closeCount(), 1)
})

test('a content of which no byte is left was altered, unless it never had one', async () => {
  const none = () => Readable.from([])[Symbol.asyncIterator]() as Chunks
  const sha256 = hash('sha256', BYTES)
  const isAltered = (error: unknown) => error instanceof AppError && error.code === 'failed'
  await assert.rejects(Array.fromAsync(checkedChunks(none(), { sha256, size: 0 })), isAltered)
  assert.deepEqual(await Array.fromAsync(checkedChunks(none(), { sha256: hash('sha256', ''), size: 0 })), [])
})
