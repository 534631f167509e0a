// Failures of a bucket: no blob is stored in part, altered bytes are rejected, and no message contains a secret.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { AppError } from '../../../../../src/runtime/errors.ts'
import { createMemoryBudget } from '../../../../../src/runtime/memory-budget.ts'
import type { Blobs } from '../../../../../src/store/blobs/blobs.ts'
import type { WriteDb } from '../../../../../src/store/tables.ts'
import type { BucketFault, FakeBucket } from '../../../../support/bucket/fake-bucket.ts'
import { openTestBucket } from '../../../../support/bucket/open.ts'

const MIB = 1024 * 1024
const memory = () => createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()
const sha256Hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const hasCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

/** Uploads blobs up to their rows. */
async function store(blobs: Blobs, db: WriteDb, contents: Buffer[]): Promise<void> {
  const batch = blobs.beginBatch(memory())
  try {
    for (const bytes of contents) {
      const writer = batch.begin()
      for (let at = 0; at < bytes.length; at += MIB) await writer.write(bytes.subarray(at, at + MIB))
      await writer.keep()
    }
    await batch.commit()
    const references = contents.map((_, at) => batch.at(at))
    assert.equal(await db.transaction().execute((trx) => blobs.addReferences(trx, references)), true)
  } finally {
    await batch.discard()
  }
}

async function read(blobs: Blobs, bytes: Buffer): Promise<Buffer | undefined> {
  const blob = await blobs.read(sha256Hex(bytes))
  const chunks: Buffer[] = []
  for await (const chunk of blob?.chunks() ?? []) chunks.push(Buffer.from(chunk))
  return blob && Buffer.concat(chunks)
}

/** Makes the first `times` calls of a name fail. */
function failFirst(fakeBucket: FakeBucket, name: string, times: number, fault: BucketFault): void {
  let remaining = times
  fakeBucket.faults = (call) => (call.name === name && remaining-- > 0 ? fault : undefined)
}

const ALL = () => [Buffer.from('small'), randomBytes(100_000), randomBytes(11 * MIB)]

test('temporary errors of a bucket are retried', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t)
  for (const fault of ['SlowDown', 'InternalError', 'drop'] as const) {
    for (const name of ['PutObject', 'CreateMultipartUpload', 'UploadPart']) {
      const contents = ALL()
      failFirst(fakeBucket, name, 1, fault)
      await store(blobs, db, contents)
      for (const bytes of contents) assert.ok((await read(blobs, bytes))?.equals(bytes), `${fault} ${name}`)
    }
  }
  assert.equal(fakeBucket.uploads.size, 0)
})

test('a bucket that always answers SlowDown is given up after four attempts', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t)
  fakeBucket.faults = () => 'SlowDown'
  await assert.rejects(store(blobs, db, [Buffer.from('small')]), hasCode('unavailable'))
  assert.equal(fakeBucket.calls.filter(({ name }) => name === 'PutObject').length, 4)
})

test('a failure of any call of an upload rejects it, and no object remains', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t)
  await store(blobs, db, ALL())
  const calls = fakeBucket.calls.filter(({ name }) => !/^(Get|Head)/.test(name)).length
  assert.ok(calls >= 7, `${calls} calls`)
  const before = fakeBucket.objects.size
  for (let failing = 0; failing < calls; failing++) {
    let number = 0
    fakeBucket.faults = () => (number++ === failing ? 'refuse' : undefined)
    await assert.rejects(store(blobs, db, ALL()), hasCode('unavailable'), `call ${failing}`)
    assert.deepEqual([fakeBucket.objects.size, fakeBucket.uploads.size], [before, 0], `call ${failing}`)
  }
})

test('a lost answer leaves no partial upload', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t)
  for (const name of ['PutObject', 'UploadPart']) {
    const contents = ALL()
    failFirst(fakeBucket, name, 1, 'deaf')
    await store(blobs, db, contents)
    for (const bytes of contents) assert.ok((await read(blobs, bytes))?.equals(bytes), name)
  }
  // The retry gets NoSuchUpload. The object may exist or not, so it is removed.
  const before = fakeBucket.objects.size
  failFirst(fakeBucket, 'CompleteMultipartUpload', 1, 'deaf')
  await assert.rejects(store(blobs, db, [randomBytes(11 * MIB)]), hasCode('unavailable'))
  assert.deepEqual([fakeBucket.objects.size, fakeBucket.uploads.size], [before, 0])
})

test('a download that breaks off goes on where it was', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t)
  const bytes = randomBytes(3 * MIB)
  await store(blobs, db, [bytes])
  let breaks = 0
  fakeBucket.faults = ({ name }) => (name === 'GetObject' && breaks++ < 5 ? { cutAt: 500_000 } : undefined)
  assert.ok((await read(blobs, bytes))?.equals(bytes))
  assert.equal(breaks, 6)
})

