// A bucket that fails: nothing is kept by halves, nothing wrong is believed, and no secret is told.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { AppError } from '../../../../src/errors.ts'
import { createMemoryBudget } from '../../../../src/memory-budget.ts'
import type { Blobs } from '../../../../src/store/blobs/blobs.ts'
import type { Db } from '../../../../src/store/tables.ts'
import { openTestBucket } from '../../../support/bucket/open.ts'
import type { BucketFault, PaperBucket } from '../../../support/bucket/paper-bucket.ts'

const MIB = 1024 * 1024
const memory = () => createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const hasCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

/** What an upload does, up to its rows. */
async function store(blobs: Blobs, db: Db, contents: Buffer[]): Promise<void> {
  const batch = blobs.beginBatch(memory())
  try {
    for (const bytes of contents) {
      const writer = batch.begin()
      for (let at = 0; at < bytes.length; at += MIB) await writer.write(bytes.subarray(at, at + MIB))
      await writer.keep()
    }
    await batch.commit()
    const kept = contents.map((_, at) => batch.at(at))
    assert.equal(await db.transaction().execute((trx) => blobs.claim(trx, kept)), true)
  } finally {
    await batch.discard()
  }
}

async function read(blobs: Blobs, bytes: Buffer): Promise<Buffer | undefined> {
  const blob = await blobs.read(sha256Of(bytes))
  const seen: Buffer[] = []
  for await (const chunk of blob?.chunks() ?? []) seen.push(Buffer.from(chunk))
  return blob && Buffer.concat(seen)
}

/** Fails in this way the first so many calls of a name. */
function failFirst(paper: PaperBucket, name: string, times: number, fault: BucketFault): void {
  let left = times
  paper.faults = (call) => (call.name === name && left-- > 0 ? fault : undefined)
}

const ALL = () => [Buffer.from('small'), randomBytes(100_000), randomBytes(11 * MIB)]

test('what may be tried again is tried again', async (t) => {
  const { blobs, db, paper } = await openTestBucket(t)
  for (const fault of ['SlowDown', 'InternalError', 'drop'] as const) {
    for (const name of ['PutObject', 'CreateMultipartUpload', 'UploadPart']) {
      const contents = ALL()
      failFirst(paper, name, 1, fault)
      await store(blobs, db, contents)
      for (const bytes of contents) assert.ok((await read(blobs, bytes))?.equals(bytes), `${fault} ${name}`)
    }
  }
  assert.equal(paper.uploads.size, 0)
})

test('a bucket that goes on saying SlowDown is given up after four tries', async (t) => {
  const { blobs, db, paper } = await openTestBucket(t)
  paper.faults = () => 'SlowDown'
  await assert.rejects(store(blobs, db, [Buffer.from('small')]), hasCode('unavailable'))
  assert.equal(paper.calls.filter(({ name }) => name === 'PutObject').length, 4)
})

test('a failure at any call of an upload is said, and leaves nothing behind', async (t) => {
  const { blobs, db, paper } = await openTestBucket(t)
  await store(blobs, db, ALL())
  const calls = paper.calls.filter(({ name }) => !/^(Get|Head)/.test(name)).length
  assert.ok(calls >= 7, `${calls} calls`)
  const before = paper.objects.size
  for (let failing = 0; failing < calls; failing++) {
    let number = 0
    paper.faults = () => (number++ === failing ? 'refuse' : undefined)
    await assert.rejects(store(blobs, db, ALL()), hasCode('unavailable'), `call ${failing}`)
    assert.deepEqual([paper.objects.size, paper.uploads.size], [before, 0], `call ${failing}`)
  }
})

test('an answer that is lost makes no upload half', async (t) => {
  const { blobs, db, paper } = await openTestBucket(t)
  for (const name of ['PutObject', 'UploadPart']) {
    const contents = ALL()
    failFirst(paper, name, 1, 'deaf')
    await store(blobs, db, contents)
    for (const bytes of contents) assert.ok((await read(blobs, bytes))?.equals(bytes), name)
  }
  // The next try is told that there is no such upload: whether it is there is not known, so it is not kept.
  const before = paper.objects.size
  failFirst(paper, 'CompleteMultipartUpload', 1, 'deaf')
  await assert.rejects(store(blobs, db, [randomBytes(11 * MIB)]), hasCode('unavailable'))
  assert.deepEqual([paper.objects.size, paper.uploads.size], [before, 0])
})

