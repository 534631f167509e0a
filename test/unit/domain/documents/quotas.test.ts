import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Batch } from '../../../../src/domain/documents/uploads/checks.ts'
import { checkQuotas, selectQuotas, withinQuotas } from '../../../../src/domain/documents/uploads/quotas.ts'
import { storeBatch } from '../../../../src/domain/documents/uploads/store.ts'
import { createUploadedFiles } from '../../../../src/domain/documents/uploads/uploaded-files.ts'
import { createMemoryBudget } from '../../../../src/runtime/memory-budget.ts'
import { insertToken } from '../../../../src/store/access/tokens.ts'
import { addUsed } from '../../../../src/store/documents/usage.ts'
import { countRows } from '../../../../src/store/rows.ts'
import { AGENT, blobHashes, COMPANY, makeDirectory, OWNER, openTestBlobs } from '../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const OVER = { code: 'over-quota', message: /^The quota of 10 bytes of token erp is used up: / }

/** A token of ten bytes, and a way to stage an upload of some. */
async function ground(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  const blobs = await openTestBlobs(dataDir)
  const facts = { allow: ['documents:POST'], companyId: null, expiresAt: null, createdAt: 'then', quota: 10 }
  const tokenId = await insertToken(db, { name: 'erp', hash: 'h', ...facts })
  const account = { companyId: COMPANY, tokenId }
  const memory = createMemoryBudget({ each: 2 ** 20, all: 2 ** 20 }).open()
  t.after(() => memory[Symbol.dispose]())
  const stage = async (text: string): Promise<Batch> => {
    const staged = blobs.beginBatch(memory)
    const writer = staged.begin()
    await writer.write(Buffer.from(text))
    const files = createUploadedFiles(memory)
    files.add({ name: 'a', mimetype: 'a/b', blob: await writer.keep() })
    return { companyId: COMPANY, agentId: AGENT, ownerId: OWNER, files, blobs: staged }
  }
  return { db, blobs, memory, tokenId, account, stage }
}

test('a quota counts another upload that finished during the flush: nothing is stored', async (t) => {
  const { db, blobs, tokenId, account, stage } = await ground(t)
  const batch = await stage('12345')
  const commit = batch.blobs.commit.bind(batch.blobs)
  batch.blobs.commit = async () => {
    await commit()
    assert.equal((await blobHashes(blobs)).length, 1)
    await addUsed(db, [{ ...account, bytes: 6 }])
  }
  const storing = storeBatch({ db, blobs }, batch, { at: 'now', tokenId }, undefined)
  await assert.rejects(storing, OVER)
  assert.deepEqual([await countRows(db, 'documents'), await blobHashes(blobs)], [0, []])
  assert.deepEqual(await selectQuotas(db, account), [{ whose: 'token erp', bytes: 10, used: 6 }])
})

test('an upload over the quota is not flushed', async (t) => {
  const { db, blobs, tokenId, stage } = await ground(t)
  const batch = await stage('12345678901')
  batch.blobs.commit = () => {
    throw new Error('flushed')
  }
  const storing = storeBatch({ db, blobs }, batch, { at: 'now', tokenId }, undefined)
  await assert.rejects(storing, OVER)
  await batch.blobs.discard()
})

test('each document counts, though its content is that of another one', async (t) => {
  const { db, blobs, tokenId, account, stage } = await ground(t)
  const batch = await stage('1234')
  batch.files.add({ name: 'b', mimetype: 'a/b', blob: 0 })
  await storeBatch({ db, blobs }, batch, { at: 'now', tokenId }, undefined)
  assert.deepEqual(await selectQuotas(db, account), [{ whose: 'token erp', bytes: 10, used: 8 }])
  const three = await stage('5')
  for (const name of ['b', 'c']) three.files.add({ name, mimetype: 'a/b', blob: 0 })
  await assert.rejects(storeBatch({ db, blobs }, three, { at: 'now', tokenId }, undefined), OVER)
  await three.blobs.discard()
})

test('the contents of an upload are counted together, without those that were dropped', async (t) => {
  const { blobs, memory } = await ground(t)
  const begin = withinQuotas([{ whose: 'token erp', bytes: 10, used: 2 }], blobs.beginBatch)
  const write = async (batch: ReturnType<typeof begin>, text: string) => {
    const writer = batch.begin()
    await writer.write(Buffer.from(text))
    return writer
  }
  const first = begin(memory)
  await (await write(first, '1234')).keep()
  const dropped = await write(first, '5678')
  await dropped.discard()
  await dropped.discard() // counts once
  const last = await write(first, '5678')
  assert.throws(() => last.write(Buffer.from('9')), OVER)
  await first.discard()
  await first.discard()
  await last.discard() // went with its batch
  const second = begin(memory)
  const whole = await write(second, '12345678')
  assert.throws(() => whole.write(Buffer.from('9')), OVER)
  await second.discard()
})

test('the first quota that is exceeded is named, with what is left', () => {
  const quotas = [
    { whose: 'token erp', bytes: 100, used: 0 },
    { whose: 'company 7', bytes: 2048, used: 2000 },
  ]
  checkQuotas(quotas, 48)
  checkQuotas([], Number.MAX_SAFE_INTEGER)
  assert.throws(
    () => checkQuotas(quotas, 49),
    /The quota of 2 KiB of company 7 is used up: .* do not fit in the 48 bytes left/,
  )
  assert.throws(() => checkQuotas(quotas, 101), /of token erp/)
})