test('a silent bucket times out at any point', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t, { timeoutMs: 1500 })
  const bytes = randomBytes(3 * MIB)
  failFirst(fakeBucket, 'PutObject', 1, { delayMs: 600_000 })
  await store(blobs, db, [bytes])
  failFirst(fakeBucket, 'GetObject', 2, { silentAt: 400_000 })
  assert.ok((await read(blobs, bytes))?.equals(bytes))
  fakeBucket.faults = ({ name }) => (name === 'GetObject' ? { silentAt: 0 } : undefined)
  await assert.rejects(read(blobs, bytes), hasCode('unavailable'))
})

test('an answer that goes silent after its head is requested again, and given up in the end', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t, { timeoutMs: 1000 })
  const bytes = randomBytes(6 * MIB)
  failFirst(fakeBucket, 'CreateMultipartUpload', 1, { silentAt: 10 })
  await store(blobs, db, [bytes])
  failFirst(fakeBucket, 'ListObjectsV2', 1, { silentAt: 10 })
  assert.equal((await Array.fromAsync(blobs.list())).length, 1)
  failFirst(fakeBucket, 'ListMultipartUploads', 1, { silentAt: 10 })
  const unfinished = fakeBucket.uploads.size // more than one after a stall of the machine
  assert.ok(unfinished >= 1, 'the upload of the silent answer')
  assert.equal(await blobs.removeUnfinished(), unfinished)
  // The retry gets NoSuchUpload, as after a lost answer.
  const before = fakeBucket.objects.size
  failFirst(fakeBucket, 'CompleteMultipartUpload', 1, { silentAt: 10 })
  await assert.rejects(store(blobs, db, [randomBytes(6 * MIB)]), hasCode('unavailable'))
  assert.deepEqual([fakeBucket.objects.size, fakeBucket.uploads.size], [before, 0])

  const storeId = blobs.storeIds('cambista-contents')
  await storeId.write('own')
  fakeBucket.faults = () => ({ silentAt: 1 })
  await assert.rejects(storeId.read(), hasCode('unavailable'))
  await assert.rejects(Array.fromAsync(blobs.list()), hasCode('unavailable'))
  fakeBucket.faults = () => undefined
  assert.equal(await storeId.read(), 'own')
})

test('a body that ends too early each time is refused, and so is one that was altered', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t)
  const bytes = randomBytes(MIB)
  await store(blobs, db, [bytes])
  fakeBucket.faults = ({ name }) => (name === 'GetObject' ? { cutAt: 0 } : undefined)
  await assert.rejects(read(blobs, bytes), hasCode('unavailable'))
  fakeBucket.faults = ({ name }) => (name === 'GetObject' ? 'alter' : undefined)
  await assert.rejects(read(blobs, bytes), hasCode('failed'))
  fakeBucket.faults = () => undefined
  assert.ok((await read(blobs, bytes))?.equals(bytes))
})

test('a read from an unreachable bucket is an error, not a missing blob', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t)
  const bytes = Buffer.from('it is there')
  await store(blobs, db, [bytes])
  fakeBucket.faults = () => 'refuse'
  await assert.rejects(read(blobs, bytes), hasCode('unavailable'))
  fakeBucket.faults = () => undefined
  fakeBucket.bucket = 'moved'
  await assert.rejects(read(blobs, bytes), hasCode('unavailable'))
  fakeBucket.bucket = 'fakeBucket'
  fakeBucket.objects.clear()
  assert.equal(await read(blobs, bytes), undefined)
})

test('a wrong secret is refused, and no message contains a secret', async (t) => {
  const secretAccessKey = 'a-secret-that-nobody-shall-read'
  for (const accessKeyId of ['PAPERKEY', 'ANOTHERKEY']) {
    const { blobs, db, fakeBucket } = await openTestBucket(t, {
      credentials: { accessKeyId, secretAccessKey },
    })
    const failure: unknown = await store(blobs, db, [Buffer.from('small')]).catch((error) => error)
    assert.ok(hasCode('unavailable')(failure))
    const errorText = inspect(failure, { depth: 10, showHidden: true })
    assert.match(errorText, /SignatureDoesNotMatch|InvalidAccessKeyId/, 'the cause has the reason')
    assert.doesNotMatch(errorText, /a-secret|PAPERKEY|ANOTHERKEY|Credential=|AWS4/)
    assert.equal(fakeBucket.objects.size, 0)
  }
})

test('a bucket without a listening server is unavailable', async (t) => {
  const { blobs, db } = await openTestBucket(t, { endpoint: 'http://127.0.0.1:1' })
  await assert.rejects(store(blobs, db, [Buffer.from('small')]), (error) => {
    return hasCode('unavailable')(error) && /ECONNREFUSED/.test(inspect(error))
  })
})
