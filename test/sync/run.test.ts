// What the record of a run says: its status, its counts, its days and its words.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import { FetchFailure } from '../../src/providers/provider.ts'
import { updateProviderEnabled } from '../../src/store/providers.ts'
import { selectRevisions } from '../../src/store/revisions.ts'
import { updateSeriesEnabled } from '../../src/store/series.ts'
import { IN_PROGRESS, insertRun, selectRuns } from '../../src/store/sync-runs.ts'
import { hasDollarOf, syncAll } from '../../src/sync/run.ts'
import { AUD, dayAfter, daysFrom, openDesk } from '../support/paper-bank.ts'

const FLOOR = '2026-02-01'
const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
const DAYS = daysFrom(FLOOR, TOMORROW).length
const SERIES = 6 // both sides of the dollar, AUD, EUR, JPY, XDR

test('a first run fills everything down to the floor and is ok', async (t) => {
  const { sync, stored, covered } = await openDesk(t)
  const run = await sync()
  assert.equal(run.message, null)
  assert.equal(run.status, 'ok')
  assert.deepEqual([run.date_from, run.date_to], [FLOOR, TOMORROW])
  assert.deepEqual([run.inserted, run.updated, run.unchanged], [DAYS * SERIES, 0, 0])
  assert.equal(run.current, true)
  for (const currency of ['CRC', 'AUD', 'EUR', 'JPY', 'XDR']) {
    assert.deepEqual(Object.keys(await stored(currency)), daysFrom(FLOOR, TOMORROW))
    assert.deepEqual(await covered(currency), { from: FLOOR, to: TOMORROW })
  }
})

test('a first run asks for the newest days of everything before any history', async (t) => {
  const { sync, bank } = await openDesk(t)
  await sync()
  const reachesNow = bank.asked.map(({ window }) => window.to === TOMORROW)
  assert.deepEqual(
    bank.asked.slice(0, 3).map(({ table, indicator }) => indicator ?? table),
    ['317', '318', '520'],
  )
  assert.equal(reachesNow.lastIndexOf(true), 2 + Number(reachesNow[3])) // XDR, learned, may be asked for alone
})

test('a second run reads fifteen days again and nothing else', async (t) => {
  const { sync, bank } = await openDesk(t)
  await sync()
  bank.asked.length = 0
  const run = await sync()
  assert.deepEqual(
    bank.asked.map(({ window }) => window),
    Array.from({ length: 3 }, () => ({ from: '2026-03-10', to: TOMORROW })),
  )
  assert.deepEqual([run.date_from, run.date_to], ['2026-03-10', TOMORROW])
  assert.deepEqual([run.status, run.inserted, run.unchanged], ['ok', 0, 16 * SERIES])
})

test('the row of a run is there, as an error in progress, while it runs', async (t) => {
  const { sync, bank, db, clock } = await openDesk(t)
  let seen: unknown
  bank.fault = async () => {
    seen ??= (await selectRuns(db, { limit: 1 }))[0]
    clock.now = new Date('2026-03-24T12:00:30Z')
    return undefined
  }
  const run = await sync({ trigger: 'startup' })
  assert.deepEqual(seen, {
    id: run.id,
    provider_id: 1,
    trigger: 'startup',
    status: 'error',
    date_from: FLOOR,
    date_to: TOMORROW,
    inserted: 0,
    updated: 0,
    unchanged: 0,
    message: IN_PROGRESS,
    started_at: '2026-03-24T12:00:00.000Z',
    finished_at: null,
  })
  assert.equal(run.finished_at, '2026-03-24T12:00:30.000Z')
})

test('runs are listed newest first, of one provider or of all', async (t) => {
  const { sync, db } = await openDesk(t)
  await sync()
  await sync()
  const ids = async (providerCode?: string) =>
    (await selectRuns(db, { limit: 10, providerCode })).map(({ id }) => id)
  assert.deepEqual(await ids(), [2, 1])
  assert.deepEqual(await ids('bccr'), [2, 1])
  assert.deepEqual(await ids('ecb'), [])
  assert.equal((await selectRuns(db, { limit: 1 })).length, 1)
})

test('a run over a range asks for exactly these days', async (t) => {
  const { sync, bank, stored } = await openDesk(t)
  const run = await sync({ range: { from: '2026-02-10', to: '2026-02-20' } })
  assert.deepEqual([run.status, run.date_from, run.date_to], ['ok', '2026-02-10', '2026-02-20'])
  assert.equal(run.inserted, 11 * SERIES)
  for (const { window } of bank.asked) assert.deepEqual(window, { from: '2026-02-10', to: '2026-02-20' })
  assert.deepEqual(Object.keys(await stored('EUR')), daysFrom('2026-02-10', '2026-02-20'))
})

