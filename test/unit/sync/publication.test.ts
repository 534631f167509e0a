// Events of a sync for hooks: the days with both sides of the dollar, once, and its failure.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHook } from '../../../src/domain/hooks/hook-changes.ts'
import { ensureHookKey } from '../../../src/store/hooks/key.ts'
import { countCorrections, selectRevisions } from '../../../src/store/rates/change-log.ts'
import { updateSeriesEnabled } from '../../../src/store/rates/series.ts'
import { createProblems } from '../../../src/sync/problems.ts'
import { runProblems } from '../../../src/sync/run-context.ts'
import { type Desk, listDays, openDesk } from '../../support/rates/memory-bank.ts'

const FLOOR = '2026-02-01'
const TOMORROW = '2026-03-25'
const VENTA = '318'

async function openHooked(t: Parameters<typeof openDesk>[0], options: Parameters<typeof openDesk>[1] = {}) {
  const desk = await openDesk(t, options)
  const hook = { url: 'https://a.example/', company_id: null, agent_id: null }
  await createHook(
    desk.db,
    await ensureHookKey(desk.dataDir),
    { ...hook, events: ['rates.published', 'rates.corrected', 'sync.failed'] },
    'then',
  )
  return desk
}

type Message = { type: string; timestamp: string; data: Record<string, unknown> }

/** Returns the messages since the last call. */
async function takeMessages({ db }: Desk): Promise<Message[]> {
  const rows = await db.selectFrom('hook_messages').selectAll().orderBy('id').execute()
  await db.deleteFrom('hook_messages').execute()
  return rows.map(({ body }) => JSON.parse(body))
}

test('`rates.published` has the completed days, once, when the row of the run is closed', async (t) => {
  const desk = await openHooked(t)
  let during = 0
  desk.bank.fault = async () => {
    during += (await takeMessages(desk)).length
    return undefined
  }
  const run = await desk.sync()
  assert.equal(during, 0)
  const data = {
    provider: 'bccr',
    run_id: run.id,
    from: FLOOR,
    to: TOMORROW,
    days: listDays(FLOOR, TOMORROW),
  }
  assert.deepEqual(await takeMessages(desk), [{ type: 'rates.published', timestamp: run.finished_at, data }])
  await desk.sync()
  assert.deepEqual(await takeMessages(desk), [], 'nothing new')
  desk.bank.publish[VENTA] = () => '501'
  assert.equal((await desk.sync()).updated > 0, true)
  assert.deepEqual(
    (await takeMessages(desk)).map(({ type }) => type),
    ['rates.corrected'],
    'a correction is no new day',
  )
})

test('`rates.corrected` has the ids, series and days of the corrected values, once', async (t) => {
  const desk = await openHooked(t)
  const { bank } = desk
  await desk.sync()
  await takeMessages(desk)
  const venta = bank.publish[VENTA]
  bank.publish[VENTA] = (day) => (day === '2026-03-20' || day === '2026-03-23' ? '499.99' : venta?.(day))
  const run = await desk.sync()
  const revisions = await selectRevisions(desk.db, { kind: 'correction' })
  assert.deepEqual(
    revisions.map(({ rate_date, new_value }) => [rate_date, new_value]),
    [
      ['2026-03-20', '499.99'],
      ['2026-03-23', '499.99'],
    ],
  )
  const corrections = revisions.map(({ id, series_id, rate_date }) => ({ id, series_id, rate_date }))
  const data = { provider: 'bccr', run_id: run.id, count: 2, corrections }
  assert.deepEqual(await takeMessages(desk), [{ type: 'rates.corrected', timestamp: run.finished_at, data }])
  await desk.sync()
  assert.deepEqual(await takeMessages(desk), [])
  assert.equal(await countCorrections(desk.db), 2)
})

test('`rates.corrected` of many corrections has the newest 500 and the count of all', async (t) => {
  const desk = await openHooked(t, { backfillFrom: '2024-01-01' })
  await desk.sync()
  await takeMessages(desk)
  desk.bank.publish[VENTA] = () => '499.99'
  await desk.sync({ range: { from: '2024-01-01', to: TOMORROW } })
  const [message] = await takeMessages(desk)
  assert.ok(message)
  const { count, corrections } = message.data as { count: number; corrections: { id: number }[] }
  const revisions = await selectRevisions(desk.db, { kind: 'correction' })
  assert.ok(revisions.length > 500, String(revisions.length))
  assert.equal(count, revisions.length)
  assert.deepEqual(
    corrections.map(({ id }) => id),
    revisions.slice(-500).map(({ id }) => id),
  )
})

test('`rates.corrected` has the corrections of a killed run at the end of the next run', async (t) => {
  const desk = await openHooked(t)
  const { bank } = desk
  await desk.sync()
  await takeMessages(desk)
  bank.publish[VENTA] = () => '499.99'
  const { id } = await desk.sync()
  const [message] = await takeMessages(desk)
  await desk.db.updateTable('providers').set({ reported_revision: 0 }).execute() // as the killed run left it
  const next = await desk.sync()
  const [repeatedMessage] = await takeMessages(desk)
  assert.deepEqual(message?.data, { ...repeatedMessage?.data, run_id: id })
  assert.equal(repeatedMessage?.data.run_id, next.id)
})

