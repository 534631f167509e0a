// A source that is another cambista has days that it has not synchronized itself. A run reads all others, whatever the
// holes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bccrCatalogue } from '../../../../src/providers/bccr/catalogue.ts'
import { FetchFailure, UnsynchronizedFailure } from '../../../../src/providers/provider.ts'
import { refine } from '../../../../src/sync/refine.ts'
import { retryReason, syncAll } from '../../../../src/sync/run.ts'
import { addDays } from '../../../../src/values/dates.ts'
import { addInterval, findGaps, type Interval } from '../../../../src/values/intervals.ts'
import { AUD, type Desk, EUR, JPY, listDays, openDesk, XDR } from '../../../support/rates/memory-bank.ts'
import { type Holes, mirrorHoles } from '../../../support/rates/mirror.ts'

const FLOOR = '2024-01-01'
const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
const HOLE = { from: '2024-02-20', to: '2024-03-04' }
const BOTH: Holes = { 317: [HOLE], 318: [HOLE] }
const PARITIES = [EUR, JPY, AUD, XDR]

function ofAll(codes: readonly string[], holes: readonly Interval[]): Holes {
  return Object.fromEntries(codes.map((code) => [code, holes]))
}

/** The days from the floor to tomorrow that are in no hole. */
function outsideDays(...holes: Interval[]): Interval[] {
  const set = holes.reduce<Interval[]>(addInterval, [])
  return findGaps(set, { from: FLOOR, to: TOMORROW })
}

async function coveredSet(desk: Desk, currency: string): Promise<readonly Interval[]> {
  const covered = await desk.covered(currency)
  return covered === undefined ? [] : [covered].flat()
}

test('a run reads all days but those that the source has not synchronized', async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  mirrorHoles(desk.bank, BOTH)
  const run = await desk.sync()
  assert.equal(run.status, 'parcial')
  assert.equal(run.message, 'the source has not synchronized 2024-02-20 to 2024-03-04 of 317 and 318')
  assert.equal(run.current, true)
  assert.deepEqual(await coveredSet(desk, 'CRC'), outsideDays(HOLE))
  assert.deepEqual(await coveredSet(desk, 'EUR'), outsideDays())
  const rates = await desk.stored('CRC')
  assert.deepEqual(
    Object.keys(rates),
    outsideDays(HOLE).flatMap(({ from, to }) => listDays(from, to)),
  )
})

test('both sides around a hole are stored with the same request window', async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  mirrorHoles(desk.bank, BOTH)
  await desk.sync()
  const around = desk.bank.asked.filter(({ table, window }) => table === '1' && window.from === '2024-03-05')
  assert.deepEqual(
    around.map(({ indicator }) => indicator),
    ['317', '318'],
  )
})

test("today's values arrive in every run, however many holes the newest window has", async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  const everyThirdDay = listDays('2025-04-01', '2026-03-23')
    .filter((_, at) => at % 3 === 0)
    .map((day) => ({ from: day, to: day }))
  mirrorHoles(desk.bank, { ...ofAll(['317', '318', ...PARITIES], everyThirdDay) })
  const run = await desk.sync({ trigger: 'scheduler' })
  assert.equal(run.current, true)
  for (const currency of ['CRC', 'EUR', 'JPY', 'AUD', 'XDR']) {
    assert.ok(TODAY in (await desk.stored(currency)), currency)
  }
  assert.match(run.message ?? '', /did not suffice/)
  desk.clock.now = new Date('2026-03-25T12:00:00Z')
  const next = await desk.sync({ trigger: 'scheduler' })
  assert.equal(next.current, true)
})

test('a scheduled run makes at most 40 requests around holes, and goes on with older windows', async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  const holes = listDays('2025-01-01', '2026-03-20').filter((_, at) => at % 2 === 0)
  mirrorHoles(
    desk.bank,
    ofAll(
      ['317', '318'],
      holes.map((day) => ({ from: day, to: day })),
    ),
  )
  const run = await desk.sync({ trigger: 'scheduler' })
  const plain = await openDesk(t, { backfillFrom: FLOOR })
  await plain.sync({ trigger: 'scheduler' })
  const more = desk.bank.asked.length - plain.bank.asked.length
  assert.ok(more <= 40 + 2, `${more} more requests`) // windows of 366 days may begin on other days
  assert.ok('2024-02-01' in (await desk.stored('CRC')))
  assert.match(
    run.message ?? '',
    /the requests of a run did not suffice for the days around them: "cambista sync" reads the rest$/,
  )
  desk.bank.asked.length = 0
  const byHand = await desk.sync({ trigger: 'cli' })
  assert.doesNotMatch(byHand.message ?? '', /did not suffice/)
  assert.deepEqual(
    await coveredSet(desk, 'CRC'),
    outsideDays(...holes.map((day) => ({ from: day, to: day }))),
  )
})

