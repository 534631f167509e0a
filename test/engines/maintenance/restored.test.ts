// A database that was restored to an earlier state. Tasks of that time end, no id or epoch is issued twice, and lost
// blobs are recorded.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { renewDatabase } from '../../../src/domain/operations/move/restored.ts'
import { selectLostBlobs } from '../../../src/store/documents/lost-blobs.ts'
import { atomically, type Engine } from '../../../src/store/engine.ts'
import { tablesWithCounters } from '../../../src/store/ids.ts'
import { selectMeta } from '../../../src/store/meta.ts'
import { selectSequences } from '../../../src/store/postgres/maintenance/sequences.ts'
import { selectChangeLogBounds } from '../../../src/store/rates/change-log.ts'
import { insertTestMailbox } from '../../support/mail/mailboxes.ts'
import { openNode } from '../../support/postgres/database.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'

const THEN = Date.parse('2026-03-24T12:00:00.000Z')
const CREATED = { created_at: '2026-03-24T12:00:00.000Z' }
const [KEPT, GONE, KNOWN] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string]

test('a database that was put back is another one from then on', async (t) => {
  const { node, url } = await putBack(t)
  const before = await selectMeta(node.db)
  const looked = await node.poll()
  const { epoch } = await renew(node, [KEPT])
  assert.notEqual(epoch, before.epoch)
  assert.equal((await selectMeta(node.db)).epoch, epoch)
  const after = await node.poll()
  for (const which of ['data', 'access', 'documents'] as const)
    assert.notEqual(after[which], looked[which], which)
  for (const table of ['login_links', 'page_sessions', 'page_tickets', 'upload_links']) {
    assert.deepEqual(await queryOnce(url, `select * from ${table}`), [], table)
  }
  assert.deepEqual(await queryOnce(url, 'select object from removed_objects'), [{ object: GONE.slice(1) }])
})

