import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  deleteDocuments,
  findDocument,
  isBlobReferenced,
  selectDocuments,
} from '../../../../src/store/documents/documents.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { insertFiles } from '../../../support/documents/insert.ts'
import { temporaryDatabase } from '../../../support/temporary.ts'

const AT = '2026-03-24T12:00:00.000Z'

/** Creates companies 1 and 2, an agent of each with the same id, and an owner. */
async function createParties(t: TestContext): Promise<WriteDb> {
  const db = temporaryDatabase(t)
  await db.insertInto('owners').values({ id: 1, name: 'O', created_at: AT }).execute()
  for (const id of [1, 2]) {
    await db
      .insertInto('companies')
      .values({ id, name: 'C', code: `C${id}`, created_at: AT })
      .execute()
    await db.insertInto('agents').values({ id, company_id: id, name: 'A', created_at: AT }).execute()
  }
  return db
}

function insertBatch(db: WriteDb, company: number, names: string[], createdAt = AT) {
  const files = names.map((name) => ({
    name,
    mimetype: 'text/plain',
    size: name.length,
    sha256: name.padEnd(64, '0'),
  }))
  const batch = { companyId: company, agentId: company, ownerId: 1, createdAt, createdBy: null, files }
  return db.transaction().execute((trx) => insertFiles(trx, batch))
}

test('insertFiles writes documents in the order of the files, each with its own attachment', async (t) => {
  const db = await createParties(t)
  await insertBatch(db, 1, ['a'])
  await db.deleteFrom('documents').execute()
  const names = ['z', 'same', 'same', 'b']
  const rows = await insertBatch(db, 1, names)
  assert.deepEqual(
    rows,
    names.map((name, at) => ({ id: 2 + at, name, attachment_id: 2 + at })),
    'ids are not reused',
  )
  assert.deepEqual(await findDocument(db, 3), {
    id: 3,
    name: 'same',
    mimetype: 'text/plain',
    size: 4,
    sha256: 'same'.padEnd(64, '0'),
    created_at: AT,
    attachment_id: 3,
    agent_id: 1,
    owner_id: 1,
    company_id: 1,
    created_by: null,
    state: 'new',
    attempts: 0,
    finished_at: null,
    note: null,
  })
  assert.equal(await findDocument(db, 1), undefined)
})

test('insertFiles with an unknown company writes no row', async (t) => {
  const db = await createParties(t)
  await assert.rejects(insertBatch(db, 9, ['a']), /foreign key/i)
  assert.deepEqual(await selectDocuments(db, { limit: 10 }), [])
  assert.equal(await isBlobReferenced(db, 'a'.padEnd(64, '0')), false)
})

test('selectDocuments filters by company, agent, state, age and position, in order of ids', async (t) => {
  const db = await createParties(t)
  for (const company of [1, 2, 1, 2])
    await insertBatch(db, company, ['a', 'b'], `2026-03-2${company}T00:00:00.000Z`)
  const cases: [Omit<Parameters<typeof selectDocuments>[1], 'limit'>, number[]][] = [
    [{}, [1, 2, 3, 4, 5, 6, 7, 8]],
    [{ companyId: 2 }, [3, 4, 7, 8]],
    [{ agentId: 1 }, [1, 2, 5, 6]],
    [{ companyId: 1, agentId: 2 }, []],
    [{ state: 'new', agentId: 2 }, [3, 4, 7, 8]],
    [{ state: 'done' }, []],
    [{ after: 3 }, [4, 5, 6, 7, 8]],
    [{ companyId: 2, after: 4 }, [7, 8]],
    [{ createdUpTo: '2026-03-21T00:00:00.000Z' }, [1, 2, 5, 6]],
    [{ createdUpTo: '2026-03-20T23:59:59.999Z' }, []],
    [{ after: 8 }, []],
    [{ order: 'desc' }, [8, 7, 6, 5, 4, 3, 2, 1]],
    [{ order: 'desc', before: 4, agentId: 1 }, [2, 1]],
    [{ companyId: 2, before: 8 }, [3, 4, 7]],
    [{ order: 'desc', before: 1 }, []],
  ]
  for (const [filter, ids] of cases) {
    const rows = await selectDocuments(db, { ...filter, limit: 100 })
    assert.deepEqual(
      rows.map(({ id }) => id),
      ids,
      JSON.stringify(filter),
    )
    const page = await selectDocuments(db, { ...filter, limit: 2 })
    assert.deepEqual(page, rows.slice(0, 2))
  }
})

test('deleteDocuments removes documents with their attachments and returns the ids that existed', async (t) => {
  const db = await createParties(t)
  await insertBatch(db, 1, ['a', 'b', 'b'])
  const rows = await selectDocuments(db, { limit: 10 })
  assert.deepEqual(await deleteDocuments(db, rows.slice(0, 1)), new Set([1]))
  assert.deepEqual(await deleteDocuments(db, rows.slice(0, 2)), new Set([2]))
  assert.equal(await isBlobReferenced(db, 'a'.padEnd(64, '0')), false)
  assert.equal(await isBlobReferenced(db, 'b'.padEnd(64, '0')), true)
})
