// Contract suite of engines: stored values, atomic transactions, consistent snapshots, rising ids, exclusive
// locks. An engine runs it with a line `testEngine(…)`.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { insertCompany, selectCompanies } from '../../src/store/directory/companies.ts'
import { atomically, type Engine, engineSql, snapshot } from '../../src/store/engine.ts'
import { raiseRevision, selectMeta } from '../../src/store/meta.ts'
import { testRates } from './engine-rates.ts'

/** Opens two nodes over one new database, which are closed when the test ends. */
export type OpenNodes = (t: TestContext) => Promise<readonly [Engine, Engine]>

const CREATED = '2026-03-24T12:00:00.000Z'
const TEXTS = [
  '',
  'B',
  'a',
  'b',
  'ñandú',
  '💱',
  'o\'clock \\ " % _ $1 ?',
  'e\u0301',
  '\u00e9',
  'x'.repeat(100_000),
]

export function testEngine(name: string, open: OpenNodes): void {
  testRates(name, open)

  test(`${name}: it is ready, and its nodes have the same time`, async (t) => {
    const [one, other] = await open(t)
    assert.deepEqual([await one.isReady(), await other.isReady()], [true, true])
    assert.ok(Math.abs(one.clock().getTime() - other.clock().getTime()) < 60_000)
  })

  test(`${name}: texts, numbers and nulls are returned as they were stored`, async (t) => {
    const [{ db }, { reads, longReads }] = await open(t)
    const quotas = [0, 1, 2 ** 31, 2 ** 53 - 1, null]
    for (const [at, text] of TEXTS.entries()) {
      const quota = quotas[at % quotas.length] ?? null
      await insertCompany(db, { name: text, code: `code ${at}`, quota, createdAt: CREATED })
    }
    for (const queries of [db, reads, longReads]) {
      const companies = await selectCompanies(queries)
      assert.deepEqual(
        companies.map(({ name }) => name),
        TEXTS,
      )
      assert.deepEqual(
        companies.map(({ quota }) => quota),
        TEXTS.map((_, at) => quotas[at % quotas.length]),
      )
      assert.ok(companies.every(({ id, used, created_at }) => id > 0 && used === 0 && created_at === CREATED))
    }
  })

  test(`${name}: counts and sums are numbers, large ones too`, async (t) => {
    const [{ db }] = await open(t)
    for (const code of ['a', 'b'])
      await insertCompany(db, { name: code, code, quota: 2 ** 51, createdAt: CREATED })
    const row = await db
      .selectFrom('companies')
      .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number>('quota').as('sum')])
      .executeTakeFirstOrThrow()
    assert.deepEqual({ ...row }, { count: 2, sum: 2 ** 52 })
  })

  test(`${name}: texts are ordered by their bytes`, async (t) => {
    const [{ db }] = await open(t)
    for (const code of ['a', 'B', '_', 'b', 'A', '1', '-'])
      await insertCompany(db, { name: '', code, createdAt: CREATED })
    const rows = await db.selectFrom('companies').select('code').orderBy('code').execute()
    assert.equal(rows.map(({ code }) => code).join(''), '-1AB_ab')
  })

  test(`${name}: a failed transaction leaves nothing, and its error is the caller's`, async (t) => {
    const [{ db }, other] = await open(t)
    const failure = new Error('no')
    const failing = atomically(db, async (trx) => {
      await insertCompany(trx, { name: 'a', code: 'a', createdAt: CREATED })
      throw failure
    })
    await assert.rejects(failing, (error) => error === failure)
    assert.deepEqual(await selectCompanies(other.db), [])
    await atomically(db, (trx) => insertCompany(trx, { name: 'a', code: 'a', createdAt: CREATED }))
    assert.equal((await selectCompanies(other.db)).length, 1)
  })

  test(`${name}: a row that breaks a constraint is rejected, and the connection continues`, async (t) => {
    const [{ db }] = await open(t)
    await insertCompany(db, { name: 'a', code: 'same', createdAt: CREATED })
    await assert.rejects(insertCompany(db, { name: 'b', code: 'same', createdAt: CREATED }))
    const orphan = db
      .insertInto('owners')
      .values({ name: 'x', company_id: 99, created_at: CREATED })
      .execute()
    await assert.rejects(orphan)
    assert.equal((await selectCompanies(db)).length, 1)
  })

  test(`${name}: concurrent transactions of two nodes both count`, async (t) => {
    const nodes = await open(t)
    const { revision } = await selectMeta(nodes[0].db)
    const raise = (at: number) => atomically((nodes[at % 2] as Engine).db, raiseRevision)
    const raised = await Promise.all(Array.from({ length: 40 }, (_, at) => raise(at)))
    assert.deepEqual(
      raised.toSorted((one, other) => one - other),
      raised.map((_, at) => revision + at + 1),
    )
    assert.equal((await selectMeta(nodes[0].db)).revision, revision + 40)
  })

  test(`${name}: a snapshot has the state of one moment, without later commits`, async (t) => {
    const [{ longReads }, other] = await open(t)
    const [before, after] = await snapshot(longReads, async (trx) => {
      const before = await selectMeta(trx)
      await atomically(other.db, raiseRevision)
      return [before, await selectMeta(trx)]
    })
    assert.deepEqual(after, before)
    assert.equal((await selectMeta(longReads)).revision, before.revision + 1)
  })

  test(`${name}: change counters change after a commit of another node, and else stay`, async (t) => {
    const [one, other] = await open(t)
    const before = await one.poll()
    assert.deepEqual(await one.poll(), before)
    await atomically(other.db, raiseRevision)
    const after = await one.poll()
    assert.notEqual(after.data, before.data)
    assert.deepEqual(await one.poll(), after)
  })

  test(`${name}: the lock of a sync belongs to one node, and is free after its release`, async (t) => {
    const [one, other] = await open(t)
    const lock = await one.takeLock('sync')
    assert.ok(lock)
    assert.equal(await other.takeLock('sync'), undefined)
    assert.match(String(await other.findHolder('sync')), /^on \S/)
    await atomically(one.db, raiseRevision, lock)
    assert.equal(lock.lost.aborted, false)
    await lock.release()
    const next = await other.takeLock('sync')
    assert.ok(next)
    await atomically(other.db, raiseRevision, next)
    await next.release()
  })

  test(`${name}: an id of the caller's is stored, and the next one is greater`, async (t) => {
    const [{ db }, other] = await open(t)
    await insertCompany(db, { id: 900, name: 'a', code: 'a', createdAt: CREATED })
    assert.equal((await insertCompany(other.db, { name: 'b', code: 'b', createdAt: CREATED })).id, 901)
    await insertCompany(db, { id: 5, name: 'c', code: 'c', createdAt: CREATED })
    assert.equal((await insertCompany(other.db, { name: 'd', code: 'd', createdAt: CREATED })).id, 902)
  })

  test(`${name}: allocated ids rise and are unique`, async (t) => {
    const [one, other] = await open(t)
    const allocations = await Promise.all(
      [one, other, one].map(({ db }) => engineSql(db).allocateIds(db, 50)),
    )
    for (const some of allocations)
      assert.deepEqual(
        some,
        some?.toSorted((a, b) => a - b),
      )
    const all = allocations.flatMap((some) => some ?? [])
    assert.equal(new Set(all).size, all.length)
    assert.ok(all.length === 0 || all.length === 150)
  })

  test(`${name}: a transaction has its engine's dialect`, async (t) => {
    const [{ db }] = await open(t)
    await atomically(db, async (trx) => assert.equal(engineSql(trx), engineSql(db)))
  })
}
