import assert from 'node:assert/strict'
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mock, type TestContext, test } from 'node:test'
import { startHousekeeping } from '../../../../src/domain/operations/housekeeping.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { blobPath } from '../../../../src/store/blobs/commit.ts'
import { folderStoreIds, openBlobFolder } from '../../../../src/store/blobs/folder.ts'
import { openStoreId, STORE_ID_NAME } from '../../../../src/store/blobs/store-id.ts'
import { insertEvents, type NewEvent, selectEvents } from '../../../../src/store/documents/events.ts'
import { selectMeta } from '../../../../src/store/meta.ts'
import { selectNewestInstant } from '../../../../src/store/rates/change-log.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../../src/sync/catalogue.ts'
import { AGENT, COMPANY, OWNER } from '../../../support/company.ts'
import { insertTestMailbox } from '../../../support/mail/mailboxes.ts'
import { createMemoryBank } from '../../../support/rates/memory-bank.ts'
import { fixedClock, temporaryDirectory, temporaryEngine } from '../../../support/temporary.ts'
import { until } from '../../../support/terminal.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const CREATED = { created_at: '2026-03-01T00:00:00.000Z' }

function createdEvent(at: string): NewEvent {
  return { at, kind: 'deleted', via: 'cli', actor: 'ana', document_id: 1, company_id: 7, sha256: null }
}

async function eventTimes(db: WriteDb): Promise<string[]> {
  return (await selectEvents(db, { limit: 5000 })).map(({ at }) => at)
}

async function servedBlobs(t: TestContext) {
  return { blobStore: { blobs: await openBlobFolder(temporaryDirectory(t)) }, keepRemovedDays: 8 }
}

function quiet() {
  const logged: string[] = []
  return { logged, log: createLog({ level: 'info', format: 'text', write: (text) => logged.push(text) }) }
}

/** Makes an hour pass by `passHours` alone. */
function mockHours(t: TestContext) {
  mock.timers.enable({ apis: ['setInterval'] })
  t.after(() => mock.timers.reset())
}
const passHours = (hours = 1) => mock.timers.tick(hours * HOUR_MS)

test('housekeeping deletes nothing that is old at its start, nor in an hour in which the clock was set', async (t) => {
  mockHours(t)
  const engine = await temporaryEngine(t)
  const { db } = engine
  const clock = fixedClock()
  const ahead = new Date(clock.now.getTime() + 3 * 365 * DAY_MS)
  const real = clock.now
  const event = createdEvent('2026-03-24T11:00:00.000Z')
  await insertEvents(db, [event, createdEvent('2020-01-01T00:00:00.000Z')])
  clock.now = ahead
  const { log } = quiet()
  const days = { keepEvents: 730, ...(await servedBlobs(t)) }
  const start = () => startHousekeeping({ ...engine, clock: clock.read, log, ...days })
  const first = start()
  first.tidy()
  await first.idle()
  clock.now = real
  passHours()
  await first.idle()
  await first.close()
  assert.equal((await eventTimes(db)).length, 2)
  const second = start()
  t.after(() => second.close())
  for (const time of [ahead, real]) {
    await second.idle()
    clock.now = time
    passHours()
  }
  await second.idle()
  assert.equal((await eventTimes(db)).length, 2)
  passHours()
  await second.idle()
  assert.deepEqual(await eventTimes(db), [event.at])
})

test('housekeeping removes expired events an hour after the start and logs it', async (t) => {
  mockHours(t)
  const engine = await temporaryEngine(t)
  const { db } = engine
  const { logged, log } = quiet()
  const old = Array.from({ length: 1200 }, () => createdEvent('2024-03-24T11:59:59.999Z'))
  await insertEvents(db, [
    ...old,
    createdEvent('2024-03-24T12:00:00.000Z'),
    createdEvent('2026-03-24T12:00:00.000Z'),
  ])
  const housekeeping = startHousekeeping({
    ...engine,
    clock: fixedClock().read,
    log,
    keepEvents: 730,
    ...(await servedBlobs(t)),
  })
  t.after(() => housekeeping.close())
  passHours()
  await until(async () => (await eventTimes(db)).length === 2)
  assert.deepEqual(await eventTimes(db), ['2024-03-24T12:00:00.000Z', '2026-03-24T12:00:00.000Z'])
  await until(() => logged.length > 0)
  assert.match(logged.join(''), /info +old events removed events=1200 before=2024-03-24T12:00:00.000Z\n$/)
})