test('a bank that is down is an error, with the reason, in a row that is closed', async (t) => {
  const { sync, bank } = await openDesk(t)
  bank.fault = ({ indicator, table }) => {
    throw new FetchFailure(`${indicator ?? table}: cannot be reached (ECONNREFUSED)`, { unreachable: true })
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

test('a failure going forward does not keep the run from going backward', async (t) => {
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

test('what the provider has to say makes the run parcial and is in its message', async (t) => {
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

test('an answer without data is an answer', async (t) => {
  const { sync, bank } = await openDesk(t)
  for (const code of Object.keys(bank.publish)) bank.publish[code] = () => undefined
  const run = await sync()
  assert.deepEqual([run.status, run.message, run.inserted, run.current], ['ok', null, 0, false])
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

test('a run that is stopped closes its row, keeps its chunks, and the next goes on', async (t) => {
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
  const dead = { providerId: 1, trigger: 'scheduler' as const, dateFrom: FLOOR, dateTo: TODAY }
  await insertRun(db, { ...dead, startedAt: '2026-03-24T11:00:00.000Z' })
  clock.now = new Date('2026-03-24T13:00:00Z')
  await sync()
  const [, old] = await selectRuns(db, { limit: 2 })
  assert.deepEqual(
    [old?.status, old?.message, old?.finished_at],
    ['error', 'interrupted', '2026-03-24T13:00:00.000Z'],
  )
})

test('a second run at the same time is refused, and leaves no row', async (t) => {
  const { sync, bank, db, dataDir } = await openDesk(t)
  let second: Promise<unknown> | undefined
  bank.fault = async () => {
    second ??= assert.rejects(sync(), (error) => {
      assert.ok(error instanceof AppError)
      assert.equal(error.code, 'conflict')
      assert.equal(error.message, `a sync is already running on ${dataDir}`)
      return true
    })
    await second
    return undefined
  }
  assert.equal((await sync()).status, 'ok')
  assert.equal((await selectRuns(db, { limit: 9 })).length, 1)
})

test('a disabled provider is not read', async (t) => {
  const { db, deps, bank } = await openDesk(t)
  await updateProviderEnabled(db, 'bccr', false)
  const request = { trigger: 'cli' as const, range: undefined, signal: new AbortController().signal }
  assert.deepEqual(await syncAll(deps, [bank.provider], request), [])
  assert.deepEqual([bank.asked.length, (await selectRuns(db, { limit: 9 })).length], [0, 0])
})

test('the dollar is current when every enabled side has its value of the day', async (t) => {
  const { db, sync, bank, idOf } = await openDesk(t)
  bank.publish['318'] = (day) => (day < TODAY ? '505' : undefined)
  const run = await sync()
  assert.deepEqual([run.status, run.current], ['ok', false])
  assert.equal(await hasDollarOf(db, dayAfter(TODAY, -1)), true)
  await updateSeriesEnabled(db, await idOf('CRC'), false)
  assert.equal(await hasDollarOf(db, TODAY), true)
})

test('a corrected value replaces the old one, which is kept with the run that replaced it', async (t) => {
  const { sync, bank, db, stored, idOf } = await openDesk(t)
  await sync()
  const before = bank.publish[AUD]
  bank.publish[AUD] = (day) => (day === '2026-03-10' || day === '2026-03-09' ? '0.7000' : before?.(day))
  const run = await sync()
  assert.deepEqual([run.status, run.inserted, run.updated, run.unchanged], ['ok', 0, 1, 16 * SERIES - 1])
  const aud = await stored('AUD')
  assert.equal(aud['2026-03-10'], '0.7')
  assert.notEqual(aud['2026-03-09'], '0.7', 'sixteen days back is not read again')
  const [revision, ...others] = await selectRevisions(db, {})
  assert.deepEqual(others, [])
  assert.deepEqual(revision, {
    id: 1,
    series_id: await idOf('AUD'),
    rate_date: '2026-03-10',
    old_value: '0.4829',
    new_value: '0.7',
    replaced_at: '2026-03-24T12:00:00.000Z',
    run_id: run.id,
  })
})

test('a value that the bank no longer gives is kept', async (t) => {
  const { sync, bank, stored } = await openDesk(t)
  await sync()
  bank.publish['318'] = (day) => (day < TODAY ? '500' : undefined)
  assert.equal((await sync()).status, 'ok')
  assert.equal((await stored('CRC'))[TODAY], '500')
})
