// Two processes over one database, as nodes are: nothing of what one has in memory is the other's.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createWaiters } from '../../../../src/domain/documents/arrivals.ts'
import { type AcceptedUpload, acceptUpload } from '../../../../src/domain/documents/uploads/accept.ts'
import { createUploadedFiles } from '../../../../src/domain/documents/uploads/uploaded-files.ts'
import { createMemoryBudget } from '../../../../src/runtime/memory-budget.ts'
import { insertToken } from '../../../../src/store/access/tokens.ts'
import { countRows } from '../../../../src/store/rows.ts'
import { AGENT, blobHashes, COMPANY, makeDirectory, OWNER, openTestBlobs } from '../../../support/company.ts'
import { fixedClock, temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

/** `send`: an upload of one document of this text, under a key, to one of two processes. */
async function twoProcesses(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const blobs = await openTestBlobs(dataDir)
  const dbs = [temporaryDatabase(t, dataDir), temporaryDatabase(t, dataDir)] as const
  const facts = { allow: ['documents:POST'], companyId: null, expiresAt: null, createdAt: 'then' }
  const tokenId = await insertToken(dbs[0], { name: 'erp', hash: 'h', ...facts })
  const memory = createMemoryBudget({ each: 2 ** 20, all: 2 ** 20 }).open()
  t.after(() => memory[Symbol.dispose]())
  const clock = fixedClock()
  const send = async (to: 0 | 1, key: string, text: string): Promise<AcceptedUpload> => {
    const staged = blobs.beginBatch(memory)
    const writer = staged.begin()
    await writer.write(Buffer.from(text))
    const files = createUploadedFiles(memory)
    files.add({ name: 'a', mimetype: 'a/b', blob: await writer.keep() })
    const deps = { db: dbs[to], blobs, clock: clock.read, waiters: createWaiters(), wakeHooks: () => {} }
    const documents = { total: 1, faults: [], faulty: 0, valid: { files, blobs: staged } }
    const upload = { owner_id: OWNER, company_id: COMPANY, agent_id: AGENT, documents }
    const access = { companyId: null, agentId: null }
    // A rejected upload leaves its file open, as for the endpoint, which discards it.
    return acceptUpload(deps, upload, {
      tokenId,
      access,
      key: { value: key, inProgress: 'in progress', otherBody: 'Idempotency-Key was used with another body' },
    }).finally(() => staged.discard())
  }
  return { send, blobs, clock, db: dbs[0] }
}

test('an idempotency key sent to two processes at once is stored once, and both get its answer', async (t) => {
  const { send, blobs, db } = await twoProcesses(t)
  for (let round = 1; round <= 20; round++) {
    const key = `key ${round}`
    const [one, other] = await Promise.all([send(0, key, 'the same'), send(1, key, 'the same')])
    assert.deepEqual(one.runs, other.runs)
    assert.deepEqual([one.isRepeated, other.isRepeated].sort(), [false, true])
    assert.equal(await countRows(db, 'documents'), round)
  }
  assert.equal((await blobHashes(blobs)).length, 1)
})

test('two different uploads under one idempotency key at once are one document and one conflict', async (t) => {
  const { send, blobs, db } = await twoProcesses(t)
  const ends = await Promise.allSettled([send(0, 'key', 'one'), send(1, 'key', 'other')])
  const refused = ends.filter((end) => end.status === 'rejected')
  assert.deepEqual(
    refused.map(({ reason }) => reason.message),
    ['Idempotency-Key was used with another body'],
  )
  assert.equal(await countRows(db, 'documents'), 1)
  assert.equal((await blobHashes(blobs)).length, 1)
})

test('a day later the key is free again, though its answer is still there', async (t) => {
  const { send, db, clock } = await twoProcesses(t)
  const first = await send(0, 'key', 'one')
  clock.now = new Date(clock.now.getTime() + 24 * 3_600_000 + 1)
  const later = await send(1, 'key', 'other')
  assert.equal(later.isRepeated, false)
  assert.notDeepEqual(later.runs, first.runs)
  assert.equal(await countRows(db, 'documents'), 2)
})