test('`renewDatabase` pauses every mailbox', async (t) => {
  const { node, url } = await putBack(t)
  await queryOnce(url, `insert into owners (id, name, created_at) values (3, 'O', 'then')`)
  const parties = { company_id: 7, agent_id: Number.MAX_SAFE_INTEGER - 10, owner_id: 3 }
  await insertTestMailbox(node.db, parties)
  await insertTestMailbox(node.db, { ...parties, name: 'b', paused_at: 'then', pause_reason: 'operator' })
  await renew(node, [KEPT])
  const rows = await node.db
    .selectFrom('mailboxes')
    .select(['paused_at', 'pause_reason'])
    .orderBy('id')
    .execute()
  assert.deepEqual(
    rows.map(({ pause_reason }) => pause_reason),
    ['restore', 'operator'],
  )
  assert.match(rows[0]?.paused_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.equal(rows[1]?.paused_at, 'then')
})

test('ids begin a million above all that may have been given', async (t) => {
  const { node } = await putBack(t)
  const { ids } = await renew(node, [KEPT])
  assert.deepEqual(Object.keys(ids).sort(), tablesWithCounters().sort())
  assert.equal(ids.companies, 1_000_900)
  assert.equal(ids.agents, Number.MAX_SAFE_INTEGER - 5, 'half of what is left')
  assert.equal(ids.documents, 1_000_000)
  const company = await node.db
    .insertInto('companies')
    .values({ name: 'B', code: 'B', ...CREATED })
    .returning('id')
    .executeTakeFirstOrThrow()
  assert.equal(company.id, 1_000_901)
  const rest = (await selectSequences(node.db)).filter(({ table }) => !(table in ids))
  assert.deepEqual(
    rest.map(({ lastId }) => lastId).filter((given) => given > 1000),
    [],
    'providers and series keep theirs',
  )
})

test('the time since the last lease renewal is a gap of the record', async (t) => {
  const { node } = await putBack(t)
  const { gap } = await renew(node, [KEPT])
  assert.ok(gap)
  assert.equal(gap.from, THEN + 50_000 - 15_000, 'when the lease of the scheduler was renewed')
  assert.ok(Math.abs(gap.to - Date.now()) < 600_000)
  assert.deepEqual((await selectChangeLogBounds(node.db)).gaps, [gap])
})

test('contents that were not put back are known to be lost, and no others', async (t) => {
  const { node } = await putBack(t)
  const result = await renew(node, [KEPT, 'd'.repeat(64)])
  assert.deepEqual([result.blobCount, result.lost], [3, 2])
  const lostBlobs = await selectLostBlobs(node.db)
  assert.deepEqual(
    lostBlobs.map(({ sha256, fault }) => [sha256, fault]),
    [
      [GONE, 'is missing'],
      [KNOWN, 'was altered'],
    ],
  )
})

test('`renewDatabase` ends earlier leases, and is refused while another process does the same', async (t) => {
  const { node, url } = await putBack(t)
  const lock = await node.takeLock('migrate')
  assert.ok(lock)
  await assert.rejects(renew(node, []), /another process is doing the same/)
  await lock.release()
  const old = await node.takeLock('janitor')
  assert.ok(old)
  await node.db.transaction().execute((trx) => old.check(trx))
  // As if it had been stopped for longer than its lease: it believes that it has it.
  await queryOnce(url, `update leases set expires_at = clock_timestamp() - interval '1 s'`)
  await renew(node, [])
  await assert.rejects(
    atomically(node.db, async () => {}, old),
    /another node has the task janitor/,
  )
})

/** Its rows are of then: leases, ids that were given and taken back, contents. */
async function putBack(t: TestContext): Promise<{ node: Engine; url: string }> {
  const url = await createPostgresSchema()
  const node = await openNode(t, url)
  await queryOnce(
    url,
    `insert into leases (name, holder, fence, taken_at, expires_at) values
       ('scheduler', 'host a, pid 1, x', 3, to_timestamp(${THEN / 1000}), to_timestamp(${THEN / 1000 + 50}));
     insert into companies (id, name, code, created_at) values (7, 'A', 'A', 'then');
     select setval('companies_id_seq', 900);
     insert into agents (id, company_id, name, created_at) values (${Number.MAX_SAFE_INTEGER - 10}, 7, 'A', 'then');
     insert into providers (id, code, name, country) values (1, 'p', 'P', 'CR');
     insert into catalogue_changes (changed_at, kind, provider_id) values (${THEN}, 'added', 1);
     insert into api_keys (id, name, hash, created_at) values (1, 'k', 'h', 'then');
     insert into login_links (hash, key_id, ends_at) values ('${KEPT}', 1, 'then');
     insert into page_sessions (id, page, opened_at, used_at) values ('${KEPT}', 'p', 'then', 'then');
     insert into page_tickets (hash, session_id, ends_at) values ('${KEPT}', '${KEPT}', 'then');
     insert into tokens (id, name, hash, allow, created_at) values (1, 't', 't', '', 'then');
     insert into upload_links values ('${KEPT}', 1, 1, 1, 1, 'n', 'a/b', 1, 'then');
     insert into contents (sha256, size, created_at)
       values ('${KEPT}', 1, 'then'), ('${GONE}', 1, 'then'), ('${KNOWN}', 1, 'then');
     insert into lost_contents (sha256, fault, since) values ('${KNOWN}', 'was altered', 'before');
     insert into removed_objects (object, removed_at) values ('${KEPT}', 'then'), ('${GONE.slice(1)}', 'then')`,
  )
  return { node, url }
}

/** Contents of these names are there. */
function renew(node: Engine, names: readonly string[]) {
  const blobs = {
    async *list() {
      yield* names
    },
    findModifiedTime: async (name: string) => (names.includes(name) ? new Date(0) : undefined),
  }
  return renewDatabase({ db: node.db, clock: node.clock, blobs, lineage: undefined })
}
