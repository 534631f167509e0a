// Invariants of PostgreSQL alone. A state that a tool of the administrator broke ends the transaction with a named error.
// The others are in test/unit/store/invariants.test.ts.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { allocateDocumentIds, insertDocuments } from '../../src/store/documents/documents.ts'
import { atomically, type Engine } from '../../src/store/engine.ts'
import { renewRows } from '../../src/store/postgres/maintenance/restored.ts'
import { openNode } from '../support/postgres/database.ts'
import { createPostgresSchema, queryOnce } from '../support/postgres/server.ts'

const AT = '2026-03-24T12:00:00.000Z'

test('an upload without the row of `document_order` ends with CounterInvariantError', async (t) => {
  const { node, query } = await openDatabase(t)
  await query('delete from document_order')
  await assert.rejects(upload(node), { name: 'CounterInvariantError' })
})

test('an upload whose document gets another id ends with UploadInvariantError', async (t) => {
  const { node, query } = await openDatabase(t)
  assert.deepEqual(await upload(node), [1])
  await query(
    `create function other_id() returns trigger language plpgsql as 'begin new.id := new.id + 7; return new; end'`,
  )
  await query('create trigger other_id before insert on documents for each row execute function other_id()')
  await assert.rejects(upload(node), { name: 'UploadInvariantError' })
})

test('a renewal without the row of `meta` ends with CounterInvariantError', async (t) => {
  const { node, query } = await openDatabase(t)
  await query('delete from meta')
  const server = { timeline: undefined, serverId: undefined }
  const renewal = atomically(node.db, (trx) => renewRows(trx, { server, generation: 1 }))
  await assert.rejects(renewal, { name: 'CounterInvariantError' })
})

async function openDatabase(t: TestContext) {
  const url = await createPostgresSchema()
  const node = await openNode(t, url)
  const query = (text: string) => queryOnce(url, text)
  for (const table of ['companies', 'owners', 'agents']) {
    const [column, value] = table === 'companies' ? ['code', `'A'`] : ['company_id', '1']
    await query(`insert into ${table} (id, name, ${column}, created_at) values (1, 'A', ${value}, '${AT}')`)
  }
  return { node, query }
}

/** Inserts a document with an allocated id, and returns the stored ids. */
function upload({ db }: Engine): Promise<number[]> {
  return atomically(db, async (trx) => {
    const file = { name: 'a', mimetype: 'text/plain', size: 1, sha256: 'a'.repeat(64), created_at: AT }
    const attachment = trx.insertInto('attachments').values(file).returning('id')
    const { id: attachment_id } = await attachment.executeTakeFirstOrThrow()
    const party = { company_id: 1, agent_id: 1, owner_id: 1 }
    const document = { ...party, attachment_id, name: 'a', created_at: AT }
    const ids = await allocateDocumentIds(trx, 1)
    return insertDocuments(trx, [{ ...document, created_by: null }], ids)
  })
}
