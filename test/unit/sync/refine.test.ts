// Rounded values become exact by themselves: window by window, giving way to every other run, and nothing twice.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { selectRevisions } from '../../../src/store/rates/change-log.ts'
import { countRates } from '../../../src/store/rates/rates.ts'
import { selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { refine } from '../../../src/sync/refine.ts'
import { type Desk, EUR, openDesk } from '../../support/rates/memory-bank.ts'

const FLOOR = '2025-06-01'
const EXACT = '1.08725'

/** A desk that was filled by a source that rounds to two decimals, and now has one that does not. */
async function openRounded(
  t: TestContext,
): Promise<Desk & { refine(signal?: AbortSignal): ReturnType<typeof refine> }> {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  const { bank } = desk
  bank.roundedTo = 2
  bank.supportsSingleSeries = false
  bank.publish[EUR] = (day) => (day <= '2026-03-24' ? '1.09' : undefined)
  assert.equal((await desk.sync()).status, 'ok')
  bank.roundedTo = undefined
  bank.supportsSingleSeries = true
  bank.publish[EUR] = (day) => (day <= '2026-03-24' ? EXACT : undefined)
  bank.asked.length = 0
  const never = new AbortController().signal
  return { ...desk, refine: (signal = never) => refine(desk.deps, [bank.provider], { signal }) }
}

async function roundedCount({ db }: Desk): Promise<number> {
  return (await countRates(db)).rounded
}

test('every rounded value is read again, in one run of its own, and is no correction', async (t) => {
  const desk = await openRounded(t)
  assert.ok((await roundedCount(desk)) > 1000)
  const [run, ...others] = await desk.refine()
  assert.deepEqual(others, [])
  assert.deepEqual([run?.trigger, run?.status, run?.message, run?.inserted], ['refine', 'ok', null, 0])
  assert.ok((run?.date_from ?? '') <= FLOOR)
  assert.equal(await roundedCount(desk), 0)
  assert.equal((await desk.stored('EUR'))['2025-12-24'], EXACT)
  assert.deepEqual(await selectRevisions(desk.db, { kind: 'correction' }), [])
  const [first] = await selectRevisions(desk.db, { seriesId: await desk.idOf('EUR'), kind: 'refined' })
  assert.deepEqual([first?.old_value, first?.old_rounded_to, first?.new_value], ['1.09', 2, EXACT])
})

test('refining requests no day twice, not even one that the exact source lacks', async (t) => {
  const desk = await openRounded(t)
  const eur = desk.bank.publish[EUR]
  desk.bank.publish[EUR] = (day) => (day === '2025-12-24' ? undefined : eur?.(day))
  await desk.refine()
  assert.equal(await roundedCount(desk), 1)
  const keys = desk.bank.asked.map(({ table, indicator, window }) => `${indicator ?? table} ${window.from}`)
  assert.equal(new Set(keys).size, keys.length)
  desk.bank.asked.length = 0
  assert.deepEqual(await desk.refine(), [])
  assert.deepEqual(desk.bank.asked, [])
})

test('values that an exact source still rounds are read again once a day, until they are exact', async (t) => {
  const desk = await openRounded(t)
  const { bank, clock } = desk
  const round = (code: string) => {
    bank.fault = (_ask, usual) => {
      const answer = usual()
      const observations = answer.observations.map((one) =>
        one.code === code ? { ...one, value: '1.09', roundedTo: 2 } : one,
      )
      return { ...answer, observations }
    }
  }
  round(EUR)
  const rounded = Object.keys(await desk.stored('EUR')).length
  for (const day of ['2026-03-24', '2026-03-25']) {
    clock.now = new Date(`${day}T12:00:00Z`)
    await desk.sync()
    clock.now = new Date(`${day}T12:01:00Z`)
    bank.asked.length = 0
    const [run] = await desk.refine()
    assert.deepEqual([run?.status, run?.message], ['ok', null])
    assert.equal(await roundedCount(desk), rounded)
    const keys = bank.asked.map(({ table, indicator, window }) => `${indicator ?? table} ${window.from}`)
    assert.equal(new Set(keys).size, keys.length)
    bank.asked.length = 0
    await desk.sync()
    bank.asked.length = 0
    assert.deepEqual(await desk.refine(), [], 'once a day')
    assert.deepEqual(bank.asked, [])
  }
  bank.fault = undefined
  clock.now = new Date('2026-03-26T12:00:00Z')
  await desk.refine()
  assert.equal(await roundedCount(desk), 0)
  assert.deepEqual(await selectRevisions(desk.db, { kind: 'correction' }), [])
})

test('refining requests nothing without an exact source', async (t) => {
  const desk = await openRounded(t)
  desk.bank.roundedTo = 2
  assert.deepEqual(await desk.refine(), [])
  assert.deepEqual(desk.bank.asked, [])
})

test('a sync that comes in between is not refused, and refining goes on after it', async (t) => {
  const desk = await openRounded(t)
  let between: Promise<unknown> | undefined
  desk.bank.fault = () => {
    if (desk.bank.asked.length === 3) between ??= desk.sync()
    return undefined
  }
  const runs = await desk.refine()
  await between
  assert.equal(await roundedCount(desk), 0)
  const rows = (await selectRuns(desk.db, { limit: 9 })).reverse().slice(1)
  assert.deepEqual(
    rows.map(({ trigger, status, message }) => [trigger, status, message]),
    [
      ['refine', 'parcial', 'interrupted'],
      ['cli', 'ok', null],
      ['refine', 'ok', null],
    ],
  )
  assert.equal(runs.length, 1)
  assert.ok(
    (rows[0]?.updated ?? 0) + (rows[0]?.unchanged ?? 0) > 0,
    'what was done until then is in the record',
  )
})

test('refining resumes where it was stopped', async (t) => {
  const desk = await openRounded(t)
  const stop = new AbortController()
  desk.bank.fault = () => {
    if (desk.bank.asked.length === 4) stop.abort()
    stop.signal.throwIfAborted()
    return undefined
  }
  const [run] = await desk.refine(stop.signal)
  assert.deepEqual([run?.status, run?.message], ['parcial', 'stopped, goes on later'])
  desk.bank.fault = undefined
  const before = desk.bank.asked
    .slice(0, 3)
    .map(({ table, indicator, window }) => `${indicator ?? table} ${window.to}`)
  desk.bank.asked.length = 0
  assert.equal((await desk.refine())[0]?.status, 'ok')
  assert.equal(await roundedCount(desk), 0)
  const after = desk.bank.asked.map(({ table, indicator, window }) => `${indicator ?? table} ${window.to}`)
  assert.deepEqual(
    after.filter((one) => before.includes(one)),
    [],
  )
})

test('refining ends with a problem when the source fails, and resumes at the next attempt', async (t) => {
  const desk = await openRounded(t)
  desk.bank.fault = ({ table }) => {
    if (table === '520') throw new FetchFailure('HTTP 500')
    return undefined
  }
  const [run] = await desk.refine()
  assert.deepEqual([run?.status, run?.message], ['parcial', '520: HTTP 500'])
  desk.bank.fault = undefined
  assert.equal((await desk.refine())[0]?.status, 'ok')
  assert.equal(await roundedCount(desk), 0)
})

test('values that a rounding source gives later are read again, and only these', async (t) => {
  const desk = await openRounded(t)
  await desk.refine()
  const { bank } = desk
  bank.roundedTo = 2
  bank.supportsSingleSeries = false
  bank.publish[EUR] = (day) => (day <= '2026-03-27' ? '1.09' : undefined)
  desk.clock.now = new Date('2026-03-27T12:00:00Z')
  await desk.sync()
  assert.ok((await roundedCount(desk)) > 0)
  assert.equal((await desk.stored('EUR'))['2026-03-20'], EXACT, 'what is exact stays so')
  bank.roundedTo = undefined
  bank.supportsSingleSeries = true
  bank.asked.length = 0
  await desk.refine()
  assert.equal(await roundedCount(desk), 0)
  assert.ok(bank.asked.length <= 3, `${bank.asked.length} requests`)
})
