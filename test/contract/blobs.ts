// Contract suite of blob stores: every store passes it.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { collectGarbage } from '../../src/domain/documents/gc.ts'
import { AppError } from '../../src/runtime/errors.ts'
import { createMemoryBudget } from '../../src/runtime/memory-budget.ts'
import type { BlobBatch } from '../../src/store/blobs/batch.ts'
import type { Blobs } from '../../src/store/blobs/blobs.ts'
import type { ByteRange } from '../../src/store/blobs/chunks.ts'
import { inParallel } from '../../src/store/blobs/parallel.ts'
import { atomically } from '../../src/store/engine.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { dropBlob, dropReference } from '../support/documents/drop.ts'

export type OpenedBlobs = {
  blobs: Blobs
  /** Rows of the database beside the store. */
  db: WriteDb
  /** Alters a byte of a stored blob, as a failing disk does. */
  damage(sha256: string): Promise<void>
  /** Removes the end of a stored blob. */
  cut(sha256: string): Promise<void>
  /** Remains of unfinished uploads. */
  unfinished(): Promise<string[]>
  /** Opens the folder as another process; a bucket has no list of running uploads. */
  reopen?(): Promise<Blobs>
}

const KIB = 1024
const MIB = 1024 * KIB
const LONG_AGO = new Date('2000-01-01T00:00:00.000Z')
const NOT_YET = new Date('2999-01-01T00:00:00.000Z')
const NEVER = new AbortController().signal
const NOTHING = { removed: 0, kept: 0, unnamed: 0, unfinished: 0 }
const UNKNOWN = '0'.repeat(64)

const sha256Hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const memory = () => createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()

