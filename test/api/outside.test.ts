// Commits of another process are visible in the running server within one second (decisions#caching). The first two
// tests turn the timer of the polls; test/engines/change-counters.test.ts does it for two nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOfSecret, makeSecret } from '../../src/domain/access/secrets.ts'
import { insertApiKey, revokeApiKey } from '../../src/store/access/api-keys.ts'
import { raiseRevision } from '../../src/store/meta.ts'
import { updateProviderEnabled } from '../../src/store/rates/providers.ts'
import { closeRun, insertRun } from '../../src/store/rates/sync-runs.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { stoppedTimer } from '../support/events/timer.ts'
import { until } from '../support/terminal.ts'
import { asOtherProcess, openApp, send, storeAsOtherProcess } from './support.ts'

const NOW = '2026-03-24T12:00:00.000Z'
const app = await openApp()
await app.sync()

type Latest = { rate_date: string; compra: string | null }
const readCompra = async (day: string, { json }: TestApp = app) =>
  (await json<Latest>(`/api/v1/rates/latest?on=${day}`)).compra
const keyStatus = async (key: string, { app: { url } } = app) =>
  (await send(`${url}/api/v1/providers`, { headers: { 'X-API-Key': key } })).status

test('a corrected value is visible after one second of the timer', async (t) => {
  const timer = stoppedTimer()
  const own = await startTestApp(t, { repeatPoll: timer.repeat })
  await own.sync()
  const before = await readCompra('2026-02-10', own) // a column that is first read later would show the commit
  await storeAsOtherProcess(own, { series: 1, day: '2026-02-10', value: '412.34' })
  assert.equal(await readCompra('2026-02-10', own), before, 'before a poll')
  timer.pass(1000)
  await until(async () => (await readCompra('2026-02-10', own)) === '412.34')
})

test('a revoked key is rejected after one second of the timer', async (t) => {
  const timer = stoppedTimer()
  const own = await startTestApp(t, { repeatPoll: timer.repeat })
  const key = makeSecret('cbk_')
  const id = await asOtherProcess(own, (db) =>
    insertApiKey(db, { name: 'old', hash: hashOfSecret(key), createdAt: NOW }),
  )
  assert.equal(await keyStatus(key, own), 200, 'an unknown secret is looked up at once')
  await asOtherProcess(own, (db) => revokeApiKey(db, id, NOW))
  assert.equal(await keyStatus(key, own), 200, 'before a poll')
  timer.pass(1000)
  await until(async () => (await keyStatus(key, own)) === 401)
})

test('a corrected value is visible in every endpoint that has it', async () => {
  assert.notEqual(await readCompra('2026-02-10'), '412.34')
  await storeAsOtherProcess(app, { series: 1, day: '2026-02-10', value: '412.34' })
  await until(async () => (await readCompra('2026-02-10')) === '412.34')
  const [rate] = await app.json<{ value: string }[]>('/api/v1/rates?on=2026-02-10')
  assert.equal(rate?.value, '412.34')
  const history = await app.json<{ points: { value: string }[] }>(
    '/api/v1/series/1/history?from=2026-02-10&to=2026-02-10',
  )
  assert.equal(history.points[0]?.value, '412.34')
  const conversion = await app.json<{ rate: string }>(
    '/api/v1/convert?amount=1&from=USD&to=CRC&type=compra&on=2026-02-10',
  )
  assert.equal(conversion.rate, '412.34')
})

test('a new day is visible, and so is one older than all others', async () => {
  for (const day of ['2026-03-26', '2026-03-27']) {
    for (const series of [1, 2]) await storeAsOtherProcess(app, { series, day, value: '413' })
  }
  await until(async () => (await readCompra('2026-03-28')) === '413')
  await storeAsOtherProcess(app, { series: 1, day: '1983-01-01', value: '40' })
  const first = async () =>
    (await app.json<{ first_data_date: string }[]>('/api/v1/series'))[0]?.first_data_date
  await until(async () => (await first()) === '1983-01-01')
  assert.equal(await readCompra('1983-01-01'), '40')
  const later = await app.get('/api/v1/rates/latest?on=1999-01-01')
  assert.equal(later.status, 404, 'the days between were never asked for')
})

test('the counts of the status include rows of another process', async () => {
  const rates = async () => (await app.json<{ rates: number }>('/api/v1/health')).rates
  const before = await rates()
  await storeAsOtherProcess(app, { series: 2, day: '1983-01-01', value: '41' })
  await until(async () => (await rates()) === before + 1)
})

test('a new key is accepted and a revoked one rejected', async () => {
  const key = makeSecret('cbk_')
  assert.equal(await keyStatus(key), 401)
  const id = await asOtherProcess(app, (db) =>
    insertApiKey(db, { name: 'new', hash: hashOfSecret(key), createdAt: NOW }),
  )
  await until(async () => (await keyStatus(key)) === 200)
  await asOtherProcess(app, (db) => revokeApiKey(db, id, NOW))
  await until(async () => (await keyStatus(key)) === 401)
})

test('a disabled provider is visible', async () => {
  const enabled = async () => (await app.json<{ enabled: boolean }[]>('/api/v1/providers'))[0]?.enabled
  const set = (to: boolean) =>
    asOtherProcess(app, async (db) => {
      await updateProviderEnabled(db, 'bccr', to, Date.parse(NOW))
      await raiseRevision(db)
    })
  await set(false)
  await until(async () => (await enabled()) === false)
  await set(true)
  await until(async () => (await enabled()) === true)
})

test('a run of another process is visible at once, open and closed', async () => {
  const newest = async () => (await app.json<Record<string, unknown>[]>('/api/v1/sync/runs?limit=1'))[0]
  const health = () => app.json<{ last_sync: string }>('/api/v1/health')
  const before = (await health()).last_sync
  const id = await asOtherProcess(app, (db) =>
    insertRun(db, {
      provider_id: 1,
      trigger: 'cli',
      date_from: '2026-03-01',
      date_to: '2026-03-02',
      started_at: '2026-03-24T13:00:00.000Z',
    }),
  )
  assert.deepEqual(await newest(), {
    id,
    provider_id: 1,
    trigger: 'cli',
    status: 'parcial',
    date_from: '2026-03-01',
    date_to: '2026-03-02',
    inserted: 0,
    updated: 0,
    unchanged: 0,
    message: 'in progress',
    started_at: '2026-03-24T13:00:00.000Z',
    finished_at: null,
  })
  assert.equal((await health()).last_sync, before, 'a run in progress is not a finished one')
  const end = { status: 'ok', message: null, inserted: 1, updated: 2, unchanged: 3 } as const
  await asOtherProcess(app, (db) => closeRun(db, id, { ...end, finished_at: '2026-03-24T13:00:09.000Z' }))
  const { status, inserted, updated, unchanged, finished_at } = (await newest()) ?? {}
  assert.deepEqual([status, inserted, updated, unchanged], ['ok', 1, 2, 3])
  assert.equal(finished_at, '2026-03-24T13:00:09.000Z')
  assert.equal((await health()).last_sync, '2026-03-24T13:00:09.000Z')
})
