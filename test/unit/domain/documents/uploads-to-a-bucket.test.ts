// Documents whose contents are objects of a bucket: which of them rows name, and which wait to be removed.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { collectGarbage } from '../../../../src/domain/documents/gc.ts'
import { removeDocuments } from '../../../../src/domain/documents/removal.ts'
import { storeBatch } from '../../../../src/domain/documents/uploads/store.ts'
import { createUploadedFiles } from '../../../../src/domain/documents/uploads/uploaded-files.ts'
import { AppError } from '../../../../src/runtime/errors.ts'
import { createMemoryBudget } from '../../../../src/runtime/memory-budget.ts'
import type { Blobs } from '../../../../src/store/blobs/blobs.ts'
import { updateAgentActive } from '../../../../src/store/directory/agents.ts'
import { findObject } from '../../../../src/store/documents/blob-rows.ts'
import { selectDocuments } from '../../../../src/store/documents/documents.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { openTestBucket } from '../../../support/bucket/open.ts'
import { AGENT, ANA, COMPANY, makeDirectory, OWNER } from '../../../support/company.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const AT = '2026-03-24T12:00:00.000Z'
const hashText = (text: string) => createHash('sha256').update(text).digest('hex')

async function ground(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  return openTestBucket(t, {}, dataDir)
}

/** Sends a document for each text, as one upload; `meanwhile` happens while the contents are stored. */
async function upload(
  db: WriteDb,
  blobs: Blobs,
  texts: string[],
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<void> {
  using memory = createMemoryBudget({ each: 2 ** 20, all: 2 ** 20 }).open()
  const files = createUploadedFiles(memory)
  const staged = blobs.beginBatch(memory)
  const commit = staged.commit.bind(staged)
  staged.commit = async () => void (await Promise.all([commit(), meanwhile()]))
  for (const text of texts) {
    const writer = staged.begin()
    await writer.write(Buffer.from(text))
    files.add({ name: 'nota.txt', mimetype: 'text/plain', blob: await writer.keep() })
  }
  const batch = { companyId: COMPANY, agentId: AGENT, ownerId: OWNER, files, blobs: staged }
  try {
    await storeBatch({ db, blobs }, batch, { at: AT, tokenId: null }, undefined)
  } finally {
    await staged.discard()
  }
}

async function readText(blobs: Blobs, text: string): Promise<string | undefined> {
  const blob = await blobs.read(hashText(text))
  return blob && (await Array.fromAsync(blob.chunks(), String)).join('')
}

test('an object of each content is named, until its last document is deleted', async (t) => {
  const { db, blobs, fakeBucket, removed } = await ground(t)
  await upload(db, blobs, ['one', 'two', 'one'])
  await upload(db, blobs, ['one'])
  assert.equal(fakeBucket.objects.size, 3)
  assert.equal((await removed()).length, 1, 'that of the second upload')
  const documents = await selectDocuments(db, { limit: 10 })
  const ones = documents.filter(({ sha256 }) => sha256 === hashText('one'))
  await removeDocuments(db, blobs, ones.slice(0, 2), ANA, () => {})
  assert.equal(await readText(blobs, 'one'), 'one')
  const result = await removeDocuments(db, blobs, ones.slice(2), ANA, () => {})
  assert.deepEqual(result, { documents: 1, blobs: 1, bytes: 3 })
  assert.equal(await readText(blobs, 'one'), undefined)
  assert.equal(await readText(blobs, 'two'), 'two')
  assert.equal(fakeBucket.objects.size, 3, 'objects go later')
  assert.equal((await removed()).length, 2)
  await upload(db, blobs, ['one'])
  assert.equal(await readText(blobs, 'one'), 'one')
})

test('a blob of an upload without rows is an orphan, and is deleted when it is old', async (t) => {
  const { db, blobs, fakeBucket, removed } = await ground(t)
  await upload(db, blobs, ['kept'])
  const isRefused = (error: unknown) => error instanceof AppError
  await assert.rejects(
    upload(db, blobs, ['one', 'two'], () => updateAgentActive(db, AGENT, false)),
    isRefused,
  )
  assert.deepEqual([fakeBucket.objects.size, await readText(blobs, 'one')], [3, undefined])
  const objectName = await findObject(db, hashText('kept'))
  const collect = (days: number) => {
    const clock = () => new Date(Date.now() + days * 86_400_000)
    return collectGarbage({ db, clock, blobs, keepRemovedDays: 0 }, undefined, new AbortController().signal)
  }
  assert.equal((await collect(0)).unnamed, 0)
  assert.deepEqual(await removed(), [])
  assert.equal((await collect(2)).unnamed, 2)
  assert.deepEqual([...fakeBucket.objects.keys()], [objectName])
})

test('an upload names its own object, for an equal one that is stored may be missing or altered', async (t) => {
  const { db, blobs, fakeBucket, removed } = await ground(t)
  await upload(db, blobs, ['one', 'two'])
  const before: string[] = []
  for (const text of ['one', 'two']) before.push(String(await findObject(db, hashText(text))))
  const [missing = '', altered = ''] = before
  fakeBucket.objects.delete(missing)
  fakeBucket.objects.get(altered)?.bytes.write('x')
  await upload(db, blobs, ['two', 'one', 'three'])
  assert.equal(await readText(blobs, 'one'), 'one')
  assert.equal(await readText(blobs, 'two'), 'two')
  assert.deepEqual((await removed()).sort(), before.sort(), 'readers have them for days')
})

test('the object of a lost content is replaced by the next upload of the same bytes', async (t) => {
  const { db, blobs, fakeBucket, removed } = await ground(t)
  await upload(db, blobs, ['lost'])
  const sha256 = hashText('lost')
  const before = String(await findObject(db, sha256))
  fakeBucket.objects.delete(before)
  await db.insertInto('lost_contents').values({ sha256, fault: 'is missing', since: AT }).execute()
  await upload(db, blobs, ['lost'])
  assert.equal(await readText(blobs, 'lost'), 'lost')
  assert.notEqual(await findObject(db, sha256), before)
  assert.deepEqual(await removed(), [before])
  assert.deepEqual(await db.selectFrom('lost_contents').selectAll().execute(), [])
})