/** @param open a store of its own, with nothing in it */
export function testBlobs(name: string, open: (t: TestContext) => Promise<OpenedBlobs>): void {
  const testStore = (title: string, run: (opened: OpenedBlobs) => Promise<void>) =>
    test(`${name}: ${title}`, async (t) => run(await open(t)))

  const SIZES = [0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 512 * KIB]
  const LARGE = [5 * MIB - 1, 5 * MIB, 5 * MIB + 1, 10 * MIB, 10 * MIB + 1, 20 * MIB]
  testStore('gives back bytes of any size, in whatever pieces they came', async (opened) => {
    for (const size of [...SIZES, ...LARGE]) {
      for (const piece of size > MIB ? [1_000_003] : [1000, 64 * KIB, 3 * MIB]) {
        const bytes = randomBytes(size)
        await store(opened, [bytes], piece)
        const about = `${size} by ${piece}`
        if (size < MIB) assert.ok((await streamed(opened.blobs, bytes))?.equals(bytes), `${about}: stream`)
        assert.ok((await chunked(opened.blobs, bytes))?.equals(bytes), `${about}: chunks`)
        assert.equal((await opened.blobs.read(sha256Hex(bytes)))?.size, size, about)
      }
    }
    assert.deepEqual(await opened.unfinished(), [])
  })

  testStore('reads ranges, also over the borders of its parts', async (opened) => {
    const bytes = randomBytes(11 * MIB)
    await store(opened, [bytes])
    const [first, second, last] = [5 * MIB, 10 * MIB, bytes.length - 1]
    const single = [0, first - 1, first, second, last].map((at) => [at, at] as const)
    const over = [first, second].map((at) => [at - 70 * KIB, at + 70 * KIB] as const)
    for (const [start, end] of [...single, ...over, [0, last - 1], [1, last], [0, last]] as const) {
      const expected = bytes.subarray(start, end + 1)
      const about = `${start} to ${end}`
      assert.ok((await streamed(opened.blobs, bytes, { start, end }))?.equals(expected), about)
      assert.ok((await chunked(opened.blobs, bytes, { start, end }))?.equals(expected), about)
      assert.equal((await opened.blobs.read(sha256Hex(bytes), { start, end }))?.size, bytes.length)
    }
  })

  testStore('has nothing to read of what is not there, and takes only a SHA-256', async ({ blobs }) => {
    assert.equal(await blobs.read(UNKNOWN), undefined)
    for (const sha256 of ['', '..', '../../etc/passwd', 'A'.repeat(64), `${'a'.repeat(64)}/..`]) {
      await assert.rejects(blobs.read(sha256), TypeError)
    }
  })

  testStore('does not mind that a piece is used again after the write', async (opened) => {
    const batch = opened.blobs.beginBatch(memory())
    const writer = batch.begin()
    const piece = Buffer.alloc(2 * MIB)
    for (const fill of 'abcdef') await writer.write(piece.fill(fill))
    await writer.keep()
    await batch.commit()
    await addReferences(opened, batch)
    const expected = Buffer.concat([...'abcdef'].map((fill) => Buffer.alloc(2 * MIB, fill)))
    assert.ok((await streamed(opened.blobs, expected))?.equals(expected))
  })

  testStore('counts equal contents of one upload once, whatever their size', async (opened) => {
    const contents = [Buffer.from('small'), randomBytes(100 * KIB), randomBytes(6 * MIB)]
    const batch = opened.blobs.beginBatch(memory())
    assert.deepEqual(await storeBatch(batch, [...contents, ...contents]), [0, 1, 2, 0, 1, 2])
    await batch.commit()
    assert.deepEqual(
      contents.map((_, at) => [batch.at(at).sha256, batch.at(at).size]),
      contents.map((bytes) => [sha256Hex(bytes), bytes.length]),
    )
    await addReferences(opened, batch)
    for (const bytes of contents) assert.ok((await streamed(opened.blobs, bytes))?.equals(bytes))
    assert.deepEqual(await opened.unfinished(), [])
  })

  testStore('keeps the contents of many uploads at once, among them equal ones', async (opened) => {
    const same = randomBytes(300 * KIB)
    const uploads = Array.from({ length: 20 }, (_, at) => [
      same,
      Buffer.from(`own ${at}`),
      randomBytes(at === 7 ? 6 * MIB : at * KIB),
    ])
    await Promise.all(uploads.map((contents) => store(opened, contents)))
    for (const bytes of uploads.flat()) assert.ok((await streamed(opened.blobs, bytes))?.equals(bytes))
    assert.deepEqual(await opened.unfinished(), [])
  })

  testStore('keeps hundreds of contents of one upload', async (opened) => {
    const contents = Array.from({ length: 300 }, (_, at) => Buffer.from(`document ${at}`))
    await store(opened, contents)
    await inParallel(contents, 8, async (bytes) => {
      assert.ok((await streamed(opened.blobs, bytes))?.equals(bytes))
    })
    assert.equal((await listNames(opened.blobs)).length, 300)
  })

  testStore('has nothing left of what is discarded, at any time and repeatedly', async (opened) => {
    for (const size of [10, 100 * KIB, 6 * MIB, 17 * MIB]) {
      const bytes = randomBytes(size)
      const batch = opened.blobs.beginBatch(memory())
      await storeBatch(batch, [bytes])
      const cutShort = batch.begin()
      await cutShort.write(bytes.subarray(0, size - 1)) // its client has disconnected
      if (size > MIB) await cutShort.discard()
      await batch.discard()
      await batch.discard()
      assert.equal(await opened.blobs.read(sha256Hex(bytes)), undefined, `${size}`)
      assert.deepEqual(await listNames(opened.blobs), [], `${size}`)
      assert.deepEqual(await opened.unfinished(), [], `${size}`)
    }
  })

  testStore('keeps what was committed when it is discarded afterwards', async (opened) => {
    const [one, two, three] = [Buffer.from('one'), randomBytes(100 * KIB), randomBytes(6 * MIB)]
    const batch = opened.blobs.beginBatch(memory())
    await storeBatch(batch, [one, two, three])
    await batch.commit(new Set([sha256Hex(one), sha256Hex(three)]))
    await atomically(opened.db, (trx) => opened.blobs.addReferences(trx, [batch.at(0), batch.at(2)]))
    await batch.discard()
    assert.deepEqual(await streamed(opened.blobs, one), one)
    assert.equal(await streamed(opened.blobs, two), undefined)
    assert.ok((await streamed(opened.blobs, three))?.equals(three))
    assert.equal((await listNames(opened.blobs)).length, 2)
    assert.deepEqual(await opened.unfinished(), [])
  })

  testStore('says that a content was altered or cut, and never gives all of it', async (opened) => {
    for (const size of [10, 700 * KIB, 6 * MIB]) {
      for (const spoil of [opened.damage, opened.cut]) {
        const bytes = randomBytes(size)
        await store(opened, [bytes])
        await spoil(sha256Hex(bytes))
        let bytesRead = 0
        const reading = async () => {
          const blob = await opened.blobs.read(sha256Hex(bytes))
          for await (const chunk of blob?.chunks() ?? []) bytesRead += chunk.length
        }
        await assert.rejects(reading(), (error) => error instanceof AppError && error.code === 'failed')
        assert.ok(bytesRead < size, `${bytesRead} of ${size}`)
      }
    }
  })

  testStore('drops the reference of a content once, and takes the content again', async (opened) => {
    const { blobs, db } = opened
    const bytes = Buffer.from('let go')
    await store(opened, [bytes])
    assert.equal(await dropReference(db, sha256Hex(bytes)), true)
    const { removed } = await blobs.removeFree(db, { names: blobs.keepsRemoved ? [] : [sha256Hex(bytes)] })
    assert.deepEqual(removed, blobs.keepsRemoved ? [] : [sha256Hex(bytes)])
    if (!blobs.keepsRemoved) assert.equal(await blobs.read(sha256Hex(bytes)), undefined)
    assert.equal(await dropReference(db, sha256Hex(bytes)), false)
    await store(opened, [bytes])
    assert.deepEqual(await streamed(blobs, bytes), bytes, 'it may come again')
  })

  testStore(
    'addReferences is true only where the content is, also when an equal one was dropped',
    async (opened) => {
      const { blobs, db } = opened
      const bytes = Buffer.from('the same')
      await store(opened, [bytes])
      const batch = blobs.beginBatch(memory())
      await storeBatch(batch, [bytes])
      await batch.commit()
      await dropBlob(db, blobs, sha256Hex(bytes))
      const isThere = await atomically(db, (trx) => blobs.addReferences(trx, [batch.at(0)]))
      assert.equal(isThere, blobs.keepsRemoved)
      if (isThere) assert.deepEqual(await streamed(blobs, bytes), bytes)
      else assert.equal(await blobs.findModifiedTime(sha256Hex(bytes)), undefined)
    },
  )

  testStore('lists what is there, says since when, and removes it by its name', async (opened) => {
    const { blobs } = opened
    await store(opened, [Buffer.from('one'), Buffer.from('two')])
    const [name = '', other = '', ...more] = await listNames(blobs)
    assert.deepEqual(more, [])
    const writeTime = await blobs.findModifiedTime(name)
    assert.ok(writeTime && Math.abs(writeTime.getTime() - Date.now()) < 3_600_000, String(writeTime))
    assert.equal(await blobs.remove(name), true)
    assert.equal(await blobs.remove(name), false)
    assert.equal(await blobs.findModifiedTime(name), undefined)
    assert.deepEqual(await listNames(blobs), [other])
  })

  testStore('gc removes what no row names, once it is old enough', async (opened) => {
    const { blobs, db } = opened
    const bytes = Buffer.from('named')
    await store(opened, [bytes, Buffer.from('unnamed'), Buffer.from('too')])
    await db.deleteFrom('contents').where('sha256', '!=', sha256Hex(bytes)).execute()
    const collect = (now: Date) =>
      collectGarbage({ db, clock: () => now, blobs, keepRemovedDays: 0 }, undefined, NEVER)
    const young = await collect(LONG_AGO)
    assert.deepEqual([young, (await listNames(blobs)).length], [NOTHING, 3])
    const old = await collect(NOT_YET)
    const counts = blobs.keepsRemoved ? { removed: 2, unnamed: 2 } : { moved: 2 }
    assert.deepEqual(old, { ...NOTHING, ...counts })
    assert.equal((await listNames(blobs)).length, 1)
    assert.deepEqual(await streamed(blobs, bytes), bytes)
    assert.deepEqual(await db.selectFrom('removed_objects').selectAll().execute(), [])
  })

  testStore('removes what an upload that never ended left, once it is old enough', async (opened) => {
    const abandoned = opened.blobs.beginBatch(memory())
    const writer = abandoned.begin()
    for (let at = 0; at < 12; at++) await writer.write(randomBytes(MIB))
    const blobs = (await opened.reopen?.()) ?? opened.blobs
    assert.equal(await blobs.removeUnfinished(LONG_AGO), 0)
    assert.equal((await opened.unfinished()).length, 1)
    assert.equal(await blobs.removeUnfinished(NOT_YET), 1)
    assert.deepEqual(await opened.unfinished(), [])
    await abandoned.discard()
    assert.equal(await blobs.removeUnfinished(), 0)
  })
}

