import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../../src/runtime/errors.ts'
import { type BlobFolder, freeBytes, openBlobFolder } from '../../../../src/store/blobs/folder.ts'
import type { StagedBlob } from '../../../../src/store/blobs/writer.ts'
import { removeUnreferenced } from '../../../support/documents/sweep.ts'
import { listOpenFiles } from '../../../support/resources.ts'
import { until } from '../../../support/terminal.ts'

const sha256Hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

function tempDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'cambista-blobs-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return join(dir, 'blobs')
}

const blobFile = (dir: string, sha256: string) => join(dir, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
const listTemporary = (dir: string) => readdirSync(join(dir, 'tmp'))

async function stage(blobs: BlobFolder, bytes: Buffer, chunk = 100_000): Promise<StagedBlob> {
  const writer = await blobs.beginBlob()
  for (let at = 0; at < bytes.length; at += chunk) await writer.write(bytes.subarray(at, at + chunk))
  return writer.finish()
}

async function readBytes(reading: Promise<{ stream(): Readable } | undefined>): Promise<Buffer | undefined> {
  const blob = await reading
  return blob && buffer(blob.stream())
}

async function listNames(blobs: BlobFolder): Promise<string[]> {
  const names: string[] = []
  for await (const sha256 of blobs.list()) names.push(sha256)
  return names
}

test('stores bytes of any size under their SHA-256', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  let blobCount = 0
  for (const size of [1, 99_999, 512 * 1024 - 1, 512 * 1024, 512 * 1024 + 1, 3_000_000]) {
    for (const chunk of [1000, 512 * 1024, 2_000_000]) {
      const bytes = randomBytes(size)
      bytes[0] = blobCount++ // makes blobs of one byte different
      const staged = await stage(blobs, bytes, chunk)
      assert.deepEqual([staged.sha256, staged.size], [sha256Hex(bytes), size])
      assert.equal(await blobs.read(staged.sha256), undefined)
      await blobs.commit([staged])
      assert.equal((await readBytes(blobs.read(staged.sha256)))?.equals(bytes), true, `${size} by ${chunk}`)
    }
  }
  assert.deepEqual(listTemporary(dir), [])
})

test('folders and files of blobs are readable by the owner alone', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  const staged = await stage(blobs, Buffer.from('private'))
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
  assert.equal(mode(staged.path), '600')
  await blobs.commit([staged])
  const path = blobFile(dir, staged.sha256)
  assert.deepEqual([path, join(path, '..'), join(path, '../..'), join(dir, 'tmp'), dir].map(mode), [
    '600',
    '700',
    '700',
    '700',
    '700',
  ])
})

test('a chunk may be overwritten after its write', async (t) => {
  const blobs = await openBlobFolder(tempDir(t))
  const writer = await blobs.beginBlob()
  const chunk = Buffer.alloc(300_000)
  for (const fill of 'abcdef') await writer.write(chunk.fill(fill))
  const staged = await writer.finish()
  await blobs.commit([staged])
  const expected = Buffer.concat([...'abcdef'].map((fill) => Buffer.alloc(300_000, fill)))
  assert.equal((await readBytes(blobs.read(staged.sha256)))?.equals(expected), true)
})

test('reads a range, and nothing where there is no blob', async (t) => {
  const blobs = await openBlobFolder(tempDir(t))
  const staged = await stage(blobs, Buffer.from('0123456789'))
  await blobs.commit([staged])
  const range = await blobs.read(staged.sha256, { start: 2, end: 4 })
  assert.equal(range?.size, 10)
  assert.equal((await readBytes(Promise.resolve(range)))?.toString(), '234')
  assert.equal(await blobs.read('0'.repeat(64)), undefined)
})

test('a read of a blob continues after its removal', async (t) => {
  const blobs = await openBlobFolder(tempDir(t))
  const bytes = randomBytes(2_000_000)
  const staged = await stage(blobs, bytes)
  await blobs.commit([staged])
  const reading = await blobs.read(staged.sha256)
  const chunks: Buffer[] = []
  for await (const chunk of reading?.stream() ?? []) {
    if (chunks.length === 0) assert.equal(await blobs.remove(staged.sha256), true)
    chunks.push(chunk)
  }
  assert.equal(Buffer.concat(chunks).equals(bytes), true)
  assert.equal(await blobs.remove(staged.sha256), false)
  assert.equal(await blobs.read(staged.sha256), undefined)
})

test('checks the chunks of a blob, and again when its file has changed', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  const bytes = randomBytes(700_000)
  const staged = await stage(blobs, bytes)
  await blobs.commit([staged])
  const read = async (range?: { start: number; end: number }) => {
    const parts: Buffer[] = []
    const blob = await blobs.read(staged.sha256, range)
    for await (const chunk of blob?.chunks() ?? []) parts.push(Buffer.from(chunk))
    return Buffer.concat(parts)
  }
  const path = blobFile(dir, staged.sha256)
  const altered = Buffer.from(bytes)
  altered[5] = (altered[5] ?? 0) ^ 1
  writeFileSync(path, altered)
  await assert.rejects(read(), /was altered on the disk/)
  await assert.rejects(read({ start: 0, end: bytes.length - 1 }), /was altered on the disk/, 'and again')
  writeFileSync(path, bytes)
  for (const time of ['first', 'second']) assert.ok((await read()).equals(bytes), time)
  writeFileSync(path, altered)
  utimesSync(path, 1_900_000_000, 1_900_000_000) // another time than before, which the file system may round
  await assert.rejects(read(), /was altered on the disk/)
})