test("today's values of a table arrive with few requests, whatever each of its series lacks", async (t) => {
  const desk = await openDesk(t, { catalogue: bccrCatalogue, backfillFrom: '2026-03-10' })
  const codes = [...desk.bank.listed.keys()]
  const holes = (at: number) => [at + 4, at + 6, at + 8].map((days) => addDays(TODAY, -days))
  mirrorHoles(
    desk.bank,
    Object.fromEntries(
      codes.slice(1).map((code, at) => [code, holes(at % 5).map((day) => ({ from: day, to: day }))]),
    ),
  )
  const run = await desk.sync({ trigger: 'scheduler' })
  const { count } = desk.db.fn
  const today = await desk.db
    .selectFrom('rates')
    .select(count<number>('value').as('values'))
    .where('rate_date', '=', TODAY)
    .executeTakeFirstOrThrow()
  assert.equal(Number(today.values), codes.length + 2)
  assert.match(run.message ?? '', /did not suffice/)
  const usual = 3 + codes.length // the sides, the table, and alone what it left out
  assert.ok(desk.bank.asked.length <= usual + 40 + 2, String(desk.bank.asked.length))
})

test('a hole of one side leaves the other side whole', async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  mirrorHoles(desk.bank, { 317: [HOLE, { from: '2026-03-10', to: '2026-03-12' }] })
  const run = await desk.sync()
  assert.equal(
    run.message,
    'the source has not synchronized 2026-03-10 to 2026-03-12 of 317, 2024-02-20 to 2024-03-04 of 317',
  )
  assert.deepEqual(await coveredSet(desk, 'CRC'), outsideDays())
})

test('series that a table omits are requested alone, around the holes', async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  const recent = { from: '2026-03-01', to: '2026-03-03' }
  mirrorHoles(desk.bank, { [EUR]: [HOLE, recent], [JPY]: [HOLE] })
  const run = await desk.sync({ trigger: 'scheduler' })
  assert.equal(
    run.message,
    'the source has not synchronized 2026-03-01 to 2026-03-03 of 333, 2024-02-20 to 2024-03-04 of 333 and 325',
  )
  assert.deepEqual(await coveredSet(desk, 'EUR'), outsideDays(HOLE, recent))
  assert.deepEqual(await coveredSet(desk, 'JPY'), outsideDays(HOLE))
  assert.deepEqual(await coveredSet(desk, 'AUD'), outsideDays())
})

test('a table of which every series lacks days is read around them, series by series where they differ', async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  const long = { from: '2026-02-01', to: '2026-02-20' }
  const short = { from: '2026-02-10', to: '2026-02-11' }
  mirrorHoles(desk.bank, { ...ofAll(PARITIES, [long]), [EUR]: [short, HOLE], [JPY]: [long, HOLE] })
  await desk.sync()
  assert.deepEqual(await coveredSet(desk, 'EUR'), outsideDays(HOLE, short))
  assert.deepEqual(await coveredSet(desk, 'JPY'), outsideDays(HOLE, long))
  assert.deepEqual(await coveredSet(desk, 'AUD'), outsideDays(long))
  assert.deepEqual(await coveredSet(desk, 'XDR'), outsideDays(long))
})

test('days without a value stay covered while a whole table lacks days of other series', async (t) => {
  const desk = await openDesk(t, { catalogue: bccrCatalogue, backfillFrom: '2025-06-01' })
  const { bank } = desk
  const codes = [...bank.listed.keys()]
  // Each run has requests for 40 of the 45 series, and the second has none for this one.
  const code = codes[32] ?? ''
  const { base, quote } = bccrCatalogue.find(({ externalCode }) => externalCode === code) ?? {}
  const currency = (base === 'USD' ? quote : base) ?? ''
  const publish = bank.publish[code]
  bank.publish[code] = (day) => (day === '2025-10-05' ? null : publish?.(day))
  const long = { from: '2025-10-01', to: '2025-10-20' }
  mirrorHoles(bank, { ...ofAll(codes, [long]), [code]: [{ from: '2025-10-10', to: '2025-10-10' }] })
  await desk.sync()
  const covered = await coveredSet(desk, currency)
  assert.equal(covered.length, 2)
  for (let run = 0; run < 3; run++) {
    await desk.sync({ trigger: 'scheduler' })
    assert.deepEqual(await coveredSet(desk, currency), covered)
  }
})

test('a walk goes on before a hole of years, and to the beginning of the source', async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  const years = { from: '2024-06-01', to: '2026-01-31' }
  mirrorHoles(desk.bank, ofAll(['317', '318', ...PARITIES], [years]), '2024-04-01')
  await desk.sync({ trigger: 'scheduler' })
  for (const currency of ['CRC', 'EUR']) {
    const expected = outsideDays(years, { from: FLOOR, to: '2024-03-31' })
    assert.deepEqual(await coveredSet(desk, currency), expected, currency)
  }
})

test('years that a whole table lacks are not days that a run had no requests for', async (t) => {
  const desk = await openDesk(t, { catalogue: bccrCatalogue, backfillFrom: '2020-01-01' })
  mirrorHoles(desk.bank, {}, '2025-01-01')
  const run = await desk.sync({ trigger: 'scheduler' })
  assert.match(run.message ?? '', /^the source has not synchronized /)
  assert.doesNotMatch(run.message ?? '', /did not suffice/)
  assert.deepEqual(await desk.covered('EUR'), { from: '2025-01-01', to: TOMORROW })
})

