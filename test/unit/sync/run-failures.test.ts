// Record of a failed run, and the values that it stores all the same.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { AppError } from '../../../src/runtime/errors.ts'
import { insertRun, selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { listDays, openDesk } from '../../support/rates/memory-bank.ts'

const FLOOR = '2026-02-01'
const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
const DAYS = listDays(FLOOR, TOMORROW).length
const SERIES = 6 // both sides of the dollar, AUD, EUR, JPY, XDR

test('a bank that is down is an error, with the reason, in a row that is closed', async (t) => {
  const { sync, bank } = await openDesk(t)
  bank.fault = ({ indicator, table }) => {
    throw new FetchFailure(`${indicator ?? table}: cannot be reached (ECONNREFUSED)`)
  }
  const run = await sync()
  assert.equal(run.status, 'error')
  assert.equal(
    run.message,
    ['317', '318', '520'].map((name) => `${name}: cannot be reached (ECONNREFUSED)`).join('; '),
  )
  assert.ok(run.finished_at)
  assert.equal(run.current, false)
})

for (const failing of ['317', '318', '520']) {
  test(`when only ${failing} fails, the run is parcial, names it and stores the rest`, async (t) => {
    const { sync, bank, idOf, covered } = await openDesk(t)
    bank.fault = ({ indicator, table }) => {
      if ((indicator ?? table) === failing) throw new FetchFailure('HTTP 500')
      return undefined
    }
    const run = await sync()
    assert.equal(run.status, 'parcial')
    assert.equal(run.message, `${failing}: HTTP 500`)
    assert.equal(run.current, failing === '520')
    assert.ok(run.inserted > 0)
    assert.equal(await idOf('CRC'), 2)
    const crc = await covered('CRC')
    assert.deepEqual(crc, failing === '318' ? undefined : { from: FLOOR, to: TOMORROW })

    bank.fault = undefined
    const next = await sync()
    assert.deepEqual([next.status, next.current], ['ok', true])
    assert.equal(run.inserted + next.inserted, DAYS * SERIES)
  })
}

test('a run reads history although the newest days failed', async (t) => {
  const { sync, bank, covered } = await openDesk(t)
  bank.fault = ({ window }) => {
    if (window.to === TOMORROW) throw new FetchFailure('HTTP 500')
    return undefined
  }
  const run = await sync()
  assert.equal(run.status, 'parcial')
  assert.deepEqual(await covered('CRC'), { from: FLOOR, to: '2026-03-09' })
  bank.fault = undefined
  assert.equal((await sync()).status, 'ok')
  assert.deepEqual(await covered('EUR'), { from: FLOOR, to: TOMORROW })
})

test('notices of the provider make the run parcial and are in its message', async (t) => {
  const { sync, bank } = await openDesk(t)
  bank.notices = ['the token was refused']
  const run = await sync()
  assert.deepEqual([run.status, run.message], ['parcial', 'the token was refused'])
})

test('rejected rows are counted, the first is quoted, and the others of the answer are stored', async (t) => {
  const { sync, bank } = await openDesk(t)
  const eur = bank.publish['333']
  bank.publish['333'] = (day) => (day >= '2026-03-23' && day <= TODAY ? '-1' : eur?.(day))
  const run = await sync()
  assert.equal(run.status, 'parcial')
  assert.equal(run.message, '520: 2 rows rejected, the first: 333 on 2026-03-23: -1 is not positive')
  assert.equal(run.inserted, DAYS * SERIES - 2)
})

test('a defect of ours ends in the record too, and the next run goes on', async (t) => {
  const { sync, bank, logged, deps } = await openDesk(t)
  let asks = 0
  bank.fault = () => {
    asks += 1
    if (asks === 3) throw new TypeError('surprise')
    return undefined
  }
  const run = await sync()
  assert.deepEqual([run.status, run.message], ['parcial', 'surprise'])
  deps.log.flush()
  assert.match(logged.join(''), /"event":"sync failed".*TypeError: surprise/)
  bank.fault = undefined
  assert.equal((await sync()).status, 'ok')
})

test('settings that cannot be read are the record of a run, not the lack of one', async (t) => {
  const desk = await openDesk(t)
  desk.deps.settings = () => {
    throw new AppError('failed', "cannot read the bank's token: ENOENT")
  }
  const run = await desk.sync()
  assert.deepEqual([run.status, run.message], ['error', "cannot read the bank's token: ENOENT"])
  assert.ok(run.finished_at)
})

test('a message of any length is cut', async (t) => {
  const { sync, bank } = await openDesk(t)
  bank.fault = () => {
    throw new FetchFailure('x'.repeat(100_000))
  }
  const { message } = await sync()
  assert.ok((message?.length ?? 0) <= 2001)
})

test('a stopped run closes its row with its stored windows, and the next run resumes', async (t) => {
  const { sync, bank, stored } = await openDesk(t)
  const stop = new AbortController()
  bank.fault = () => {
    if (bank.asked.length === 4) stop.abort()
    stop.signal.throwIfAborted()
    return undefined
  }
  const run = await sync({ signal: stop.signal })
  assert.deepEqual([run.status, run.message], ['parcial', 'interrupted: the program was stopped'])
  assert.ok(run.finished_at)
  assert.equal(Object.keys(await stored('EUR')).length, 16)
  bank.fault = undefined
  const next = await sync()
  assert.equal(next.status, 'ok')
  assert.equal(Object.keys(await stored('EUR')).length, DAYS)
})

test('a row that a dead process left open is closed as interrupted, when it is found', async (t) => {
  const { sync, db, clock } = await openDesk(t)
  const dead = { provider_id: 1, trigger: 'scheduler' as const, date_from: FLOOR, date_to: TODAY }
  await insertRun(db, { ...dead, started_at: '2026-03-24T11:00:00.000Z' })
  clock.now = new Date('2026-03-24T13:00:00Z')
  await sync()
  const [, old] = await selectRuns(db, { limit: 2 })
  assert.deepEqual(
    [old?.status, old?.message, old?.finished_at],
    ['error', 'interrupted', '2026-03-24T13:00:00.000Z'],
  )
})

test('a second run at the same time is refused, and leaves no row', async (t) => {
  const { sync, bank, db, deps } = await openDesk(t)
  let second: Promise<unknown> | undefined
  bank.fault = async () => {
    const where = await deps.findHolder('sync')
    second ??= assert.rejects(sync(), (error) => {
      assert.ok(error instanceof AppError)
      assert.equal(error.code, 'conflict')
      assert.equal(error.message, `a sync is already running ${where}`)
      return true
    })
    await second
    return undefined
  }
  assert.equal((await sync()).status, 'ok')
  assert.equal((await selectRuns(db, { limit: 9 })).length, 1)
})
