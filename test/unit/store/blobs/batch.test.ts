// The contents of one upload, on a real file system, and on one where any call fails.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { createMemoryBudget } from '../../../src/memory-budget.ts'
import type { BlobBatch } from '../../../src/store/blobs/batch.ts'
import { type BlobFolder, openBlobFolder } from '../../../src/store/blobs/folder.ts'
import { removeOrphans } from '../../../src/store/blobs/orphans.ts'
import { blobPath } from '../../../src/store/blobs/place.ts'
import { createFaultyFs } from '../../support/faulty-fs.ts'

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const openFiles = () => readdirSync('/proc/self/fd').length
const memory = () => createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()

const LARGE = Buffer.alloc(1_300_000, 'three blocks of it ')
const MIDDLE = Buffer.alloc(64 * 1024 + 1, 'more than a small one ')
const CONTENTS = [Buffer.from('small'), LARGE, Buffer.from('another'), MIDDLE, Buffer.from('small'), LARGE]

async function openIn(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'cambista-batch-'))
  t.after(() => rmSync(root, { recursive: true }))
  const dir = join(root, 'blobs')
  const faulty = createFaultyFs(dir)
  const blobs = await openBlobFolder(dir, faulty.fs)
  faulty.calls.length = 0
  return { dir, blobs, faulty }
}

/** Keeps contents that come in pieces; the numbers that they got. */
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

async function namesOf(blobs: BlobFolder): Promise<string[]> {
  return (await Array.fromAsync(blobs.list())).sort()
}

async function check(blobs: BlobFolder, dir: string): Promise<number> {
  const names = await namesOf(blobs)
  for (const name of names) assert.equal(sha256Of(readFileSync(blobPath(dir, name))), name)
  return names.length
}

test('keeps contents of any size, each once, and tells what they are', async (t) => {
  const { dir, blobs } = await openIn(t)
  for (const piece of [1000, 60_000, 2_000_000]) {
    const open = openFiles()
    const batch = blobs.beginBatch(memory())
    assert.deepEqual(await keep(batch, CONTENTS, piece), [0, 1, 2, 3, 0, 1])
    assert.equal(batch.count(), 4)
    for (const [at, bytes] of CONTENTS.slice(0, 4).entries()) {
      assert.deepEqual(batch.at(at), { sha256: sha256Of(bytes), size: bytes.length })
    }
    await batch.commit()
    await batch.discard()
    assert.equal(await check(blobs, dir), 4)
    assert.deepEqual([readdirSync(join(dir, 'tmp')), openFiles()], [[], open])
  }
})

test('commits the chosen contents alone, and drops the others', async (t) => {
  const { dir, blobs } = await openIn(t)
  const open = openFiles()
  const batch = blobs.beginBatch(memory())
  await keep(batch, CONTENTS)
  const chosen = [Buffer.from('another'), LARGE].map(sha256Of).sort()
  await batch.commit(new Set(chosen))
  assert.deepEqual(await namesOf(blobs), chosen)
  await batch.discard()
  assert.equal(await check(blobs, dir), 2)
  assert.deepEqual([readdirSync(join(dir, 'tmp')), openFiles()], [[], open])
})

test('takes a content in single bytes', async (t) => {
  const { dir, blobs } = await openIn(t)
  const bytes = randomBytes(70_000)
  const batch = blobs.beginBatch(memory())
  await keep(batch, [bytes], 1)
  await batch.commit()
  assert.deepEqual(await namesOf(blobs), [sha256Of(bytes)])
  assert.equal(await check(blobs, dir), 1)
})

test('leaves nothing of what is discarded, at any time and repeatedly', async (t) => {
  const { dir, blobs } = await openIn(t)
  const open = openFiles()
  const batch = blobs.beginBatch(memory())
  await keep(batch, CONTENTS)
  const dropped = batch.begin()
  await dropped.write(LARGE)
  await dropped.discard()
  await batch.begin().discard()
  const begun = batch.begin()
  await begun.write(LARGE)
  await batch.discard()
  await batch.discard()
  assert.deepEqual([readdirSync(join(dir, 'tmp')), openFiles(), await namesOf(blobs)], [[], open, []])
})

