// /health over a bank that stops, is slow, rounds and leaves days out, and the probes with it (decisions#health).

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { addDays, type IsoDate } from '../../../src/values/dates.ts'
import { ofSqlite, type TestApp } from '../../support/app.ts'
import { type MemoryApp, startMemoryApp } from '../../support/rates/memory-app.ts'
import { mirrorHoles } from '../../support/rates/mirror.ts'
import { asOtherProcess, send } from '../support.ts'

type Detail = {
  reasons?: string[]
  reason_codes?: { code: string; provider: string; percent?: number }[]
  history?: Record<string, unknown>
  holes?: { series_id: number; pair: string; rate_type: string; from: IsoDate; to: IsoDate }[]
  holes_total?: number
  rounded?: string
}
type Health = { status: string; exact?: boolean; detail?: Detail } & Record<string, unknown>

const FIRST = '2026-02-01'
const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
/** A first history from this day takes several requests, so health is readable between them. */
const LONG_AGO = '2022-03-24'

const health = (app: TestApp) => app.json<Health>('/api/v1/health')
const fresh = async (app: TestApp, query = 'fresh=true') => {
  const { status, body } = await send(`${app.app.url}/readyz?${query}`)
  return [status, JSON.parse(body)]
}

function setDay(app: TestApp, day: IsoDate): void {
  app.clock.now = new Date(`${day}T12:00:00Z`)
}

/** Enables or disables a series, effective at once. */
async function setEnabled(app: TestApp, id: number, enabled: 0 | 1): Promise<void> {
  await asOtherProcess(app, (db) => db.updateTable('series').set({ enabled }).where('id', '=', id).execute())
  await asOtherProcess(app, (db) => sql`update meta set data_revision = data_revision + 1`.execute(db))
  await app.sync({ from: TODAY, to: TODAY }) // a sync refreshes the snapshot
}

test('health names a side of the dollar without values, however fresh the other is', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync()
  assert.deepEqual(await fresh(app), [200, { status: 'ok' }])

  app.memory.publish['318'] = (day) => (day <= TODAY ? '510' : undefined)
  const venta = (days: number) => `the newest venta of the dollar is of ${TOMORROW}, ${days} days ago`
  for (const [day, reasons] of [
    ['2026-03-27', undefined],
    ['2026-03-28', [venta(3)]],
    ['2026-07-03', [venta(100)]],
  ] as const) {
    setDay(app, day)
    const { run } = await app.sync()
    assert.equal(run.status, 'ok')
    const { status, detail } = await health(app)
    assert.deepEqual([status, detail?.reasons], [reasons ? 'degraded' : 'ok', reasons], day)
    const stale = reasons && { status: 'stale', detail: reasons }
    assert.deepEqual(await fresh(app), stale ? [503, stale] : [200, { status: 'ok' }], day)
    assert.deepEqual(await fresh(app, ''), [200, { status: 'ok' }])
  }

  await setEnabled(app, 2, 0)
  assert.equal((await health(app)).status, 'ok', 'a side that is not synchronized is not waited for')
  assert.deepEqual(await fresh(app), [200, { status: 'ok' }])
  await setEnabled(app, 2, 1)
  assert.equal((await health(app)).status, 'degraded')

  app.memory.publish['318'] = (day) => (day <= app.clock.today() ? '511' : undefined)
  await app.sync()
  assert.deepEqual([(await health(app)).status, (await health(app)).detail?.reasons], ['ok', undefined])
})

test('health names a side that never had a value, and both in an empty store', async (t) => {
  const app = await startMemoryApp(t)
  const [compra, venta] = ['the dollar has no value of compra', 'the dollar has no value of venta']
  const [noCompra, noVenta] = ['compra', 'venta'].map((rate_type) => ({
    code: 'no_value',
    provider: 'bccr',
    rate_type,
  }))
  assert.deepEqual((await health(app)).detail, {
    reasons: [compra, venta],
    reason_codes: [noCompra, noVenta],
  })
  assert.deepEqual(await fresh(app), [503, { status: 'stale', detail: [compra, venta] }])
  app.memory.publish['318'] = () => undefined
  await app.sync()
  assert.deepEqual((await health(app)).detail, { reasons: [venta], reason_codes: [noVenta] })
  assert.deepEqual(await fresh(app), [503, { status: 'stale', detail: [venta] }])
})

test('fresh is read like any other boolean', async (t) => {
  const app = await startMemoryApp(t)
  for (const yes of ['fresh=1', 'fresh=YES', 'fresh=on', 'probe=7&fresh=True']) {
    assert.equal((await fresh(app, yes))[0], 503, yes)
  }
  for (const no of ['fresh=false', 'fresh=0', 'fresh=no', 'probe=7']) {
    assert.equal((await fresh(app, no))[0], 200, no)
  }
  const [status, body] = await fresh(app, 'fresh=maybe')
  assert.equal(status, 422)
  assert.deepEqual(body.detail[0].loc, ['query', 'fresh'])
})

