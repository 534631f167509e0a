// /sync/runs, /health, /scheduler and the probes (decisions#sync-runs, #health and #scheduler).

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { ofSqlite, type TestApp } from '../../support/app.ts'
import { asOtherProcess, openApp, send, validationItems } from '../support.ts'

type Run = {
  id: number
  provider_id: number
  trigger: string
  status: string
  date_from: string | null
  date_to: string | null
  inserted: number
  updated: number
  unchanged: number
  message: string | null
  started_at: string
  finished_at: string | null
}
type Health = {
  status: string
  database: string
  scheduler: string
  providers: number
  series: number
  rates: number
  last_sync: string | null
}
type Scheduler = { enabled: boolean; running: boolean; timezone: string; tasks: Record<string, unknown>[] }

const runs = (app: TestApp, query = '') => app.json<Run[]>(`/api/v1/sync/runs${query}`)
const health = (app: TestApp) => app.json<Health>('/api/v1/health')

test('/sync/runs has every field of a run', async () => {
  const app = await openApp()
  assert.deepEqual(await runs(app), [])
  await app.sync({ from: '2026-03-20', to: '2026-03-24' })
  const [{ id, ...run } = { id: 0 }] = await runs(app)
  assert.deepEqual(run, {
    provider_id: 1,
    trigger: 'cli',
    status: 'ok',
    date_from: '2026-03-20',
    date_to: '2026-03-24',
    inserted: 2 * 5 + 45 * 3,
    updated: 0,
    unchanged: 0,
    message: null,
    started_at: '2026-03-24T12:00:00.000Z',
    finished_at: '2026-03-24T12:00:00.000Z',
  })
  assert.ok(id > 0)
  await app.sync({ from: '2026-03-20', to: '2026-03-24' })
  const [{ inserted, unchanged } = { inserted: -1, unchanged: -1 }] = await runs(app)
  assert.deepEqual([inserted, unchanged], [0, 145])
})

const limits: [query: string, count: number][] = [
  ['', 20],
  ['?limit=1', 1],
  ['?limit=19', 19],
  ['?limit=200', 200],
  ['?limit=020', 20],
  ['?limit=3&limit=2', 2],
  ['?provider=bccr', 20],
  ['?provider=bccr&limit=200', 200],
  ['?provider=nobody', 0],
]
test('/sync/runs lists the newest runs first, up to the limit', async (t) => {
  const app = await openApp()
  await asOtherProcess(app, async (db) => {
    const run = { provider_id: 1, trigger: 'scheduler', status: 'ok', finished_at: null } as const
    for (let at = 1; at <= 205; at += 1) {
      // Later runs with earlier starts: the clock was set back.
      const started_at = new Date(Date.UTC(2026, 2, 24) - at * 1000).toISOString()
      const rest = { date_from: null, date_to: null, message: null }
      await db
        .insertInto('sync_runs')
        .values({ ...run, ...rest, started_at })
        .execute()
    }
  })
  for (const [query, count] of limits) {
    await t.test(`${count} with ${query || 'no limit'}`, async () => {
      const ids = (await runs(app, query)).map(({ id }) => id)
      assert.deepEqual(
        ids,
        Array.from({ length: count }, (_, at) => 205 - at),
      )
    })
  }
  const [provider] = await validationItems(app, '/api/v1/sync/runs?provider=%00')
  assert.deepEqual(provider?.loc, ['query', 'provider'])
  for (const limit of ['0', '201', '-1', '2.0', 'all']) {
    const [item] = await validationItems(app, `/api/v1/sync/runs?limit=${limit}`)
    assert.deepEqual(item?.loc, ['query', 'limit'])
    assert.match(item?.msg ?? '', /1 to 200/)
  }
})

test('/health is degraded without a dollar, ok with one, and has the stored counts', async () => {
  const app = await openApp()
  const empty = { database: 'ok', scheduler: 'disabled', providers: 1, series: 46, rates: 0, last_sync: null }
  const reasons = ['the dollar has no value of compra', 'the dollar has no value of venta']
  const reason_codes = ['compra', 'venta'].map((rate_type) => ({
    code: 'no_value',
    provider: 'bccr',
    rate_type,
  }))
  assert.deepEqual(await health(app), { status: 'degraded', ...empty, detail: { reasons, reason_codes } })
  await app.sync({ from: '2026-03-23', to: '2026-03-24' })
  assert.deepEqual(await health(app), {
    ...empty,
    status: 'ok',
    series: 47,
    rates: 2 * 47,
    last_sync: '2026-03-24T12:00:00.000Z',
  })
})

