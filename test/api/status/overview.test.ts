// /api/v1/status, for the operator of the server (decisions#status).

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { VERSION } from '../../../src/runtime/assets.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import { findReaderProgress } from '../../../src/store/documents/unread.ts'
import { ofSqlite, startTestApp, type TestApp, temporaryDirectory } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post } from '../../support/directory.ts'
import { insertTestMailbox } from '../../support/mail/mailboxes.ts'
import { openTestDatabase } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { type Document, readDescription } from '../openapi/description.ts'
import { asOtherProcess, send } from '../support.ts'

type Status = {
  version: string
  status: string
  reasons: string[]
  reason_codes: Record<string, unknown>[]
  scheduler: { enabled: boolean; running: boolean }
  providers: Record<string, unknown>[]
  storage: Record<string, number>
  backup: Record<string, unknown> | null
  runs: { status: string; message: string | null; failures?: Record<string, unknown>[] }[]
}

const status = (app: TestApp) => app.json<Status>('/api/v1/status')

const withoutFailures = ({ runs }: Status) => runs.map(({ failures: _, ...run }) => run)

async function checkDescribed(app: TestApp): Promise<void> {
  const description = readDescription((await (await app.get('/openapi.json')).json()) as Document)
  const response = await app.get('/api/v1/status')
  const type = String(response.headers.get('content-type'))
  description.checkAnswer('/api/v1/status', 'get', {
    status: response.status,
    type,
    body: await response.text(),
  })
}

test('the status before the first sync has empty values and its reasons', async (t) => {
  const app = await startTestApp(t)
  const { version, providers, storage, backup, runs, ...health } = await status(app)
  assert.deepEqual(health, {
    status: 'degraded',
    reasons: ['the dollar has no value of compra', 'the dollar has no value of venta'],
    reason_codes: ['compra', 'venta'].map((rate_type) => ({ code: 'no_value', provider: 'bccr', rate_type })),
    scheduler: { enabled: false, running: false },
  })
  assert.deepEqual([version, backup, runs], [VERSION, null, []])
  const { free_bytes, ...stored } = storage
  assert.deepEqual(stored, { rates: 0, rounded: 0, documents: 0, contents: 0, content_bytes: 0 })
  assert.ok((free_bytes ?? 0) > 0)
  assert.deepEqual(providers, [
    {
      code: 'bccr',
      name: 'Banco Central de Costa Rica',
      enabled: true,
      fresh: false,
      stale: health.reasons,
      sides: ['compra', 'venta'].map((rate_type) => ({ rate_type, newest: null, age_days: null })),
      exact: true,
      last_good_sync: null,
      next_sync: null,
    },
  ])
  await checkDescribed(app)
})

test('the status has its reasons and the failures of runs as codes', async (t) => {
  const app = await startTestApp(t, { token: 'wrong', bank: { token: 'right' }, scheduler: true })
  await until(async () => (await status(app)).runs[0]?.failures !== undefined)
  const {
    runs: [run],
    scheduler,
    reason_codes: none,
  } = await status(app)
  assert.deepEqual(run?.failures, [{ code: 'token_refused', of: 'bccr' }])
  assert.match(run?.message ?? '', /token was refused/)
  assert.deepEqual([scheduler, none], [{ enabled: true, running: true }, []])
  await checkDescribed(app)
  const late = await startTestApp(t)
  await late.sync({ from: '2026-03-20', to: '2026-03-24' })
  late.clock.now = new Date('2026-03-30T18:00:00Z')
  late.bank.faults = () => ({ status: 400, body: 'no' })
  await late.sync({ from: '2026-03-25', to: '2026-03-30' })
  const { reason_codes: codes, runs } = await status(late)
  const side = { code: 'stale_side', provider: 'bccr', since: '2026-03-25' }
  assert.deepEqual(codes, [
    { ...side, rate_type: 'compra' },
    { ...side, rate_type: 'venta' },
    { code: 'last_run_failed', provider: 'bccr' },
  ])
  assert.deepEqual(runs[0]?.failures?.[0], { code: 'http_status', status: 400, of: '317' })
  await checkDescribed(late)
})

test('the status after a sync and an upload has their numbers', async (t) => {
  const app = await startTestApp(t, { scheduler: true })
  await until(async () => (await status(app)).runs[0]?.status === 'ok')
  await fillDirectory(app)
  await post(app, CREATE, batch(pdf('one'), pdf('three'), pdf('one')))
  await until(async () => (await status(app)).storage.documents === 3)
  const answer = await status(app)
  assert.deepEqual([answer.status, answer.reasons], ['ok', []])
  const { contents, content_bytes, rates } = answer.storage
  assert.deepEqual([contents, content_bytes], [2, 8])
  assert.equal(rates, (await app.json<{ rates: number }>('/api/v1/health')).rates)
  const [provider] = answer.providers
  assert.deepEqual(
    [provider?.fresh, provider?.exact, provider?.next_sync],
    [...[true, true], '2026-03-25T11:00:00.000Z'],
  )
  assert.deepEqual(provider?.sides, [
    { rate_type: 'compra', newest: '2026-03-25', age_days: -1 },
    { rate_type: 'venta', newest: '2026-03-25', age_days: -1 },
  ])
  assert.deepEqual(withoutFailures(answer), await app.json('/api/v1/sync/runs'))
  app.bank.faults = () => 'hang' // the sync that is due then
  app.clock.now = new Date('2026-03-29T12:00:00Z')
  const later = await status(app)
  assert.equal(later.status, 'degraded')
  assert.deepEqual(later.providers[0]?.stale, later.reasons)
  assert.match(later.reasons[0] ?? '', /^the newest compra of the dollar is of 2026-03-25, 4 days ago$/)
  await checkDescribed(app)
})