/** Stores blobs that arrive in pieces; returns their numbers. */
async function storeBatch(batch: BlobBatch, contents: Iterable<Buffer>, piece = 200_000): Promise<number[]> {
  const numbers: number[] = []
  for (const bytes of contents) {
    const writer = batch.begin()
    for (let at = 0; at < bytes.length; at += piece) await writer.write(bytes.subarray(at, at + piece))
    numbers.push(await writer.keep())
  }
  return numbers
}

async function addReferences({ blobs, db }: OpenedBlobs, batch: BlobBatch): Promise<void> {
  const contents = Array.from({ length: batch.count() }, (_, at) => batch.at(at))
  assert.equal(await atomically(db, (trx) => blobs.addReferences(trx, contents)), true)
}

/** Stores blobs and commits their rows, as an upload does. */
async function store(opened: OpenedBlobs, contents: Iterable<Buffer>, piece?: number): Promise<void> {
  const batch = opened.blobs.beginBatch(memory())
  await storeBatch(batch, contents, piece)
  await batch.commit()
  await addReferences(opened, batch)
  await batch.discard()
}

async function streamed(blobs: Blobs, bytes: Buffer, range?: ByteRange): Promise<Buffer | undefined> {
  const blob = await blobs.read(sha256Hex(bytes), range)
  return blob && buffer(blob.stream())
}

async function chunked(blobs: Blobs, bytes: Buffer, range?: ByteRange): Promise<Buffer | undefined> {
  const blob = await blobs.read(sha256Hex(bytes), range)
  const chunks: Buffer[] = []
  for await (const chunk of blob?.chunks() ?? []) chunks.push(Buffer.from(chunk))
  return blob && Buffer.concat(chunks)
}

async function listNames(blobs: Blobs): Promise<string[]> {
  return (await Array.fromAsync(blobs.list())).sort()
}
