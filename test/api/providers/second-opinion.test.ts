// Second opinion of a whole server: requested after a sync of its scheduler, shown in health and by the doctor.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { examine } from '../../../src/domain/operations/doctor/doctor.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { startReplay } from '../../support/sources/replay.ts'
import { fixedClock, ofSqlite, openTestDatabase } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'

type Health = { status: string; detail?: { second_opinion?: { message: string; differences: unknown[] } } }

const TODAY = '2026-03-24'
const value = (code: string) => ({ '317': '500', '318': '507.94' })[code]
const body = (venta: string) =>
  `{"venta":{"fecha":"${TODAY}","valor":${venta}},"compra":{"fecha":"${TODAY}","valor":500}}`

function start(t: TestContext, options: TestAppOptions = {}): Promise<TestApp> {
  return startTestApp(t, { bank: { value }, backfillFrom: '2026-03-20', scheduler: true, ...options })
}

const health = ({ json }: TestApp) => json<Health>('/api/v1/health')
const isSynced = ({ logLines }: TestApp) => logLines.some((line) => line.includes('"sync finished"'))

async function examineRates({ dataDir, clock }: TestApp): Promise<{ findings: string[]; notes: string[] }> {
  const { findings, notes } = await examine({
    ...{ dataDir, clock: clock.read, providers: [bccr], minFree: 0, zone: 'UTC', backup: undefined },
    ...{ signal: new AbortController().signal, beforeRecheck: async () => {} },
  })
  const messages = (list: { message: string }[]) => list.map(({ message }) => message)
  return { findings: messages(findings), notes: messages(notes) }
}

test(
  'a second opinion that differs is in health and a finding of `doctor`; the status stays ok',
  ofSqlite,
  async (t) => {
    const source = await startReplay(t, fixedClock().read, () => ({ body: body('507.95') }))
    const app = await start(t, { opinionUrl: source.url })
    await until(async () => (await health(app)).detail?.second_opinion !== undefined)
    const { status, detail } = await health(app)
    const message = `the second opinion differs: venta of ${TODAY} is 507.94 here and 507.95 at Hacienda`
    assert.equal(status, 'ok')
    assert.deepEqual(detail, {
      second_opinion: {
        ...{ source: 'hacienda', asked_at: '2026-03-24T12:00:00.000Z', message },
        differences: [{ rate_type: 'venta', rate_date: TODAY, value: '507.94', other: '507.95' }],
      },
    })
    assert.deepEqual((await examineRates(app)).findings, [message])
    assert.equal((await app.json<{ status: string }>('/api/v1/status')).status, 'ok')
    const latest = await app.json<{ venta: string }>('/api/v1/rates/latest')
    assert.equal(latest.venta, '507.94')
  },
)

test('a server without the option requests no second opinion, and shows none', async (t) => {
  const app = await start(t)
  await until(() => isSynced(app))
  const db = openTestDatabase(app.dataDir)
  t.after(() => db.destroy())
  const sides = [{ rate_type: 'venta', rate_date: TODAY, value: '1' }]
  const answer = { host: 'h', at: app.clock.read().toISOString(), sides }
  assert.equal((await db.selectFrom('second_opinions').selectAll().execute()).length, 0)
  const state = JSON.stringify({ day: TODAY, requests: 1, answer })
  await db.insertInto('second_opinions').values({ source: 'hacienda', state }).execute()
  assert.equal((await health(app)).detail, undefined)
})

test('a source that never answers delays neither a sync nor the stop', async (t) => {
  const source = await startReplay(t, fixedClock().read, () => ({ body: '' }))
  const firstRequest = Promise.withResolvers<void>()
  source.fault = () => {
    firstRequest.resolve()
    return 'silent'
  }
  const app = await start(t, { opinionUrl: source.url })
  await firstRequest.promise
  await until(() => isSynced(app))
  const [run] = await app.json<{ status: string; message: string | null }[]>('/api/v1/sync/runs')
  assert.deepEqual([run?.status, run?.message], ['ok', null])
  await app.app.close()
  assert.doesNotMatch(app.logLines.join(''), /second opinion/, 'the request has not timed out')
})

for (const open of ['any', undefined] as const) {
  test(
    `a cambista in place of Hacienda is recognized, ${open ? 'also if it answers' : 'also by its 401'}`,
    ofSqlite,
    async (t) => {
      const other = await startTestApp(t, { listen: { compat: { open, serveRounded: false } } })
      await other.sync()
      const app = await start(t, { opinionUrl: other.app.url })
      await until(async () => (await health(app)).detail?.second_opinion !== undefined)
      const { status, detail } = await health(app)
      const message = '127.0.0.1 leads to this machine: there is no second opinion'
      assert.equal(status, 'ok')
      assert.deepEqual([detail?.second_opinion?.message, detail?.second_opinion?.differences], [message, []])
      const { findings, notes } = await examineRates(app)
      assert.deepEqual([findings, notes.includes(message)], [[], true])
    },
  )
}