test('days that the source has lost are not covered any more, unless a value is stored', async (t) => {
  const desk = await openDesk(t, { backfillFrom: '2026-02-01' })
  const { bank } = desk
  const publish = bank.publish[EUR]
  bank.publish[EUR] = (day) => (day === '2026-03-20' ? null : publish?.(day))
  await desk.sync()
  assert.deepEqual(await desk.covered('EUR'), { from: '2026-02-01', to: TOMORROW })
  mirrorHoles(bank, { [EUR]: [{ from: '2026-03-19', to: '2026-03-20' }] })
  await desk.sync()
  assert.deepEqual(await desk.covered('EUR'), [
    { from: '2026-02-01', to: '2026-03-19' },
    { from: '2026-03-21', to: TOMORROW },
  ])
  bank.fault = undefined
  const run = await desk.sync()
  assert.equal(run.status, 'ok')
  assert.deepEqual(await desk.covered('EUR'), { from: '2026-02-01', to: TOMORROW })
})

test('a run over a range goes round holes too', async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  mirrorHoles(desk.bank, { ...BOTH, ...ofAll(PARITIES, [HOLE]) })
  const range = { from: '2024-02-01', to: '2024-04-30' }
  const run = await desk.sync({ range })
  assert.equal(run.status, 'parcial')
  for (const currency of ['CRC', 'EUR', 'JPY']) {
    assert.deepEqual(await coveredSet(desk, currency), findGaps([HOLE], range), currency)
  }
})

test('a failure around a hole ends the walk as any other', async (t) => {
  const desk = await openDesk(t, { backfillFrom: FLOOR })
  mirrorHoles(desk.bank, BOTH)
  const mirrored = desk.bank.fault
  desk.bank.fault = (ask, usual) => {
    if (ask.window.from === '2024-03-05') throw new FetchFailure(`${ask.indicator}: HTTP 500`)
    return mirrored?.(ask, usual)
  }
  const run = await desk.sync()
  assert.match(run.message ?? '', /317: HTTP 500; 318: HTTP 500; the source has not synchronized/)
  desk.bank.fault = mirrored
  await desk.sync()
  assert.deepEqual(await coveredSet(desk, 'CRC'), outsideDays(HOLE))
})

test('a run that lacks unsynchronized days alone is made again after an hour, unless today is missing', async (t) => {
  for (const [holes, isSoon] of [
    [BOTH, false],
    [{ 317: [{ from: TODAY, to: TODAY }] }, true],
  ] as const) {
    const desk = await openDesk(t, { backfillFrom: FLOOR })
    mirrorHoles(desk.bank, holes)
    const { signal } = new AbortController()
    const ends = await syncAll(desk.deps, [desk.bank.provider], {
      trigger: 'scheduler',
      range: undefined,
      signal,
    })
    assert.deepEqual(retryReason(ends), { why: 'the sync was parcial', isSoon })
  }
})

test('a source that has synchronized nothing is an error', async (t) => {
  const desk = await openDesk(t, { backfillFrom: '2026-02-01' })
  mirrorHoles(desk.bank, {}, addDays(TODAY, 400))
  const run = await desk.sync()
  assert.deepEqual([run.status, run.current], ['error', false])
})

test('unsynchronized days outside the window cause no endless requests', async (t) => {
  const desk = await openDesk(t, { backfillFrom: '2026-02-01' })
  desk.bank.fault = ({ indicator }) => {
    if (indicator === '317') throw new UnsynchronizedFailure('317: HTTP 503', HOLE)
    return undefined
  }
  const run = await desk.sync()
  assert.match(run.message ?? '', /^the source has not synchronized .* of 317$/)
  assert.ok(desk.bank.asked.length < 20, String(desk.bank.asked.length))
})

test('refining goes round days that the source has not synchronized', async (t) => {
  const desk = await openDesk(t, { backfillFrom: '2026-02-01' })
  const { bank } = desk
  bank.roundedTo = 2
  await desk.sync()
  bank.roundedTo = undefined
  mirrorHoles(bank, {
    317: [{ from: '2026-02-10', to: '2026-02-11' }],
    [EUR]: [{ from: '2026-03-01', to: '2026-03-01' }],
  })
  const [run] = await refine(desk.deps, [bank.provider], { signal: new AbortController().signal })
  assert.equal(
    run?.message,
    'the source has not synchronized 2026-02-10 to 2026-02-11 of 317; the source has not synchronized 2026-03-01 of 333',
  )
  const rounded = await desk.db
    .selectFrom('rates')
    .select('rate_date')
    .where('rounded_to', 'is not', null)
    .execute()
  assert.deepEqual(rounded.map(({ rate_date }) => rate_date).sort(), [
    '2026-02-10',
    '2026-02-11',
    '2026-03-01',
  ])
})
