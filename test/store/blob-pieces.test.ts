import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type ByteRange, createCrowd, piecesOf } from '../../src/store/blob-pieces.ts'
import { temporaryDirectory } from '../support/ground.ts'

const BYTES = randomBytes(1_000_000)

function begin(t: TestContext, range: ByteRange, crowd = createCrowd()) {
  const path = join(temporaryDirectory(t), 'file')
  writeFileSync(path, BYTES)
  let closed = 0
  const opened = async () => {
    const file = await open(path)
    const close = file.close.bind(file)
    file.close = () => {
      closed++
      return close()
    }
    return file
  }
  return { pieces: piecesOf(opened, range, crowd), closed: () => closed }
}

test('gives every byte of a range, and closes the file', async (t) => {
  const ends = [0, 1, 262_143, 262_144, 262_145, 524_288, 999_998, 999_999]
  for (const start of ends) {
    for (const end of ends.filter((one) => one >= start)) {
      const { pieces, closed } = begin(t, { start, end })
      const seen: Buffer[] = []
      for await (const piece of pieces) seen.push(Buffer.from(piece))
      assert.equal(Buffer.concat(seen).equals(BYTES.subarray(start, end + 1)), true, `${start} to ${end}`)
      assert.equal(closed(), 1)
    }
  }
})

test('leaves a piece as it is until the next is asked for', async (t) => {
  const { pieces } = begin(t, { start: 0, end: 999_999 })
  let at = 0
  for await (const piece of pieces) {
    await new Promise((resolve) => setTimeout(resolve, 20)) // time enough to read ahead
    assert.equal(piece.equals(BYTES.subarray(at, at + piece.length)), true)
    at += piece.length
  }
  assert.equal(at, 1_000_000)
})

test('uses the memory of two pieces, however many there are', async (t) => {
  const { pieces } = begin(t, { start: 0, end: 999_999 })
  const memory = new Set<ArrayBufferLike>()
  for await (const piece of pieces) memory.add(piece.buffer)
  assert.equal(memory.size, 2)
})

test('a crowd of readers gets small pieces, and large ones again when it is gone', async (t) => {
  const crowd = createCrowd()
  const all = Array.from({ length: 40 }, () => begin(t, { start: 0, end: 999_999 }, crowd))
  const firsts = await Promise.all(all.map(({ pieces }) => pieces.next()))
  const lengths = firsts.map(({ value }) => value?.length ?? 0)
  assert.equal(lengths.filter((length) => length === 262_144).length, 16)
  assert.equal(lengths.filter((length) => length === 16_384).length, 24)
  await Promise.all(all.map(({ pieces }) => pieces.return()))
  assert.equal(crowd.readers, 0)
  const seen = await Array.fromAsync(
    begin(t, { start: 0, end: 999_999 }, { ...createCrowd(), readers: 40 }).pieces,
    (piece) => Buffer.from(piece),
  )
  assert.equal(Buffer.concat(seen).equals(BYTES), true)
})

test('few read at the same moment, and each has its turn', async (t) => {
  const crowd = createCrowd()
  let reads = 0
  let most = 0
  const path = join(temporaryDirectory(t), 'file')
  writeFileSync(path, BYTES)
  const opened = async () => {
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
      const pieces = piecesOf(opened, range, crowd)
      return Buffer.concat(await Array.fromAsync(pieces, (piece) => Buffer.from(piece)))
    }),
  )
  assert.ok(all.every((bytes) => bytes.equals(BYTES)))
  assert.equal(most, 4)
  assert.deepEqual([crowd.readers, crowd.turns.status()], [0, { running: 0, waiting: 0 }])
})

test('who leaves early, or whose file ends early, gives the turn back', async (t) => {
  const crowd = createCrowd()
  const all = Array.from({ length: 40 }, (_, at) =>
    begin(t, { start: 0, end: at % 2 ? 999_999 : 1_000_000 }, crowd),
  )
  await Promise.allSettled(
    all.map(async ({ pieces }, at) => {
      for await (const piece of pieces) if (at % 3 === 0) return piece.length
      return 0
    }),
  )
  assert.deepEqual([crowd.readers, crowd.turns.status()], [0, { running: 0, waiting: 0 }])
})

test('opens nothing before it is asked, and closes when it is left early', async (t) => {
  const unread = begin(t, { start: 0, end: 999_999 })
  await unread.pieces.return()
  assert.equal(unread.closed(), 0)
  const left = begin(t, { start: 0, end: 999_999 })
  for await (const _ of left.pieces) break
  assert.equal(left.closed(), 1)
})

test('an end of the file before the end of the range is an error', async (t) => {
  const { pieces, closed } = begin(t, { start: 900_000, end: 1_000_000 })
  await assert.rejects(Array.fromAsync(pieces), /shorter than it was/)
  assert.equal(closed(), 1)
})
