// Damage of stored rates: digits that became other digits. A sync repairs them without a correction of the bank.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Engine } from '../../../src/store/engine.ts'
import { listDamagedParts } from '../../../src/store/rates/rate-sums.ts'
import { fetchAnswer, startMemoryApp } from '../../support/rates/memory-app.ts'
import { temporaryEngine } from '../../support/temporary.ts'

const DAMAGED = '2026-02-10'

/** Changes a digit as a disk would: no revision, no sum. */
async function damage({ db }: Engine, value = '590'): Promise<void> {
  await db
    .updateTable('rates')
    .set({ value })
    .where('series_id', '=', 1)
    .where('rate_date', '=', DAMAGED)
    .execute()
}

async function openApp(t: Parameters<typeof startMemoryApp>[0]) {
  const app = await startMemoryApp(t, { backfillFrom: '2025-12-01' })
  await app.sync()
  const engine = { ...(await temporaryEngine(t, app.dataDir)), clock: app.clock.read }
  const faults = () => listDamagedParts(engine.db, 1)
  assert.deepEqual(await faults(), [])
  return { app, engine, faults }
}

test('a sync of a whole damaged year repairs its values, and writes its sums anew', async (t) => {
  const { app, engine, faults } = await openApp(t)
  const before = '2026-03-24T12:30:00Z'
  const storedRows = await engine.db
    .selectFrom('rates')
    .selectAll()
    .orderBy('series_id')
    .orderBy('rate_date')
    .execute()
  const answer = await fetchAnswer(app, `/series/1/history?from=${DAMAGED}&to=${DAMAGED}`)
  await damage(engine)
  assert.deepEqual(await faults(), ['2026'])

  app.clock.now = new Date('2026-03-24T13:00:00Z')
  await app.sync({ from: '2026-02-01', to: '2026-02-20' })
  const revisions = await engine.db.selectFrom('rate_revisions').selectAll().execute()
  assert.deepEqual(
    revisions.map(({ kind, old_value, new_value }) => [kind, old_value, new_value]),
    [['repaired', '590', '500']],
  )
  assert.deepEqual(
    await engine.db.selectFrom('rates').selectAll().orderBy('series_id').orderBy('rate_date').execute(),
    storedRows,
  )
  assert.deepEqual(await fetchAnswer(app, '/revisions'), { revisions: [], next_after: 0, has_more: false })
  const past = `/series/1/history?from=${DAMAGED}&to=${DAMAGED}&as_of=${before}`
  const pastPoints = async () => ((await fetchAnswer(app, past)) as { points: unknown }).points
  assert.deepEqual(await pastPoints(), [])
  assert.equal((await faults()).length, 1, 'some of its days were not read again')

  await damage(engine, '5000')
  await app.sync({ from: '2026-01-01', to: '2026-03-25' })
  assert.deepEqual(await faults(), [])
  assert.deepEqual(
    await engine.db.selectFrom('rates').selectAll().orderBy('series_id').orderBy('rate_date').execute(),
    storedRows,
  )
  assert.deepEqual(await pastPoints(), (answer as { points: unknown }).points)
  const kinds = await engine.db.selectFrom('rate_revisions').select('kind').execute()
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['repaired', 'repaired'],
  )
})

test('a value that differs in a whole year is a correction of the bank', async (t) => {
  const { app, engine, faults } = await openApp(t)
  app.memory.publish['317'] = (day) => (day === DAMAGED ? '501' : '500')
  await app.sync({ from: '2026-02-01', to: '2026-02-20' })
  const kinds = await engine.db.selectFrom('rate_revisions').select('kind').execute()
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['correction'],
  )
  assert.deepEqual(await faults(), [])
})

test('a damaged year stays damaged when a source rounds: its answer confirms no exact value', async (t) => {
  const { app, engine, faults } = await openApp(t)
  await damage(engine, '500.4')
  app.takeToken(0)
  await app.sync({ from: '2026-01-01', to: '2026-03-25' })
  assert.deepEqual(await faults(), ['2026'])
  app.giveToken()
  await app.sync({ from: '2026-01-01', to: '2026-03-25' })
  assert.deepEqual(await faults(), [])
})

test('a damaged year of a source that fails stays damaged', async (t) => {
  const { app, engine, faults } = await openApp(t)
  await damage(engine)
  app.memory.fault = ({ indicator }) => {
    if (indicator === '317') throw new Error('the bank is closed')
    return undefined
  }
  await app.sync({ from: '2026-01-01', to: '2026-03-25' })
  assert.deepEqual(await faults(), ['2026'])
})

for (const value of ['44x.84', '', '5000', '50', '500.0']) {
  test(`the damaged value ${JSON.stringify(value)} is repaired: it withholds none, and fails no run`, async (t) => {
    const { app, engine, faults } = await openApp(t)
    await damage(engine, value)
    const { run } = await app.sync({ from: '2026-01-01', to: '2026-03-25' })
    assert.deepEqual([run.status, run.updated], ['ok', 1], run.message ?? '')
    assert.deepEqual(await faults(), [])
    const kinds = await engine.db.selectFrom('rate_revisions').select('kind').execute()
    assert.deepEqual(kinds, [{ kind: 'repaired' }])
    const answer = await fetchAnswer(app, `/rates/latest?on=${DAMAGED}`)
    assert.equal((answer as { compra: string }).compra, '500')
  })
}

test('a rounding source repairs a value that is no decimal', async (t) => {
  const { app, engine } = await openApp(t)
  await damage(engine, '5x')
  app.takeToken(0)
  const { run } = await app.sync({ from: '2026-01-01', to: '2026-03-25' })
  assert.equal(run.status, 'ok', run.message ?? '')
  const row = await engine.db
    .selectFrom('rates')
    .select(['value', 'rounded_to'])
    .where('rate_date', '=', DAMAGED)
    .where('series_id', '=', 1)
    .executeTakeFirst()
  assert.deepEqual(row, { value: '500', rounded_to: 0 })
})

test('a year with a stored value after the read days stays damaged', async (t) => {
  const { app, engine, faults } = await openApp(t)
  await engine.db
    .updateTable('rates')
    .set({ value: '590' })
    .where('series_id', '=', 1)
    .where('rate_date', '=', '2026-03-25')
    .execute()
  await app.sync({ from: '2026-01-01', to: '2026-03-24' })
  assert.deepEqual(await faults(), ['2026'])
  await app.sync({ from: '2026-01-01', to: '2026-03-25' })
  assert.deepEqual(await faults(), [])
})

test('a year whose rows are lost is whole again after one run', async (t) => {
  const { app, engine, faults } = await openApp(t)
  const rows = engine.db.deleteFrom('rates').where('series_id', '=', 1).where('rate_date', '>=', '2026-01-01')
  await rows.execute()
  assert.equal((await faults()).length, 1)
  await app.sync({ from: '2026-01-01', to: '2026-03-25' })
  assert.deepEqual(await faults(), [])
})

test('a damaged rounding is confirmed by no source of other decimals', async (t) => {
  const { app, engine, faults } = await openApp(t)
  await engine.db
    .updateTable('rates')
    .set({ rounded_to: 3 })
    .where('series_id', '=', 1)
    .where('rate_date', '=', DAMAGED)
    .execute()
  app.takeToken(0)
  await app.sync({ from: '2026-01-01', to: '2026-03-25' })
  assert.equal((await faults()).length, 1)
  app.giveToken()
  await app.sync({ from: '2026-01-01', to: '2026-03-25' })
  assert.deepEqual(await faults(), [])
})
