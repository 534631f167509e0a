// Features of a bucket alone: names of objects, parts, long lists, and foreign objects.

import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { collectGarbage } from '../../../../../src/domain/documents/gc.ts'
import { createMemoryBudget } from '../../../../../src/runtime/memory-budget.ts'
import type { BlobBatch } from '../../../../../src/store/blobs/batch.ts'
import type { Blobs } from '../../../../../src/store/blobs/blobs.ts'
import { partSize } from '../../../../../src/store/blobs/bucket/writer.ts'
import { findObject } from '../../../../../src/store/documents/blob-rows.ts'
import { openTestBucket } from '../../../../support/bucket/open.ts'
import { dropReference } from '../../../../support/documents/drop.ts'

const MIB = 1024 * 1024
const memory = () => createMemoryBudget({ each: 2 ** 26, all: 2 ** 26 }).open()

async function send(blobs: Blobs, contents: Buffer[]): Promise<BlobBatch> {
  const batch = blobs.beginBatch(memory())
  for (const bytes of contents) {
    const writer = batch.begin()
    for (let at = 0; at < bytes.length; at += 60_000) await writer.write(bytes.subarray(at, at + 60_000))
    await writer.keep()
  }
  await batch.commit()
  return batch
}

test('an object is named by the day, the upload and a number, and never by its content', async (t) => {
  const { blobs, fakeBucket } = await openTestBucket(t)
  const batch = await send(blobs, [Buffer.from('one'), randomBytes(100_000), randomBytes(6 * MIB)])
  const names = [0, 1, 2].map((at) => batch.at(at).object ?? '')
  assert.match(String(names[0]), /^of\/cambista\/2026\/03\/24\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-0$/)
  assert.deepEqual(new Set(fakeBucket.objects.keys()), new Set(names))
  assert.deepEqual(await Array.fromAsync(blobs.list()), names)
})

test('a name is used once, also after a content that was there already', async (t) => {
  const { blobs, fakeBucket } = await openTestBucket(t)
  const [same, other] = [randomBytes(100_000), randomBytes(100_000)]
  await send(blobs, [same, same, other, same])
  const put = fakeBucket.calls.filter(({ name }) => name === 'PutObject').map(({ key }) => key)
  assert.equal(new Set(put).size, 4)
  assert.equal(fakeBucket.objects.size, 2)
})

test('up to 5 MiB are one request, more is sent in parts of 5 MiB, one at a time', async (t) => {
  const { blobs, fakeBucket } = await openTestBucket(t)
  let running = 0
  let most = 0
  fakeBucket.faults = ({ name }) => {
    if (name !== 'UploadPart') return undefined
    most = Math.max(most, ++running)
    setTimeout(() => running--, 20)
    return { delayMs: 30 }
  }
  await send(blobs, [randomBytes(5 * MIB), randomBytes(5 * MIB + 1), randomBytes(13 * MIB)])
  const requests = fakeBucket.calls.map(({ name, bytes }) => (bytes > 1000 ? `${name} ${bytes / MIB}` : name))
  assert.deepEqual(requests, [
    'PutObject 5',
    'CreateMultipartUpload',
    'UploadPart 5',
    'UploadPart',
    'CompleteMultipartUpload',
    'CreateMultipartUpload',
    'UploadPart 5',
    'UploadPart 5',
    'UploadPart 3',
    'CompleteMultipartUpload',
  ])
  assert.equal(most, 1)
})

test('growing parts let 10,000 of them fill 5 TiB', () => {
  assert.deepEqual(
    [0, 999, 1000, 1999, 2000].map(partSize),
    [5, 5, 10, 10, 20].map((one) => one * MIB),
  )
  let all = 0
  for (let part = 0; part < 10_000; part++) all += partSize(part)
  assert.ok(all > 4.8 * 1024 ** 4, `${all}`)
  assert.ok(partSize(9999) < 5 * 1024 ** 3, 'the largest that a store takes')
})

test('an object replaces an equal one that is there already, which is then to be removed', async (t) => {
  const { blobs, fakeBucket, removed, db } = await openTestBucket(t)
  const bytes = Buffer.from('the same')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const [first, second] = [await send(blobs, [bytes]), await send(blobs, [bytes])]
  for (const batch of [first, second]) {
    await db.transaction().execute((trx) => blobs.addReferences(trx, [batch.at(0)]))
  }
  assert.equal(await findObject(db, sha256), second.at(0).object)
  assert.deepEqual(await removed(), [first.at(0).object])
  await dropReference(db, sha256)
  assert.deepEqual((await removed()).sort(), [...fakeBucket.objects.keys()].sort())
})

test('lists more objects and unfinished uploads than an answer of the store has', async (t) => {
  const { blobs, fakeBucket } = await openTestBucket(t)
  const modified = new Date('2026-03-20T00:00:00.000Z')
  const keys = Array.from({ length: 2345 }, () => `of/cambista/2026/03/20/${randomUUID()}-0`)
  for (const key of keys) fakeBucket.objects.set(key, { bytes: Buffer.from('x'), modified })
  for (const key of keys.slice(0, 1100)) {
    fakeBucket.uploads.set(randomUUID(), { key, initiated: modified, parts: new Map() })
  }
  assert.deepEqual(await Array.fromAsync(blobs.list()), keys.sort())
  assert.deepEqual(await blobs.findModifiedTime(String(keys[7])), modified)
  assert.equal(await blobs.removeUnfinished(modified), 0)
  assert.equal(await blobs.removeUnfinished(new Date(modified.getTime() + 1)), 1100)
  assert.equal(fakeBucket.uploads.size, 0)
})

test('foreign objects in the bucket are not listed or removed', async (t) => {
  const { blobs, db, fakeBucket } = await openTestBucket(t)
  const [modified, parts] = [new Date('2020-01-01T00:00:00.000Z'), new Map()]
  const others = ['README', 'of/cambista/README', 'of/cambista-2/2026/03/20/x', 'of/cambista/2026/03/20/x']
  for (const key of others) {
    fakeBucket.objects.set(key, { bytes: Buffer.from('theirs'), modified })
    fakeBucket.uploads.set(key, { key, initiated: modified, parts })
    await assert.rejects(blobs.remove(key), TypeError)
    await assert.rejects(blobs.findModifiedTime(key), TypeError)
  }
  const gc = { db, clock: () => new Date('2999-01-01T00:00:00.000Z'), blobs, keepRemovedDays: 0 }
  const nothing = { removed: 0, kept: 0, unnamed: 0, unfinished: 0 }
  assert.deepEqual(await collectGarbage(gc, undefined, new AbortController().signal), nothing)
  assert.deepEqual([fakeBucket.objects.size, fakeBucket.uploads.size], [others.length, others.length])
})

test('an empty prefix uses the whole bucket', async (t) => {
  const { blobs, fakeBucket } = await openTestBucket(t, { prefix: '' })
  const batch = await send(blobs, [Buffer.from('one')])
  assert.match(String(batch.at(0).object), /^2026\/03\/24\//)
  assert.deepEqual(await Array.fromAsync(blobs.list()), [...fakeBucket.objects.keys()])
})
