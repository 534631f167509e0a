import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../../src/runtime/errors.ts'
import { type BlobFolder, openBlobFolder } from '../../../../src/store/blobs/folder.ts'
import type { StagedBlob } from '../../../../src/store/blobs/writer.ts'
import { LONG } from '../../../faults/scale.ts'
import { removeUnreferenced } from '../../../support/documents/sweep.ts'
import { createFaultyFs } from '../../../support/faulty-fs.ts'
import { listOpenFiles } from '../../../support/resources.ts'
import { passTurns } from '../../turns.ts'

const KNOWN = Buffer.from('stored before')
const LARGE = Buffer.alloc(1_300_000, 'three blocks of it ')
const SMALL = Buffer.from('small')
const BATCH = [LARGE, SMALL, KNOWN]

const sha256Hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
/** Folders `/ab` and `/ab/cd` of a blob. */
function blobFolders(name: string): string[] {
  return [`/${name.slice(0, 2)}`, `/${name.slice(0, 2)}/${name.slice(2, 4)}`]
}

const SMALL_FOLDERS = ['/', ...blobFolders(sha256Hex(SMALL))].map((folder) => `sync ${folder}`)

async function store(blobs: BlobFolder, batch: Buffer[]): Promise<void> {
  const staged: StagedBlob[] = []
  try {
    for (const bytes of batch) {
      const writer = await blobs.beginBlob()
      try {
        for (let at = 0; at < bytes.length; at += 60_000) await writer.write(bytes.subarray(at, at + 60_000))
      } catch (error) {
        await writer.discard()
        throw error
      }
      staged.push(await writer.finish())
    }
  } catch (error) {
    for (const blob of staged) await blob.discard()
    throw error
  }
  await blobs.commit(staged)
}

type Ground = Awaited<ReturnType<typeof openWithFaults>>

async function openWithFaults(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'cambista-faults-'))
  t.after(() => rmSync(root, { recursive: true }))
  const dir = join(root, 'blobs')
  const faulty = createFaultyFs(dir)
  const blobs = await openBlobFolder(dir, faulty.fs)
  await store(blobs, [KNOWN])
  faulty.calls.length = 0
  return { dir, faulty, blobs }
}

async function checkEveryBlob(blobs: BlobFolder, dir: string): Promise<number> {
  let count = 0
  for await (const sha256 of blobs.list()) {
    const bytes = readFileSync(join(dir, sha256.slice(0, 2), sha256.slice(2, 4), sha256))
    assert.equal(sha256Hex(bytes), sha256)
    count++
  }
  return count
}

async function recordBatchCalls(t: TestContext): Promise<string[]> {
  const { blobs, faulty } = await openWithFaults(t)
  await store(blobs, BATCH)
  return faulty.calls
}

test('writes, flushes the files, renames, flushes the folders: in this order', async (t) => {
  const calls = await recordBatchCalls(t)
  const places = (wanted: RegExp) => calls.flatMap((call, i) => (wanted.test(call) ? [i] : []))
  const writes = places(/^write/)
  const fileSyncs = places(/^sync \/tmp\/\*/)
  const renames = places(/^rename \/tmp\/\*/)
  const folderSyncs = places(/^sync (?!\/tmp)/)
  assert.deepEqual([writes.length, fileSyncs.length, renames.length], [5, 3, 3])
  const before = (a: number[], b: number[]) => assert.ok(Math.max(...a) < Math.min(...b), calls.join('\n'))
  before(writes, fileSyncs)
  before(fileSyncs, renames)
  before(renames, folderSyncs)
  const folders = new Set(
    BATCH.map(sha256Hex)
      .filter((name) => name !== sha256Hex(KNOWN))
      .flatMap((name) => ['/', ...blobFolders(name)]),
  )
  folders.add(String(blobFolders(sha256Hex(KNOWN))[1])) // its parents were flushed before
  assert.deepEqual(
    folderSyncs.map((i) => calls[i]).sort(),
    [...folders].map((folder) => `sync ${folder}`).sort(),
  )
})

/** Stores a blob; returns the flushes of folders. */
async function storeAndList(ground: Ground, content: Buffer): Promise<string[]> {
  ground.faulty.calls.length = 0
  await store(ground.blobs, [content])
  return folderFlushes(ground)
}

function folderFlushes({ faulty }: Ground): string[] {
  return faulty.calls.filter((call) => /^sync (?!\/tmp)/.test(call)).sort()
}

test('flushes a new folder in its parents once, and later only its names', async (t) => {
  const ground = await openWithFaults(t)
  assert.deepEqual(await storeAndList(ground, SMALL), SMALL_FOLDERS)
  assert.deepEqual(await storeAndList(ground, SMALL), SMALL_FOLDERS.slice(2))
  const reopened = { ...ground, blobs: await openBlobFolder(ground.dir, ground.faulty.fs) }
  assert.deepEqual(await storeAndList(reopened, SMALL), SMALL_FOLDERS, 'nothing is remembered at a start')
})

test('flushes a folder again after a failed flush, whichever it was', async (t) => {
  for (const failing of SMALL_FOLDERS) {
    const ground = await openWithFaults(t)
    ground.faulty.faults = (call) => (call === failing ? 'EIO' : undefined)
    await assert.rejects(store(ground.blobs, [SMALL]), AppError)
    ground.faulty.faults = () => undefined
    assert.deepEqual(await storeAndList(ground, SMALL), SMALL_FOLDERS, failing)
    ground.faulty.faults = (call) => (call === SMALL_FOLDERS[2] ? 'EIO' : undefined)
    await assert.rejects(store(ground.blobs, [SMALL]), AppError)
    ground.faulty.faults = () => undefined
    assert.deepEqual(await storeAndList(ground, SMALL), SMALL_FOLDERS, `${failing}, then the names`)
  }
})

