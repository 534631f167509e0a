// Blobs of one upload, on a real file system, and on one where any call fails.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../../src/runtime/errors.ts'
import { createMemoryBudget } from '../../../../src/runtime/memory-budget.ts'
import type { BlobBatch } from '../../../../src/store/blobs/batch.ts'
import { blobPath } from '../../../../src/store/blobs/commit.ts'
import { type BlobFolder, openBlobFolder } from '../../../../src/store/blobs/folder.ts'
import { LONG } from '../../../faults/scale.ts'
import { removeUnreferenced } from '../../../support/documents/sweep.ts'
import { createFaultyFs } from '../../../support/faulty-fs.ts'

const sha256Hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const openFiles = () => readdirSync('/proc/self/fd').length
const memory = () => createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()

const LARGE = Buffer.alloc(1_300_000, 'three blocks of it ')
const MIDDLE = Buffer.alloc(64 * 1024 + 1, 'more than a small one ')
const CONTENTS = [Buffer.from('small'), LARGE, Buffer.from('another'), MIDDLE, Buffer.from('small'), LARGE]

async function openBlobs(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'cambista-batch-'))
  t.after(() => rmSync(root, { recursive: true }))
  const dir = join(root, 'blobs')
  const faulty = createFaultyFs(dir)
  const blobs = await openBlobFolder(dir, faulty.fs)
  faulty.calls.length = 0
  return { dir, blobs, faulty }
}

/** Adds blobs in pieces, and returns their numbers. */
async function keep(batch: BlobBatch, contents: Iterable<Buffer>, piece = 60_000): Promise<number[]> {
  const numbers: number[] = []
  for (const bytes of contents) {
    const writer = batch.begin()
    for (let at = 0; at < bytes.length; at += piece) await writer.write(bytes.subarray(at, at + piece))
    numbers.push(await writer.keep())
  }
  return numbers
}

async function store(blobs: BlobFolder, contents: Iterable<Buffer>): Promise<void> {
  const batch = blobs.beginBatch(memory())
  try {
    await keep(batch, contents)
    await batch.commit()
  } finally {
    await batch.discard()
  }
}

async function listNames(blobs: BlobFolder): Promise<string[]> {
  return (await Array.fromAsync(blobs.list())).sort()
}

async function check(blobs: BlobFolder, dir: string): Promise<number> {
  const names = await listNames(blobs)
  for (const name of names) assert.equal(sha256Hex(readFileSync(blobPath(dir, name))), name)
  return names.length
}

test('a batch stores blobs of any size once, and `at` returns their hashes and sizes', async (t) => {
  const { dir, blobs } = await openBlobs(t)
  for (const piece of [1000, 60_000, 2_000_000]) {
    const open = openFiles()
    const batch = blobs.beginBatch(memory())
    assert.deepEqual(await keep(batch, CONTENTS, piece), [0, 1, 2, 3, 0, 1])
    assert.equal(batch.count(), 4)
    for (const [at, bytes] of CONTENTS.slice(0, 4).entries()) {
      assert.deepEqual(batch.at(at), { sha256: sha256Hex(bytes), size: bytes.length })
    }
    await batch.commit()
    await batch.discard()
    assert.equal(await check(blobs, dir), 4)
    assert.deepEqual([readdirSync(join(dir, 'tmp')), openFiles()], [[], open])
  }
})

test('`commit` of chosen blobs discards the others', async (t) => {
  const { dir, blobs } = await openBlobs(t)
  const open = openFiles()
  const batch = blobs.beginBatch(memory())
  await keep(batch, CONTENTS)
  const chosenHashes = [Buffer.from('another'), LARGE].map(sha256Hex).sort()
  await batch.commit(new Set(chosenHashes))
  assert.deepEqual(await listNames(blobs), chosenHashes)
  await batch.discard()
  assert.equal(await check(blobs, dir), 2)
  assert.deepEqual([readdirSync(join(dir, 'tmp')), openFiles()], [[], open])
})

test('a batch accepts a blob in single bytes', async (t) => {
  const { dir, blobs } = await openBlobs(t)
  const bytes = randomBytes(70_000)
  const batch = blobs.beginBatch(memory())
  await keep(batch, [bytes], 1)
  await batch.commit()
  assert.deepEqual(await listNames(blobs), [sha256Hex(bytes)])
  assert.equal(await check(blobs, dir), 1)
})

test('`discard` of a batch removes all files, at any time and repeatedly', async (t) => {
  const { dir, blobs } = await openBlobs(t)
  const open = openFiles()
  const batch = blobs.beginBatch(memory())
  await keep(batch, CONTENTS)
  const dropped = batch.begin()
  await dropped.write(LARGE)
  await dropped.discard()
  await batch.begin().discard()
  const unfinished = batch.begin()
  await unfinished.write(LARGE)
  await batch.discard()
  await batch.discard()
  assert.deepEqual([readdirSync(join(dir, 'tmp')), openFiles(), await listNames(blobs)], [[], open, []])
})