test('/health is degraded when the newest dollar is older than two days', async () => {
  const app = await openApp()
  await app.sync({ from: '2026-03-23', to: '2026-03-24' })
  for (const [now, status] of [
    ['2026-03-25T12:00:00Z', 'ok'],
    ['2026-03-27T05:59:59Z', 'ok'],
    ['2026-03-27T06:00:00Z', 'degraded'],
    ['2027-01-01T00:00:00Z', 'degraded'],
  ] as const) {
    app.clock.now = new Date(now)
    assert.equal((await health(app)).status, status, now)
  }
})

test('/health is degraded after a failed run, until one succeeds', async () => {
  const app = await openApp()
  await app.sync({ from: '2026-03-23', to: '2026-03-24' })
  app.bank.faults = () => ({ status: 400, body: '' })
  app.clock.now = new Date('2026-03-24T13:00:00Z')
  const { run } = await app.sync({ from: '2026-03-23', to: '2026-03-24' })
  assert.equal(run.status, 'error')
  const bad = await health(app)
  assert.deepEqual([bad.status, bad.database, bad.last_sync], ['degraded', 'ok', '2026-03-24T13:00:00.000Z'])
  const [newest] = await runs(app)
  assert.ok(newest?.message, 'says why')
  app.bank.faults = undefined
  app.clock.now = new Date('2026-03-24T14:00:00Z')
  await app.sync({ from: '2026-03-23', to: '2026-03-24' })
  assert.equal((await health(app)).status, 'ok')
})

test('/health is a 503 for a damaged database, and the server continues', ofSqlite, async () => {
  const app = await openApp()
  await app.sync({ from: '2026-03-23', to: '2026-03-24' })
  // Moves the write-ahead log into the file, then writes garbage over its pages.
  await asOtherProcess(app, (db) => sql`pragma wal_checkpoint(truncate)`.execute(db))
  writeFileSync(join(app.dataDir, 'cambista.db'), Buffer.alloc(1 << 20, 0x5a))
  const response = await app.get('/api/v1/health')
  assert.equal(response.status, 503)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const { status, database, scheduler, last_sync } = (await response.json()) as Health
  assert.deepEqual([status, database, scheduler, last_sync], ['error', 'error', 'disabled', null])
  const ready = await send(`${app.app.url}/readyz`)
  assert.deepEqual([ready.status, ready.body], [503, '{"status":"error"}'])
  const alive = await send(`${app.app.url}/healthz`)
  assert.deepEqual([alive.status, alive.body], [200, '{"status":"ok"}'])
  assert.equal((await send(`${app.app.url}/api/v1/health`)).status, 401)
})

test('without a key the server reveals only that it is alive', async () => {
  const app = await openApp()
  for (const path of ['/healthz', '/readyz']) {
    const { status, body } = await send(app.app.url + path)
    assert.deepEqual([status, body], [200, '{"status":"ok"}'])
  }
})

test('/scheduler has a disabled scheduler, for an external cron', async () => {
  const app = await openApp()
  await app.sync({ from: '2026-03-23', to: '2026-03-24' })
  const { tasks, ...about } = await app.json<Scheduler>('/api/v1/scheduler')
  assert.deepEqual(about, { enabled: false, running: false, timezone: 'America/Costa_Rica' })
  assert.deepEqual(tasks, [
    {
      name: 'sync',
      schedule: '0 5 * * *',
      next_run: null,
      last_run: '2026-03-24T12:00:00.000Z',
      last_status: 'ok',
    },
  ])
})

test('/scheduler has the next run: at dawn in Costa Rica', async () => {
  const app = await openApp({ scheduler: true, bank: { faults: () => 'hang' } })
  const { tasks, ...about } = await app.json<Scheduler>('/api/v1/scheduler')
  assert.deepEqual(about, { enabled: true, running: true, timezone: 'America/Costa_Rica' })
  assert.deepEqual(tasks, [
    {
      name: 'sync',
      schedule: '0 5 * * *',
      next_run: '2026-03-25T11:00:00.000Z',
      last_run: null,
      last_status: null,
    },
  ])
  assert.equal((await health(app)).scheduler, 'running')
})