test('the status has rounded values as not exact', async (t) => {
  const app = await startTestApp(t, { token: null })
  await app.sync({ from: '2026-03-20', to: '2026-03-24' })
  assert.equal((await status(app)).providers[0]?.exact, false)
})

test('the status has at most the last 20 runs', async (t) => {
  const app = await startTestApp(t)
  for (let run = 0; run < 22; run++) await app.sync({ from: '2026-03-24', to: '2026-03-24' })
  const runs = withoutFailures(await status(app))
  assert.deepEqual([runs.length, runs], [20, await app.json('/api/v1/sync/runs?limit=20')])
})

test(
  'the status has backups and whether the newest was verified, and no path of the machine',
  ofSqlite,
  async (t) => {
    const home = temporaryDirectory(t)
    mkdirSync(join(home, 'disk'))
    const app = await startTestApp(t, {
      backup: { dir: join(home, 'disk/set'), cron: '30 3 * * *', keep: 7 },
    })
    await until(async () => (await status(app)).backup?.last_status === 'ok')
    const { backup } = await status(app)
    assert.deepEqual(backup, {
      schedule: '30 3 * * *',
      next_run: '2026-03-25T09:30:00.000Z',
      last_run: '2026-03-24T12:00:00.000Z',
      last_status: 'ok',
      last_verified: '2026-03-24T12:00:00.000Z',
    })
    const text = await (await app.get('/api/v1/status')).text()
    for (const path of [home, app.dataDir, '/tmp']) assert.ok(!text.includes(path), path)
    await checkDescribed(app)
  },
)

test('a key for URLs does not open the status, in any position', async (t) => {
  const app = await startTestApp(t)
  await asOtherProcess(app, (db) =>
    insertApiKey(db, {
      name: 'sheet',
      hash: hashOfSecret('cbk_sheet'),
      createdAt: '2026-03-01T00:00:00Z',
      kind: 'url',
    }),
  )
  const { url } = app.app
  const of = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(url + path, { headers })).status
  await until(async () => (await of('/api/v1/rates', { 'x-api-key': 'cbk_sheet' })) === 200)
  assert.equal(await of('/api/v1/status', { 'x-api-key': 'cbk_sheet' }), 401)
  assert.equal(await of('/api/v1/status?key=cbk_sheet'), 401)
  assert.equal(await of(`/k/cbk_sheet/api/v1/status`), 404)
})

test('the status has the documents that wait for the reader of invoices', async (t) => {
  const app = await startTestApp(t)
  const read = async () => (await app.json<{ invoices?: object }>('/api/v1/status')).invoices
  assert.equal(await read(), undefined)
  const db = openTestDatabase(app.dataDir)
  await until(async () => (await findReaderProgress(db))?.unreadBefore === 0) // the server's own start
  await db.updateTable('meta').set({ invoice_reader: 1, unread_before: 41 }).execute()
  await db.destroy()
  assert.deepEqual(await read(), { unread_before: 41 })
  await checkDescribed(app)
})

test('the status and the metrics have the mailboxes', async (t) => {
  const app = await startTestApp(t, { listen: { metrics: 'local' } })
  await fillDirectory(app)
  const read = async () => (await app.json<{ mail?: object[] }>('/api/v1/status')).mail
  assert.equal(await read(), undefined)
  const db = openTestDatabase(app.dataDir)
  const party = { company_id: 1, agent_id: 1, owner_id: 1 }
  const failure = {
    last_success_at: '2026-03-24T10:00:00.000Z',
    last_round_at: '2026-03-24T12:00:00.000Z',
    failing_since: '2026-03-24T11:00:00.000Z',
    next_round_at: '2026-03-24T13:00:00.000Z',
    ...{
      failure: 'the server refused the password',
      failure_code: 'login_refused',
      failures: 3,
      waiting: 4,
      taken: 7,
      refused: 2,
      left_out: 3,
    },
  }
  await insertTestMailbox(db, { ...party, ...failure })
  const paused_at = '2026-03-24T09:00:00.000Z'
  await insertTestMailbox(db, { ...party, name: 'otro', paused_at, pause_reason: 'operator' })
  await db.destroy()
  const none = {
    last_round: null,
    last_success: null,
    failing_since: null,
    failure: null,
    failure_code: null,
    waiting: null,
  }
  assert.deepEqual(await read(), [
    {
      ...{ id: 1, name: 'facturas', company_id: 1, agent_id: 1, state: 'failing' },
      ...{ last_round: failure.last_round_at, last_success: failure.last_success_at },
      ...{ failing_since: failure.failing_since, failure: failure.failure, failure_code: 'login_refused' },
      ...{ waiting: 4, taken: 7, refused: 2, left: 3 },
    },
    {
      id: 2,
      name: 'otro',
      company_id: 1,
      agent_id: 1,
      state: 'paused',
      ...none,
      taken: 0,
      refused: 0,
      left: 0,
    },
  ])
  await checkDescribed(app)
  const { body } = await send(`${app.app.url}/metrics`)
  for (const line of [
    'cambista_mail_messages_total{mailbox="facturas",outcome="taken"} 7',
    'cambista_mail_messages_total{mailbox="facturas",outcome="refused"} 2',
    'cambista_mail_messages_total{mailbox="facturas",outcome="known"} 0',
    'cambista_mail_last_success_timestamp_seconds{mailbox="facturas"} 1774346400',
    'cambista_mail_last_success_timestamp_seconds{mailbox="otro"} 0',
    'cambista_mail_waiting{mailbox="facturas"} 4',
  ])
    assert.ok(body.includes(`${line}\n`), line)
  assert.equal(body.includes('cambista_mail_waiting{mailbox="otro"}'), false)
})