test('housekeeping removes events within a day after they expire, also after a failure', async (t) => {
  mockHours(t)
  const engine = await temporaryEngine(t)
  const { db } = engine
  const clock = fixedClock()
  const { logged, log } = quiet()
  await insertEvents(db, [createdEvent('2026-03-24T11:00:00.000Z')])
  const housekeeping = startHousekeeping({
    ...engine,
    clock: clock.read,
    log,
    keepEvents: 1,
    ...(await servedBlobs(t)),
  })
  t.after(() => housekeeping.close())
  await housekeeping.idle()
  assert.equal((await eventTimes(db)).length, 1)
  await db.schema.alterTable('events').renameTo('elsewhere').execute()
  mock.timers.tick(DAY_MS)
  await until(() =>
    logged.some((line) => / warn +housekeeping failed: tried again in an hour reason=.*events/.test(line)),
  )
  await housekeeping.idle()
  await db.schema.alterTable('elsewhere').renameTo('events').execute()
  clock.now = new Date(clock.now.getTime() + DAY_MS)
  mock.timers.tick(DAY_MS)
  await until(async () => (await eventTimes(db)).length === 0)
})

test('housekeeping stops between two batches when it is closed', async (t) => {
  mockHours(t)
  const engine = await temporaryEngine(t)
  const { db } = engine
  await insertEvents(
    db,
    Array.from({ length: 3000 }, () => createdEvent('2000-01-01T00:00:00.000Z')),
  )
  const housekeeping = startHousekeeping({
    ...engine,
    clock: fixedClock().read,
    log: quiet().log,
    keepEvents: 1,
    ...(await servedBlobs(t)),
  })
  passHours()
  await housekeeping.close()
  const rest = (await eventTimes(db)).length
  assert.ok(rest > 0 && rest % 500 === 0, `${rest} are left`)
})

test('housekeeping forgets mails 400 days after a round last saw them', async (t) => {
  mockHours(t)
  const engine = await temporaryEngine(t)
  const { db } = engine
  await db
    .insertInto('companies')
    .values({ id: COMPANY, name: 'A', code: 'A', ...CREATED })
    .execute()
  await db
    .insertInto('owners')
    .values({ id: OWNER, name: 'A', ...CREATED })
    .execute()
  await db
    .insertInto('agents')
    .values({ id: AGENT, company_id: COMPANY, name: 'A', ...CREATED })
    .execute()
  const mailbox_id = await insertTestMailbox(db)
  const instants = ['2025-02-17T11:59:59.999Z', '2025-02-17T12:00:00.000Z']
  const rows = instants.map((last_seen_at, at) => ({
    ...{ key: String(at).repeat(64), mailbox_id, uidvalidity: 1, uid: at, taken_uid: at, last_seen_at },
    taken_at: '2020-01-01T00:00:00.000Z',
  }))
  await db.insertInto('mail_messages').values(rows).execute()
  const days = { keepEvents: 1, ...(await servedBlobs(t)) }
  const housekeeping = startHousekeeping({ ...engine, clock: fixedClock().read, log: quiet().log, ...days })
  t.after(() => housekeeping.close())
  passHours()
  const uids = async () =>
    (await db.selectFrom('mail_messages').select('uid').execute()).map(({ uid }) => uid)
  await until(async () => (await uids()).length < 2)
  assert.deepEqual(await uids(), [1])
})