/** Health at each request to the bank during a run. */
async function recordHealth(app: MemoryApp, run: () => Promise<unknown>): Promise<Health[]> {
  const answers: Health[] = []
  app.memory.fault = async () => {
    answers.push(await health(app))
    return undefined
  }
  await run()
  app.memory.fault = undefined
  return answers
}

test('the first history of the dollar is degraded until it is read, and has its progress', async (t) => {
  const app = await startMemoryApp(t, { backfillFrom: LONG_AGO })
  const answers = await recordHealth(app, () => app.sync())
  const histories = answers.map(({ detail }) => detail?.history)
  const [first] = histories
  assert.deepEqual(
    [first?.read_since, first?.wanted_since, first?.years_read],
    [null, LONG_AGO, 0],
    JSON.stringify(first),
  )
  const read = histories.flatMap((one) => (one ? [one] : []))
  assert.ok(read.length >= 8, 'each side of four years')
  const falls = <T>(list: T[]) => list.every((one, at) => at === 0 || one <= (list[at - 1] as T))
  assert.ok(falls(read.slice(2).map(({ read_since }) => String(read_since))))
  assert.ok(falls(read.map(({ requests_left }) => Number(requests_left))))
  assert.ok(falls(read.map(({ years_read }) => -Number(years_read))))
  for (const { done_at } of read) assert.match(String(done_at), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  for (const { status, detail } of answers.slice(0, read.length)) {
    assert.equal(status, 'degraded')
    assert.match(
      detail?.reasons?.at(-1) ?? '',
      /^the history of the dollar is being fetched: (it is there since \d|no day of it is there yet$)/,
    )
  }
  // The parities' history follows, which does not degrade health.
  assert.ok(answers.length > read.length)
  for (const { status } of answers.slice(read.length)) assert.equal(status, 'ok')
  const { status, detail } = await health(app)
  assert.deepEqual([status, detail], ['ok', undefined])

  setDay(app, TOMORROW)
  const again = await recordHealth(app, () => app.sync())
  assert.ok(again.length > 0)
  for (const one of again) assert.deepEqual([one.status, one.detail], ['ok', undefined], 'and never again')
})

test('an interrupted first history is degraded until it is complete', async (t) => {
  const app = await startMemoryApp(t, { backfillFrom: LONG_AGO })
  app.memory.fault = ({ indicator, window }) => {
    if (indicator === '318' && window.to < '2024-06-01') throw new FetchFailure('HTTP 500')
    return undefined
  }
  assert.equal((await app.sync()).run.status, 'parcial')
  const { status, detail } = await health(app)
  assert.equal(status, 'degraded')
  const since = String(detail?.history?.read_since)
  assert.ok(since > LONG_AGO && since < '2025-06-01', since)
  const [{ percent = 0, ...code } = {}] = detail?.reason_codes ?? []
  assert.deepEqual(code, { code: 'history_loading', provider: 'bccr' })
  assert.deepEqual(detail, {
    reasons: [`the history of the dollar is being fetched: it is there since ${since}`],
    reason_codes: [{ ...code, percent }],
    history: { read_since: since, wanted_since: LONG_AGO },
  })
  assert.deepEqual(await fresh(app), [200, { status: 'ok' }], 'today is there')
  app.memory.fault = undefined
  await app.sync()
  assert.deepEqual([(await health(app)).status, (await health(app)).detail], ['ok', undefined])
})

test('a history of which no day has arrived is described in words', async (t) => {
  const app = await startMemoryApp(t, { backfillFrom: LONG_AGO })
  app.memory.fault = ({ indicator }) => {
    if (indicator === '318') throw new FetchFailure('HTTP 500')
    return undefined
  }
  await app.sync()
  const { detail } = await health(app)
  const reason = 'the history of the dollar is being fetched: no day of it is there yet'
  assert.ok(detail?.reasons?.includes(reason), String(detail?.reasons))
})

test('a day with a rejected row is a hole, and hides neither the history nor its end', async (t) => {
  const app = await startMemoryApp(t, { backfillFrom: LONG_AGO })
  const bad = '2026-03-15'
  app.memory.publish['318'] = (day) => (day === bad ? '-1' : day <= TOMORROW ? '510' : undefined)
  const answers = await recordHealth(app, () => app.sync())
  const since = answers
    .map(({ detail }) => detail?.history?.read_since)
    .filter((one) => typeof one === 'string')
  assert.ok(since.length > 2)
  for (const one of since) assert.ok(one < bad, `it is read since ${one}`)
  const { status, detail } = await health(app)
  assert.deepEqual(detail, {
    holes: [{ series_id: 2, pair: 'USD/CRC', rate_type: 'venta', from: bad, to: bad }],
  })
  assert.equal(status, 'ok')
})

test('a sync of a range is no first history, wherever it begins', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync({ from: '2026-03-01', to: TODAY })
  assert.deepEqual([(await health(app)).status, (await health(app)).detail], ['ok', undefined])
  const answers = await recordHealth(app, () => app.sync({ from: '2026-02-20', to: TODAY }))
  for (const { status } of answers) assert.equal(status, 'ok')
})

