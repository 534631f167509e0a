// What only a bucket has: names of objects, parts, lists of many, and what is not ours in it.

import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createMemoryBudget } from '../../../../src/memory-budget.ts'
import type { BlobBatch } from '../../../../src/store/blobs/batch.ts'
import type { Blobs } from '../../../../src/store/blobs/blobs.ts'
import { partBytesAfter } from '../../../../src/store/blobs/bucket/writer.ts'
import { removeOrphans } from '../../../../src/store/blobs/orphans.ts'
import { openTestBucket } from '../../../support/bucket/open.ts'

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
  const { blobs, paper } = await openTestBucket(t)
  const batch = await send(blobs, [Buffer.from('one'), randomBytes(100_000), randomBytes(6 * MIB)])
  const names = [0, 1, 2].map((at) => batch.at(at).object ?? '')
  assert.match(String(names[0]), /^of\/cambista\/2026\/03\/24\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-0$/)
  assert.deepEqual(new Set(paper.objects.keys()), new Set(names))
  assert.deepEqual(await Array.fromAsync(blobs.list()), names)
})

test('a name is used once, also after a content that was there already', async (t) => {
  const { blobs, paper } = await openTestBucket(t)
  const [same, other] = [randomBytes(100_000), randomBytes(100_000)]
  await send(blobs, [same, same, other, same])
  const put = paper.calls.filter(({ name }) => name === 'PutObject').map(({ key }) => key)
  assert.equal(new Set(put).size, 4)
  assert.equal(paper.objects.size, 2)
})

test('up to 5 MiB are one request, more is sent in parts of 5 MiB, one at a time', async (t) => {
  const { blobs, paper } = await openTestBucket(t)
  let running = 0
  let most = 0
  paper.faults = ({ name }) => {
    if (name !== 'UploadPart') return undefined
    most = Math.max(most, ++running)
    setTimeout(() => running--, 20)
    return { delayMs: 30 }
  }
  await send(blobs, [randomBytes(5 * MIB), randomBytes(5 * MIB + 1), randomBytes(13 * MIB)])
  const sent = paper.calls.map(({ name, bytes }) => (bytes > 1000 ? `${name} ${bytes / MIB}` : name))
  assert.deepEqual(sent, [
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

test('the parts grow, so that ten thousand hold 5 TiB', () => {
  assert.deepEqual(
    [0, 999, 1000, 1999, 2000].map(partBytesAfter),
    [5, 5, 10, 10, 20].map((one) => one * MIB),
  )
  let all = 0
  for (let sent = 0; sent < 10_000; sent++) all += partBytesAfter(sent)
  assert.ok(all > 4.8 * 1024 ** 4, `${all}`)
  assert.ok(partBytesAfter(9999) < 5 * 1024 ** 3, 'the largest that a store takes')
})

test('an equal content that is there already leaves its own object to be removed', async (t) => {
  const { blobs, paper, rows, db } = await openTestBucket(t)
  const bytes = Buffer.from('the same')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const [first, second] = [await send(blobs, [bytes]), await send(blobs, [bytes])]
  for (const batch of [first, second]) {
    await db.transaction().execute((trx) => blobs.claim(trx, [batch.at(0)]))
  }
  assert.equal(await rows.objectOf(sha256), first.at(0).object)
  assert.deepEqual(await rows.removed(), [second.at(0).object])
  await db.transaction().execute((trx) => blobs.release(trx, sha256))
  assert.deepEqual((await rows.removed()).sort(), [...paper.objects.keys()].sort())
})

test('lists more objects and unfinished uploads than an answer of the store has', async (t) => {
  const { blobs, paper } = await openTestBucket(t)
  const modified = new Date('2026-03-20T00:00:00.000Z')
  const keys = Array.from({ length: 2345 }, () => `of/cambista/2026/03/20/${randomUUID()}-0`)
  for (const key of keys) paper.objects.set(key, { bytes: Buffer.from('x'), modified })
  for (const key of keys.slice(0, 1100)) {
    paper.uploads.set(randomUUID(), { key, initiated: modified, parts: new Map() })
  }
  assert.deepEqual(await Array.fromAsync(blobs.list()), keys.sort())
  assert.deepEqual(await blobs.writtenAt(String(keys[7])), modified)
  assert.equal(await blobs.removeUnfinished(modified), 0)
  assert.equal(await blobs.removeUnfinished(new Date(modified.getTime() + 1)), 1100)
  assert.equal(paper.uploads.size, 0)
})

test('leaves alone what is not ours in the bucket', async (t) => {
  const { blobs, paper } = await openTestBucket(t)
  const [modified, parts] = [new Date('2020-01-01T00:00:00.000Z'), new Map()]
  const others = ['README', 'of/cambista/README', 'of/cambista-2/2026/03/20/x', 'of/cambista/2026/03/20/x']
  for (const key of others) {
    paper.objects.set(key, { bytes: Buffer.from('theirs'), modified })
    paper.uploads.set(key, { key, initiated: modified, parts })
    await assert.rejects(blobs.remove(key), TypeError)
    await assert.rejects(blobs.writtenAt(key), TypeError)
  }
  assert.deepEqual(await removeOrphans(blobs, { isNamed: () => false }), { temporary: 0, unnamed: 0 })
  assert.deepEqual([paper.objects.size, paper.uploads.size], [others.length, others.length])
})

test('the whole bucket may be ours', async (t) => {
  const { blobs, paper } = await openTestBucket(t, { prefix: '' })
  const batch = await send(blobs, [Buffer.from('one')])
  assert.match(String(batch.at(0).object), /^2026\/03\/24\//)
  assert.deepEqual(await Array.fromAsync(blobs.list()), [...paper.objects.keys()])
})