test('holds few files open however many contents there are', async (t) => {
  const { dir, blobs } = await openIn(t)
  const open = openFiles()
  const batches = [blobs.beginBatch(memory()), blobs.beginBatch(memory()), blobs.beginBatch(memory())]
  const keeping = batches.map((batch, at) =>
    keep(
      batch,
      Array.from({ length: 200 }, (_, index) => Buffer.from(`content ${at} ${index}`)),
    ),
  )
  let most = 0
  const looking = setInterval(() => {
    most = Math.max(most, openFiles())
  }, 0)
  await Promise.all(keeping)
  for (const batch of batches) await batch.commit()
  clearInterval(looking)
  assert.ok(most <= open + 64 + 8 + 8, `${most - open} files`)
  assert.equal(openFiles(), open)
  assert.equal(await check(blobs, dir), 600)
})

test('writes and flushes the files, renames them, then flushes each folder once', async (t) => {
  const { blobs, faulty } = await openIn(t)
  const contents = Array.from({ length: 300 }, (_, at) => Buffer.from(`content ${at}`))
  await store(blobs, contents)
  const places = (wanted: RegExp) => faulty.calls.flatMap((call, at) => (wanted.test(call) ? [at] : []))
  const before = (one: number[], other: number[]) => assert.ok(Math.max(...one) < Math.min(...other))
  const [syncs, renames] = [places(/^sync \/tmp\/\*/), places(/^rename \/tmp\/\*/)]
  const folderSyncs = places(/^sync (?!\/tmp)/)
  assert.deepEqual([syncs.length, renames.length], [300, 300])
  before(syncs, renames)
  before(renames, folderSyncs)
  const folders = new Set(contents.map(sha256Of).map((name) => dirname(blobPath('/', name))))
  for (const folder of [...folders]) folders.add(dirname(folder)).add('/')
  assert.deepEqual(
    folderSyncs.map((at) => faulty.calls[at]).sort(),
    [...folders].map((one) => `sync ${one}`).sort(),
  )
})

test('leaves the old state or the new when any one call fails, and works again after', async (t) => {
  const contents = CONTENTS.slice(0, 5) // a large one that is there already fails only to be removed
  const { blobs, faulty } = await openIn(t)
  await store(blobs, contents)
  const calls = [...faulty.calls]
  for (const code of ['EIO', 'ENOSPC', 'EMFILE']) {
    for (const [failing, call] of calls.entries()) {
      const { dir, blobs, faulty } = await openIn(t)
      const open = openFiles()
      let failed = false
      faulty.faults = (_, index) => {
        if (index !== failing) return undefined
        failed = true
        return code
      }
      const what = `${code} at call ${failing}, ${call}`
      await assert.rejects(store(blobs, contents), (error) => {
        assert.ok(failed && error instanceof AppError, what)
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
  const { blobs, faulty } = await openIn(t)
  await store(blobs, CONTENTS)
  for (const [failing, call] of [...faulty.calls].entries()) {
    const { dir, blobs, faulty } = await openIn(t)
    const open = openFiles()
    faulty.faults = (_, index) => (index >= failing ? 'EIO' : undefined)
    await assert.rejects(store(blobs, CONTENTS), AppError, call)
    assert.equal(openFiles(), open, call)
    faulty.faults = () => undefined
    await check(blobs, dir)
    await removeOrphans(blobs, { isNamed: () => false })
    assert.deepEqual([readdirSync(join(dir, 'tmp')), await namesOf(blobs)], [[], []], call)
  }
})

test('a failure of one of many is told by the next, and ends the batch', async (t) => {
  const { dir, blobs, faulty } = await openIn(t)
  const open = openFiles()
  faulty.faults = (call, index) => (index > 300 && call.startsWith('write') ? 'ENOSPC' : undefined)
  const batch = blobs.beginBatch(memory())
  const many = Array.from({ length: 5000 }, (_, at) => Buffer.from(`content ${at}`))
  await assert.rejects(keep(batch, many), { code: 'disk-full' })
  assert.ok(batch.count() < 300, `${batch.count()} were taken`)
  await batch.discard()
  assert.deepEqual([readdirSync(join(dir, 'tmp')), openFiles()], [[], open])
})