test('days that the source has not synchronized itself do not count as a running history', async (t) => {
  const app = await startMemoryApp(t, { backfillFrom: LONG_AGO })
  mirrorHoles(app.memory, { 317: [{ from: '2025-01-01', to: '2025-06-30' }] }, '2024-03-01')
  const { run } = await app.sync()
  assert.match(run.message ?? '', /^the source has not synchronized /)
  const { status, detail } = await health(app)
  const hole = { series_id: 1, pair: 'USD/CRC', rate_type: 'compra', from: '2025-01-01', to: '2025-06-30' }
  assert.deepEqual([status, detail], ['ok', { holes: [hole] }])
  const mirrored = app.memory.fault
  const answers: Health[] = []
  app.memory.fault = async (ask, usual) => {
    answers.push(await health(app))
    return mirrored?.(ask, usual)
  }
  await app.sync()
  assert.ok(answers.length > 0)
  for (const one of answers) assert.equal(one.status, 'ok', 'while they are requested again')
})

test('health lists the first twenty holes, which degrade nothing', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync()
  await app.sync({ from: '2025-12-01', to: '2025-12-31' })
  const { status, detail } = await health(app)
  assert.equal(status, 'ok')
  assert.deepEqual(Object.keys(detail ?? {}), ['holes'])
  assert.deepEqual(
    detail?.holes?.map(({ series_id, from, to }) => `${series_id} ${from} ${to}`),
    [1, 2, 3, 4, 5, 6].map((id) => `${id} 2026-01-01 2026-01-31`),
  )
  for (let month = 1; month <= 4; month++) {
    await app.sync({ from: `2025-0${month}-01`, to: `2025-0${month}-02` })
  }
  const { detail: more } = await health(app)
  assert.deepEqual([more?.holes?.length, more?.holes_total], [20, 6 * 5])
})

test('rounded values are not exact, and degrade nothing', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync()
  assert.ok(!('exact' in (await health(app))))
  app.takeToken(2)
  app.memory.publish['318'] = (day) => (day <= '2026-03-26' ? '511' : undefined)
  setDay(app, TOMORROW)
  await app.sync()
  const { status, exact, detail } = await health(app)
  assert.deepEqual([status, exact, Object.keys(detail ?? {})], ['ok', false, ['rounded']])
  assert.match(detail?.rounded ?? '', /website.*token/)
})

test('a failed last run is a reason, with its own message', async (t) => {
  const app = await startMemoryApp(t)
  await app.sync()
  app.memory.fault = () => {
    throw new FetchFailure('HTTP 503')
  }
  assert.equal((await app.sync()).run.status, 'error')
  const { status, detail } = await health(app)
  assert.equal(status, 'degraded')
  assert.match(detail?.reasons?.join() ?? '', /^the last run failed: .*HTTP 503/)
  assert.deepEqual(await fresh(app), [200, { status: 'ok' }], 'what is stored is fresh all the same')
})

test('a database that does not answer is an error with a reason, and fresh is a 503', ofSqlite, async (t) => {
  const app = await startMemoryApp(t)
  await app.sync()
  await asOtherProcess(app, (db) => sql`pragma wal_checkpoint(truncate)`.execute(db))
  writeFileSync(join(app.dataDir, 'cambista.db'), Buffer.alloc(1 << 20, 0x5a))
  const response = await app.get('/api/v1/health')
  assert.equal(response.status, 503)
  const { status, database, detail } = (await response.json()) as Health
  assert.deepEqual([status, database], ['error', 'error'])
  assert.deepEqual(detail, { reasons: ['the database does not answer; the log says why'] })
  assert.deepEqual(await fresh(app), [503, { status: 'error' }])
})

test('values of two days ago and of tomorrow are fresh, of three days ago are not', async (t) => {
  const app = await startMemoryApp(t, { backfillFrom: addDays(FIRST, 20) })
  await app.sync()
  for (const [now, code] of [
    ['2026-03-24T12:00:00Z', 200],
    ['2026-03-28T05:59:59Z', 200],
    ['2026-03-28T06:00:00Z', 503],
  ] as const) {
    app.clock.now = new Date(now)
    assert.equal((await fresh(app))[0], code, now)
  }
})