test('flushes a folder that another upload made and has not flushed yet', async (t) => {
  for (const waiting of SMALL_FOLDERS) {
    const ground = await openWithFaults(t)
    ground.faulty.calls.length = 0
    const { promise, resolve } = Promise.withResolvers<undefined>()
    let isFirst = true
    ground.faulty.faults = (call) => {
      if (call !== waiting || !isFirst) return undefined
      isFirst = false
      return promise
    }
    const first = store(ground.blobs, [SMALL])
    while (folderFlushes(ground).length < SMALL_FOLDERS.length) await passTurns(1)
    assert.deepEqual(await storeAndList(ground, SMALL), SMALL_FOLDERS, waiting)
    resolve(undefined)
    await first
  }
})

test('flushes a folder anew that was removed beneath it', async (t) => {
  const ground = await openWithFaults(t)
  await storeAndList(ground, SMALL)
  for (const folder of [SMALL_FOLDERS[2], SMALL_FOLDERS[1]]) {
    rmSync(join(ground.dir, String(folder).slice('sync /'.length)), { recursive: true })
    assert.deepEqual(await storeAndList(ground, SMALL), SMALL_FOLDERS, `without ${folder}`)
  }
})

test('flushes its own folders when it opens', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'cambista-faults-'))
  t.after(() => rmSync(root, { recursive: true }))
  const faulty = createFaultyFs(root)
  await openBlobFolder(join(root, 'blobs'), faulty.fs)
  const syncs = faulty.calls.filter((call) => call.startsWith('sync'))
  assert.deepEqual(syncs, ['sync /blobs', 'sync /'])
})

test('leaves the old state or the new when any one call fails, and works again after', async (t) => {
  const calls = await recordBatchCalls(t)
  for (const [at, code] of ['EIO', 'ENOSPC', 'EMFILE'].entries()) {
    for (const [failing, call] of calls.entries()) {
      if (!LONG && failing % 3 !== at) continue // each call fails in one of the ways
      const { dir, blobs, faulty } = await openWithFaults(t)
      faulty.faults = (_, index) => (index === failing ? code : undefined)
      const what = `${code} at call ${failing}, ${call}`
      await assert.rejects(store(blobs, BATCH), (error) => {
        assert.ok(error instanceof AppError, what)
        assert.equal(error.code, code === 'ENOSPC' ? 'disk-full' : 'unavailable', what)
        assert.doesNotMatch(error.message, /injected|\/|E[A-Z]{3}/)
        return true
      })
      assert.deepEqual(readdirSync(join(dir, 'tmp')), [], what)
      assert.deepEqual(listOpenFiles(dir), [], what)
      assert.ok((await checkEveryBlob(blobs, dir)) >= 1, what)
      await store(blobs, BATCH)
      assert.equal(await checkEveryBlob(blobs, dir), 3, what)
    }
  }
})

test('has no torn blob when everything fails from one call on, and the sweep takes the rest', async (t) => {
  const calls = await recordBatchCalls(t)
  for (const [failing, call] of calls.entries()) {
    const { dir, blobs, faulty } = await openWithFaults(t)
    faulty.faults = (_, index) => (index >= failing ? 'EIO' : undefined)
    await assert.rejects(store(blobs, BATCH), AppError, call)
    assert.deepEqual(listOpenFiles(dir), [], call)
    faulty.faults = () => undefined
    await removeUnreferenced(blobs, (sha256) => sha256 === sha256Hex(KNOWN))
    assert.deepEqual(readdirSync(join(dir, 'tmp')), [], call)
    assert.equal(await checkEveryBlob(blobs, dir), 1, call)
  }
})

test('writes all when the file system takes only part of a write', async (t) => {
  const { dir, blobs, faulty } = await openWithFaults(t)
  faulty.maxWrite = 7001
  await store(blobs, BATCH)
  assert.equal(await checkEveryBlob(blobs, dir), 3)
  faulty.maxWrite = 0
  await assert.rejects(store(blobs, BATCH), /wrote nothing/)
})

test('makes the writer of a fast body wait for a slow disk', async (t) => {
  const { blobs, faulty } = await openWithFaults(t)
  const gate = Promise.withResolvers<void>()
  faulty.gate = gate.promise
  const writer = await blobs.beginBlob()
  const block = Buffer.alloc(512 * 1024)
  await writer.write(block) // on its way
  let isWritten = false
  const second = writer.write(block)?.then(() => {
    isWritten = true
  })
  await passTurns()
  assert.equal(isWritten, false)
  gate.resolve()
  await second
  await writer.discard()
})

test('passes a defect of ours on as it is', async (t) => {
  const { blobs } = await openWithFaults(t)
  const staged = await (await blobs.beginBlob()).finish()
  await assert.rejects(blobs.commit([{ ...staged, sha256: 'nonsense' }]), TypeError)
  const writer = await blobs.beginBlob()
  assert.throws(() => writer.write(7 as unknown as Buffer), { code: 'ERR_INVALID_ARG_TYPE' })
  await writer.discard()
})