test('batches of 600 blobs have at most 80 open files', async (t) => {
  const { dir, blobs } = await openBlobs(t)
  const open = openFiles()
  const batches = [blobs.beginBatch(memory()), blobs.beginBatch(memory()), blobs.beginBatch(memory())]
  const adding = batches.map((batch, at) =>
    keep(
      batch,
      Array.from({ length: 200 }, (_, index) => Buffer.from(`content ${at} ${index}`)),
    ),
  )
  let most = 0
  const sampling = setInterval(() => {
    most = Math.max(most, openFiles())
  }, 0)
  await Promise.all(adding)
  for (const batch of batches) await batch.commit()
  clearInterval(sampling)
  assert.ok(most <= open + 64 + 8 + 8, `${most - open} files`)
  assert.equal(openFiles(), open)
  assert.equal(await check(blobs, dir), 600)
})

test('writes and flushes the files, renames them, then flushes each folder once', async (t) => {
  const { blobs, faulty } = await openBlobs(t)
  const contents = Array.from({ length: 300 }, (_, at) => Buffer.from(`content ${at}`))
  await store(blobs, contents)
  const places = (wanted: RegExp) => faulty.calls.flatMap((call, at) => (wanted.test(call) ? [at] : []))
  const before = (one: number[], other: number[]) => assert.ok(Math.max(...one) < Math.min(...other))
  const [syncs, renames] = [places(/^sync \/tmp\/\*/), places(/^rename \/tmp\/\*/)]
  const folderSyncs = places(/^sync (?!\/tmp)/)
  assert.deepEqual([syncs.length, renames.length], [300, 300])
  before(syncs, renames)
  before(renames, folderSyncs)
  const folders = new Set(contents.map(sha256Hex).map((name) => dirname(blobPath('/', name))))
  for (const folder of [...folders]) folders.add(dirname(folder)).add('/')
  assert.deepEqual(
    folderSyncs.map((at) => faulty.calls[at]).sort(),
    [...folders].map((one) => `sync ${one}`).sort(),
  )
})

test('leaves the old state or the new when any one call fails, and works again after', async (t) => {
  const contents = CONTENTS.slice(0, 5) // without the second large one: an equal blob is only discarded, which ignores errors
  const { blobs, faulty } = await openBlobs(t)
  await store(blobs, contents)
  const calls = [...faulty.calls]
  for (const [at, code] of ['EIO', 'ENOSPC', 'EMFILE'].entries()) {
    for (const [failing, call] of calls.entries()) {
      if (!LONG && failing % 3 !== at) continue // each call fails in one of the ways
      const { dir, blobs, faulty } = await openBlobs(t)
      const open = openFiles()
      let hasFailed = false
      faulty.faults = (_, index) => {
        if (index !== failing) return undefined
        hasFailed = true
        return code
      }
      const what = `${code} at call ${failing}, ${call}`
      await assert.rejects(store(blobs, contents), (error) => {
        assert.ok(hasFailed && error instanceof AppError, what)
        assert.equal(error.code, code === 'ENOSPC' ? 'disk-full' : 'unavailable', what)
        assert.doesNotMatch(error.message, /injected|\/|E[A-Z]{3}/)
        return true
      })
      assert.deepEqual([readdirSync(join(dir, 'tmp')), openFiles()], [[], open], what)
      await check(blobs, dir)
      await store(blobs, contents)
      assert.equal(await check(blobs, dir), 4, what)
    }
  }
})

test('has no torn blob when everything fails from one call on, and the sweep takes the rest', async (t) => {
  const { blobs, faulty } = await openBlobs(t)
  await store(blobs, CONTENTS)
  for (const [failing, call] of [...faulty.calls].entries()) {
    const { dir, blobs, faulty } = await openBlobs(t)
    const open = openFiles()
    faulty.faults = (_, index) => (index >= failing ? 'EIO' : undefined)
    await assert.rejects(store(blobs, CONTENTS), AppError, call)
    assert.equal(openFiles(), open, call)
    faulty.faults = () => undefined
    await check(blobs, dir)
    await removeUnreferenced(blobs)
    assert.deepEqual([readdirSync(join(dir, 'tmp')), await listNames(blobs)], [[], []], call)
  }
})

test('a failed write of a small blob rejects the next one and ends the batch', async (t) => {
  const { dir, blobs, faulty } = await openBlobs(t)
  const open = openFiles()
  faulty.faults = (call, index) => (index > 300 && call.startsWith('write') ? 'ENOSPC' : undefined)
  const batch = blobs.beginBatch(memory())
  const many = Array.from({ length: 5000 }, (_, at) => Buffer.from(`content ${at}`))
  await assert.rejects(keep(batch, many), { code: 'disk-full' })
  assert.ok(batch.count() < 300, `${batch.count()} were taken`)
  await batch.discard()
  assert.deepEqual([readdirSync(join(dir, 'tmp')), openFiles()], [[], open])
})