test('has no file open for a stream that nobody reads, or reads to the end', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  const staged = await stage(blobs, randomBytes(2_000_000))
  await blobs.commit([staged])
  const unread = await blobs.read(staged.sha256)
  assert.deepEqual(listOpenFiles(dir), [])
  unread?.stream().destroy()
  const reading = await blobs.read(staged.sha256)
  for await (const _ of reading?.stream() ?? []) {
    assert.deepEqual(listOpenFiles(dir), [blobFile(dir, staged.sha256)])
    break
  }
  await until(() => listOpenFiles(dir).length === 0) // a destroyed stream closes its file later
})

test('takes only a SHA-256 for a name', async (t) => {
  const blobs = await openBlobFolder(tempDir(t))
  for (const name of ['', '..', '../../etc/passwd', 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)}/..`]) {
    await assert.rejects(blobs.read(name), TypeError)
    await assert.rejects(blobs.remove(name), TypeError)
  }
})

test('replaces a blob that was damaged', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  const bytes = Buffer.from('whole')
  await blobs.commit([await stage(blobs, bytes)])
  writeFileSync(blobFile(dir, sha256Hex(bytes)), 'torn')
  await blobs.commit([await stage(blobs, bytes)])
  assert.equal(readFileSync(blobFile(dir, sha256Hex(bytes)), 'utf8'), 'whole')
})

test('stores the same content once, from one request and from many at once', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  const bytes = randomBytes(700_000)
  const uploads = Array.from({ length: 20 }, async (_, i) => {
    const staged = [
      await stage(blobs, bytes),
      await stage(blobs, Buffer.from(`own ${i}`)),
      await stage(blobs, bytes),
    ]
    await blobs.commit(staged)
  })
  await Promise.all(uploads)
  assert.equal((await listNames(blobs)).length, 21)
  assert.deepEqual(listTemporary(dir), [])
  assert.equal((await readBytes(blobs.read(sha256Hex(bytes))))?.equals(bytes), true)
})

test('`discard` of a blob removes its file, at any time and repeatedly', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  const unfinished = await blobs.beginBlob()
  unfinished.write(randomBytes(600_000)) // discarded while it is being written
  await unfinished.discard()
  await unfinished.discard()
  const staged = await stage(blobs, randomBytes(600_000))
  await staged.discard()
  await staged.discard()
  const whole = await stage(blobs, Buffer.from('kept'))
  await blobs.commit([whole])
  await whole.discard()
  assert.deepEqual(await listNames(blobs), [whole.sha256])
  assert.deepEqual(listTemporary(dir), [])
  assert.deepEqual(listOpenFiles(dir), [])
})

test('300 staged blobs have at most 64 open files', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  const staged: StagedBlob[] = []
  for (let i = 0; i < 300; i++) staged.push(await stage(blobs, Buffer.from(`document ${i}`)))
  assert.equal(listOpenFiles(dir).length, 64)
  await blobs.commit(staged)
  assert.deepEqual(listOpenFiles(dir), [])
  assert.equal((await listNames(blobs)).length, 300)
})

test('sweeps temporary files and blobs that no row names, and nothing else', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  const referenced = await stage(blobs, Buffer.from('named'))
  const unnamed = await stage(blobs, Buffer.from('unnamed'))
  await blobs.commit([referenced, unnamed])
  await (await stage(blobs, Buffer.from('left by a crash'))).sync()
  writeFileSync(join(dir, 'README'), 'of the operator')
  mkdirSync(join(dir, 'zz'))
  writeFileSync(join(blobFile(dir, referenced.sha256), '..', 'note'), 'too')
  const reopened = await openBlobFolder(dir)
  const removal = await removeUnreferenced(reopened, (sha256) => sha256 === referenced.sha256)
  assert.deepEqual(removal, { temporary: 1, unnamed: 1 })
  assert.deepEqual(await listNames(reopened), [referenced.sha256])
  assert.deepEqual(listTemporary(dir), [])
  assert.equal(readFileSync(join(dir, 'README'), 'utf8'), 'of the operator')
})

test('refuses to begin where the folder has vanished', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  rmSync(dir, { recursive: true })
  await assert.rejects(
    blobs.beginBlob(),
    (error) => error instanceof AppError && error.code === 'unavailable',
  )
})

test('`freeBytes` returns the free space', async (t) => {
  const dir = tempDir(t)
  const blobs = await openBlobFolder(dir)
  assert.equal(typeof (await blobs.freeBytes()), 'number')
  assert.ok((await freeBytes(dir)) > 0)
})