test('housekeeping removes expired idempotency keys alone', async (t) => {
  mockHours(t)
  const engine = await temporaryEngine(t)
  const { db } = engine
  const token = { name: 'erp', hash: 'a'.repeat(64), allow: '', created_at: '2026-03-01T00:00:00.000Z' }
  await db.insertInto('tokens').values(token).execute()
  const answers = ['2026-03-23T11:59:59.999Z', '2026-03-23T12:00:00.000Z'].flatMap((created_at, at) =>
    Array.from({ length: 600 }, (_, number) => ({
      ...{ token_id: 1, key: `${at} ${number}`, fingerprint: 'b'.repeat(64), answer: '[]', created_at },
    })),
  )
  for (const some of [answers.slice(0, 600), answers.slice(600)]) {
    await db.insertInto('idempotency').values(some).execute()
  }
  const days = { keepEvents: 1, ...(await servedBlobs(t)) }
  const housekeeping = startHousekeeping({ ...engine, clock: fixedClock().read, log: quiet().log, ...days })
  t.after(() => housekeeping.close())
  passHours()
  const loadAnswers = () => db.selectFrom('idempotency').select('created_at').execute()
  await until(async () => (await loadAnswers()).length === 600)
  assert.ok((await loadAnswers()).every(({ created_at }) => created_at === '2026-03-23T12:00:00.000Z'))
})

test('housekeeping records the newest instant of a database that an earlier version wrote', async (t) => {
  const engine = await temporaryEngine(t)
  const { db } = engine
  const clock = fixedClock()
  await ensureCatalogue(db, [createMemoryBank(clock).provider], clock.read)
  await db
    .insertInto('rates')
    .values({ series_id: 1, rate_date: '2026-03-20', value: '1', rounded_to: null, stored_at: 2e12 })
    .execute()
  await db.updateTable('record_end').set({ revision: 0, recorded_at: 0 }).execute()
  assert.equal(await selectNewestInstant(db), 2e12)
  const { log } = quiet()
  const housekeeping = startHousekeeping({
    ...engine,
    clock: clock.read,
    log,
    keepEvents: 730,
    ...(await servedBlobs(t)),
  })
  t.after(() => housekeeping.close())
  const { revision } = await selectMeta(db)
  await until(async () => {
    const { recorded_at, revision: recorded } = await db
      .selectFrom('record_end')
      .selectAll()
      .executeTakeFirstOrThrow()
    return recorded === revision && recorded_at === 2e12
  })
  assert.equal(await selectNewestInstant(db), 2e12)
})

test('housekeeping sweeps a shared store only if it has just shown the id of the database', async (t) => {
  const engine = await temporaryEngine(t)
  const { db, clock } = engine
  const dir = temporaryDirectory(t)
  const [mark, path] = [join(dir, STORE_ID_NAME), blobPath(dir, 'a'.repeat(64))]
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'of another database')
  utimesSync(path, new Date(0), new Date(0))
  const storeId = openStoreId(db, folderStoreIds(dir))
  const blobs = await openBlobFolder(dir, undefined, { clock, storeId })
  const { logged, log } = quiet()
  const removedObjects = () => db.selectFrom('removed_objects').select('object').execute()
  const sweep = async (own: string | null, shown: string | undefined) => {
    if (shown === undefined) rmSync(mark)
    else writeFileSync(mark, shown)
    await db.updateTable('meta').set({ contents_mark: own, contents_listed_at: null }).execute()
    const housekeeping = startHousekeeping({
      ...{ ...engine, log, keepEvents: 730, keepRemovedDays: 8 },
      blobStore: { blobs, lineage: storeId },
    })
    await until(() => logged.length > 0)
    await housekeeping.close()
    return logged.splice(0).join('')
  }
  assert.match(await sweep('own', 'other'), /housekeeping failed.+another database are here/)
  assert.match(await sweep(null, 'other'), /housekeeping failed.+another database are here/)
  assert.match(await sweep('own', undefined), /housekeeping failed.+not here/)
  assert.deepEqual(await removedObjects(), [])
  assert.match(await sweep('own', 'own'), /contents swept.+unnamed=1/)
  assert.deepEqual(await removedObjects(), [{ object: 'a'.repeat(64) }])
})
