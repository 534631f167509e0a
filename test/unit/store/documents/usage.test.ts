import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { insertToken } from '../../../../src/store/access/tokens.ts'
import { deleteDocuments, selectDocuments } from '../../../../src/store/documents/documents.ts'
import {
  correctSum,
  findCompanyUsage,
  findTokenUsage,
  selectWrongSums,
} from '../../../../src/store/documents/usage.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { COMPANY, makeDirectory, openTestBlobs, storeTexts } from '../../../support/company.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

/** A company and two tokens, erp (1) and movil (2). */
async function ground(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  for (const name of ['erp', 'movil']) await tokenNamed(db, name)
  const blobs = await openTestBlobs(dataDir)
  const keep = (texts: string[], createdBy?: number) =>
    storeTexts(db, blobs, texts, createdBy === undefined ? {} : { createdBy })
  return { db, keep }
}

function tokenNamed(db: WriteDb, name: string, quota?: number): Promise<number> {
  const facts = { allow: ['documents:POST'], companyId: null, expiresAt: null, createdAt: 'then' }
  return insertToken(db, { name, hash: `${name} ${quota}`, ...facts, quota: quota ?? null })
}

const usedByTokens = async (db: WriteDb, ids: readonly number[]) =>
  Promise.all(ids.map(async (id) => (await findTokenUsage(db, id))?.used))

test('the sums follow inserted and deleted documents, of known and unknown tokens', async (t) => {
  const { db, keep } = await ground(t)
  await keep(['1', '22'])
  await keep(['333', '333'], 1)
  await keep(['4444'], 2)
  assert.deepEqual(await findCompanyUsage(db, COMPANY), { quota: null, used: 13 })
  assert.deepEqual(await usedByTokens(db, [1, 2]), [6, 4])
  const rows = await selectDocuments(db, { limit: 10 })
  await deleteDocuments(db, rows.slice(1, 5))
  assert.deepEqual(await findCompanyUsage(db, COMPANY), { quota: null, used: 1 })
  assert.deepEqual(await usedByTokens(db, [1, 2]), [0, 0])
  await deleteDocuments(db, rows)
  assert.equal((await findCompanyUsage(db, COMPANY))?.used, 0)
  assert.deepEqual(await selectWrongSums(db), [])
})

test('tokens of one name share their usage, each with its own quota', async (t) => {
  const { db, keep } = await ground(t)
  await keep(['22'], 1)
  await db.updateTable('tokens').set({ revoked_at: 'now' }).where('id', '=', 1).execute()
  const next = await tokenNamed(db, 'erp', 100)
  await keep(['333'], next)
  assert.deepEqual(await findTokenUsage(db, next), { name: 'erp', quota: 100, used: 5 })
  assert.deepEqual(await findTokenUsage(db, 2), { name: 'movil', quota: null, used: 0 })
  assert.equal(await findTokenUsage(db, 99), undefined)
  assert.equal(await findCompanyUsage(db, 99), undefined)
})

test('`selectWrongSums` finds a wrong sum, and `correctSum` corrects it', async (t) => {
  const { db, keep } = await ground(t)
  await keep(['1', '22'])
  await keep(['333'], 1)
  await db.updateTable('companies').set({ used: 5 }).execute()
  await db.updateTable('tokens').set({ used: 9 }).execute()
  const wrong = await selectWrongSums(db)
  assert.deepEqual(wrong, [
    { table: 'companies', id: COMPANY, used: 5, bytes: 6 },
    { table: 'tokens', id: 1, used: 9, bytes: 3 },
    { table: 'tokens', id: 2, used: 9, bytes: 0 },
  ])
  for (const one of wrong) await correctSum(db, one)
  assert.deepEqual(await selectWrongSums(db), [])
})
