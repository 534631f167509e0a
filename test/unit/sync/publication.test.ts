// What hooks are told of a sync: the days that both sides of the dollar have now, once, and that it failed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHook } from '../../src/domain/hooks/hooks.ts'
import { needHookKey } from '../../src/store/hooks/key.ts'
import { updateSeriesEnabled } from '../../src/store/rates/series.ts'
import { type Desk, daysFrom, openDesk } from '../support/rates/memory-bank.ts'

const FLOOR = '2026-02-01'
const TOMORROW = '2026-03-25'
const VENTA = '318'

async function openHooked(t: Parameters<typeof openDesk>[0], options: Parameters<typeof openDesk>[1] = {}) {
  const desk = await openDesk(t, options)
  const hook = { url: 'https://a.example/', company_id: null, agent_id: null }
  await createHook(
    desk.db,
    await needHookKey(desk.dataDir),
    { ...hook, events: ['rates.published', 'sync.failed'] },
    'then',
  )
  return desk
}

type Told = { type: string; timestamp: string; data: Record<string, unknown> }

/** The messages since the last look. */
async function told({ db }: Desk): Promise<Told[]> {
  const rows = await db.selectFrom('hook_messages').selectAll().orderBy('id').execute()
  await db.deleteFrom('hook_messages').execute()
  return rows.map(({ body }) => JSON.parse(body))
}

test('the days that a run completed are told once, when its record is closed', async (t) => {
  const desk = await openHooked(t)
  let during = 0
  desk.bank.fault = async () => {
    during += (await told(desk)).length
    return undefined
  }
  const run = await desk.sync()
  assert.equal(during, 0)
  const data = {
    provider: 'bccr',
    run_id: run.id,
    from: FLOOR,
    to: TOMORROW,
    days: daysFrom(FLOOR, TOMORROW),
  }
  assert.deepEqual(await told(desk), [{ type: 'rates.published', timestamp: run.finished_at, data }])
  await desk.sync()
  assert.deepEqual(await told(desk), [], 'nothing new')
  desk.bank.publish[VENTA] = () => '501'
  assert.equal((await desk.sync()).updated > 0, true)
  assert.deepEqual(await told(desk), [], 'a correction is no new day')
})

test('a day of which one side is missing is told of with the other', async (t) => {
  const desk = await openHooked(t)
  const { bank } = desk
  await desk.sync()
  await told(desk)
  desk.clock.now = new Date('2026-03-25T12:00:00Z')
  const venta = bank.publish[VENTA]
  bank.publish[VENTA] = (day) => (day > TOMORROW ? undefined : venta?.(day))
  await desk.sync()
  assert.deepEqual(await told(desk), [])
  bank.publish[VENTA] = (day) => venta?.(day)
  await desk.sync()
  assert.deepEqual(
    (await told(desk)).map(({ data }) => data.days),
    [['2026-03-26']],
  )
})

test('where one side is disabled the other is enough', async (t) => {
  const desk = await openHooked(t)
  await updateSeriesEnabled(desk.db, 2, false, Date.now())
  await desk.sync()
  const [message] = await told(desk)
  assert.deepEqual([message?.data.from, message?.data.to], [FLOOR, TOMORROW])
})

test('of a long history the newest 500 days are named, and its first and last', async (t) => {
  const desk = await openHooked(t, { backfillFrom: '2024-01-01' })
  await desk.sync()
  const [message] = await told(desk)
  const days = message?.data.days as string[]
  assert.deepEqual([message?.data.from, message?.data.to], ['2024-01-01', TOMORROW])
  assert.deepEqual([days.length, days.at(-1)], [500, TOMORROW])
})

test('days that a killed run stored are told of at the end of the next', async (t) => {
  const desk = await openHooked(t)
  await desk.sync()
  await told(desk)
  await desk.db.insertInto('hook_days').values({ provider_id: 1, day: '2026-03-20' }).execute() // as it committed them
  await desk.sync()
  assert.deepEqual(
    (await told(desk)).map(({ data }) => data.days),
    [['2026-03-20']],
  )
})

test('a failed sync is told once, and once more on the next day; not what failed in part, nor a stop', async (t) => {
  const desk = await openHooked(t)
  const { bank } = desk
  const fail = () => {
    throw new Error('the bank is down')
  }
  bank.fault = fail
  const run = await desk.sync()
  const about = { provider: 'bccr', run_id: run.id, trigger: 'cli', started_at: run.started_at }
  assert.deepEqual(await told(desk), [{ type: 'sync.failed', timestamp: run.finished_at, data: about }])
  await desk.sync({ trigger: 'retry' })
  assert.deepEqual(await told(desk), [])
  desk.clock.now = new Date('2026-03-25T12:00:00Z')
  assert.equal((await desk.sync()).status, 'error')
  assert.deepEqual(
    (await told(desk)).map(({ type }) => type),
    ['sync.failed'],
  )
  bank.fault = ({ indicator }) => (indicator === VENTA ? fail() : undefined)
  assert.equal((await desk.sync()).status, 'parcial')
  assert.deepEqual(await told(desk), [])
  bank.fault = fail
  await desk.sync()
  assert.deepEqual(
    (await told(desk)).map(({ type }) => type),
    ['sync.failed'],
    'it had worked in between',
  )
  bank.fault = undefined
  await desk.sync()
  await told(desk)
  const stopped = await desk.sync({ signal: AbortSignal.abort() })
  assert.equal(stopped.status, 'error')
  assert.deepEqual(await told(desk), [])
})