test('a hook is not notified of the corrections from before it', async (t) => {
  const desk = await openDesk(t)
  await desk.sync()
  desk.bank.publish[VENTA] = () => '499.99'
  await desk.sync()
  await createHook(
    desk.db,
    await ensureHookKey(desk.dataDir),
    { url: 'https://a.example/', company_id: null, agent_id: null, events: ['rates.corrected'] },
    'then',
  )
  await desk.sync()
  assert.deepEqual(await takeMessages(desk), [])
  assert.ok((await countCorrections(desk.db)) > 0)
})

test('`rates.published` has a day when its second side arrives', async (t) => {
  const desk = await openHooked(t)
  const { bank } = desk
  await desk.sync()
  await takeMessages(desk)
  desk.clock.now = new Date('2026-03-25T12:00:00Z')
  const venta = bank.publish[VENTA]
  bank.publish[VENTA] = (day) => (day > TOMORROW ? undefined : venta?.(day))
  await desk.sync()
  assert.deepEqual(await takeMessages(desk), [])
  bank.publish[VENTA] = (day) => venta?.(day)
  await desk.sync()
  assert.deepEqual(
    (await takeMessages(desk)).map(({ data }) => data.days),
    [['2026-03-26']],
  )
})

test('where one side is disabled the other is enough', async (t) => {
  const desk = await openHooked(t)
  await updateSeriesEnabled(desk.db, 2, false, desk.clock.now.getTime())
  await desk.sync()
  const [message] = await takeMessages(desk)
  assert.deepEqual([message?.data.from, message?.data.to], [FLOOR, TOMORROW])
})

test('`rates.published` of a long history has the newest 500 days, the first and the last', async (t) => {
  const desk = await openHooked(t, { backfillFrom: '2024-01-01' })
  await desk.sync()
  const [message] = await takeMessages(desk)
  const days = message?.data.days as string[]
  assert.deepEqual([message?.data.from, message?.data.to], ['2024-01-01', TOMORROW])
  assert.deepEqual([days.length, days.at(-1)], [500, TOMORROW])
})

test('`rates.published` has the days of a killed run at the end of the next run', async (t) => {
  const desk = await openHooked(t)
  await desk.sync()
  await takeMessages(desk)
  await desk.db.insertInto('hook_days').values({ provider_id: 1, day: '2026-03-20' }).execute() // as it committed them
  await desk.sync()
  assert.deepEqual(
    (await takeMessages(desk)).map(({ data }) => data.days),
    [['2026-03-20']],
  )
})

test('`sync.failed` is queued once a day, and not for a partial failure or a stop', async (t) => {
  const desk = await openHooked(t)
  const { bank } = desk
  const fail = () => {
    throw new Error('the bank is down')
  }
  bank.fault = fail
  const run = await desk.sync()
  const about = { provider: 'bccr', run_id: run.id, trigger: 'cli', started_at: run.started_at }
  assert.deepEqual(await takeMessages(desk), [
    { type: 'sync.failed', timestamp: run.finished_at, data: about },
  ])
  await desk.sync({ trigger: 'retry' })
  assert.deepEqual(await takeMessages(desk), [])
  desk.clock.now = new Date('2026-03-25T12:00:00Z')
  assert.equal((await desk.sync()).status, 'error')
  assert.deepEqual(
    (await takeMessages(desk)).map(({ type }) => type),
    ['sync.failed'],
  )
  bank.fault = ({ indicator }) => (indicator === VENTA ? fail() : undefined)
  assert.equal((await desk.sync()).status, 'parcial')
  assert.deepEqual(await takeMessages(desk), [])
  bank.fault = fail
  await desk.sync()
  assert.deepEqual(
    (await takeMessages(desk)).map(({ type }) => type),
    ['sync.failed'],
    'it had worked in between',
  )
  bank.fault = undefined
  await desk.sync()
  await takeMessages(desk)
  const stopped = await desk.sync({ signal: AbortSignal.abort() })
  assert.equal(stopped.status, 'error')
  assert.deepEqual(await takeMessages(desk), [])
})

test('`sync.failed` of an outage is not queued again on its day after a run that was interrupted', async (t) => {
  const desk = await openHooked(t)
  desk.bank.fault = () => {
    throw new Error('the bank is down')
  }
  await desk.sync()
  assert.equal((await takeMessages(desk)).length, 1)
  assert.equal((await desk.sync({ signal: AbortSignal.abort() })).status, 'error')
  assert.equal((await desk.sync({ trigger: 'retry' })).status, 'error')
  assert.deepEqual(await takeMessages(desk), [])
})

test('`sync.failed` of an outage is queued once a day, whatever words the source answers with', async (t) => {
  const desk = await openHooked(t)
  desk.bank.fault = () => {
    throw new Error('the bank answered 500: The service was interrupted')
  }
  const run = await desk.sync()
  assert.equal(run.status, 'error')
  assert.match(String(run.message), /The service was interrupted/)
  assert.equal((await takeMessages(desk)).length, 1)
  assert.equal((await desk.sync({ trigger: 'retry' })).status, 'error')
  assert.deepEqual(await takeMessages(desk), [])
})

test('the message of an interrupted run has that first, so that a long one is not cut there', () => {
  const problems = createProblems()
  problems.add({ message: 'x'.repeat(3000) }, 'bccr')
  const failure = { code: 'interrupted', of: 'bccr' } as const
  problems.add({ message: 'interrupted: the program was stopped', failure }, 'bccr')
  const { message, cause } = runProblems(problems)
  assert.match(message ?? '', /^interrupted: the program was stopped; xxx/)
  assert.equal(cause, 'interrupted')
})