test('a download that breaks off goes on where it was', async (t) => {
  const { blobs, db, paper } = await openTestBucket(t)
  const bytes = randomBytes(3 * MIB)
  await store(blobs, db, [bytes])
  let breaks = 0
  paper.faults = ({ name }) => (name === 'GetObject' && breaks++ < 5 ? { cutAt: 500_000 } : undefined)
  assert.ok((await read(blobs, bytes))?.equals(bytes))
  assert.equal(breaks, 6)
})

test('a bucket that goes silent is waited for no longer than a time, at any point', async (t) => {
  const { blobs, db, paper } = await openTestBucket(t, { timeoutMs: 1500 })
  const bytes = randomBytes(3 * MIB)
  failFirst(paper, 'PutObject', 1, { delayMs: 600_000 })
  await store(blobs, db, [bytes])
  failFirst(paper, 'GetObject', 2, { silentAt: 400_000 })
  assert.ok((await read(blobs, bytes))?.equals(bytes))
  paper.faults = ({ name }) => (name === 'GetObject' ? { silentAt: 0 } : undefined)
  await assert.rejects(read(blobs, bytes), hasCode('unavailable'))
})

test('a body that ends too early each time is refused, and so is one that was altered', async (t) => {
  const { blobs, db, paper } = await openTestBucket(t)
  const bytes = randomBytes(MIB)
  await store(blobs, db, [bytes])
  paper.faults = ({ name }) => (name === 'GetObject' ? { cutAt: 0 } : undefined)
  await assert.rejects(read(blobs, bytes), hasCode('unavailable'))
  paper.faults = ({ name }) => (name === 'GetObject' ? 'alter' : undefined)
  await assert.rejects(read(blobs, bytes), hasCode('failed'))
  paper.faults = () => undefined
  assert.ok((await read(blobs, bytes))?.equals(bytes))
})

test('a bucket that cannot be asked is not one without the content', async (t) => {
  const { blobs, db, paper } = await openTestBucket(t)
  const bytes = Buffer.from('it is there')
  await store(blobs, db, [bytes])
  paper.faults = () => 'refuse'
  await assert.rejects(read(blobs, bytes), hasCode('unavailable'))
  paper.faults = () => undefined
  paper.bucket = 'moved'
  await assert.rejects(read(blobs, bytes), hasCode('unavailable'))
  paper.bucket = 'paper'
  paper.objects.clear()
  assert.equal(await read(blobs, bytes), undefined)
})

test('a wrong secret is refused, and no message tells a secret', async (t) => {
  const secretAccessKey = 'a-secret-that-nobody-shall-read'
  for (const accessKeyId of ['PAPERKEY', 'ANOTHERKEY']) {
    const { blobs, db, paper } = await openTestBucket(t, { credentials: { accessKeyId, secretAccessKey } })
    const failure: unknown = await store(blobs, db, [Buffer.from('small')]).catch((error) => error)
    assert.ok(hasCode('unavailable')(failure))
    const told = inspect(failure, { depth: 10, showHidden: true })
    assert.match(told, /SignatureDoesNotMatch|InvalidAccessKeyId/, 'the operator learns why')
    assert.doesNotMatch(told, /a-secret|PAPERKEY|ANOTHERKEY|Credential=|AWS4/)
    assert.equal(paper.objects.size, 0)
  }
})

test('a bucket that nobody listens at is unavailable', async (t) => {
  const { blobs, db } = await openTestBucket(t, { endpoint: 'http://127.0.0.1:1' })
  await assert.rejects(store(blobs, db, [Buffer.from('small')]), (error) => {
    return hasCode('unavailable')(error) && /ECONNREFUSED/.test(inspect(error))
  })
})
