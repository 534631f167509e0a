// Values of an optional source that are more than 20 percent from the one before them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selectDescribedRuns } from '../../../../src/store/rates/sync-runs.ts'
import { describeJumps, findJumps } from '../../../../src/sync/windows/jumps.ts'
import { EUR, openDesk } from '../../../support/rates/memory-bank.ts'

const rate = (rate_date: string, value: string, series_id = 1) => ({ series_id, rate_date, value })

test('findJumps compares each written value with its neighbours of the same series', () => {
  const [a, b, c] = [rate('2026-03-02', '10'), rate('2026-03-03', '12'), rate('2026-03-06', '14.41')]
  const other = rate('2026-03-05', '900', 2)
  assert.deepEqual(findJumps([c, a, other, b], [a, b, c, other]), [{ before: b, after: c }])
  assert.deepEqual(findJumps([a, b, c], [b]), [{ before: b, after: c }], 'the value after a written one')
  assert.deepEqual(findJumps([a, b, c], [a]), [], 'no value of a former run is named again')
  const halved = rate('2026-03-03', '7.99')
  assert.deepEqual(findJumps([a, halved], [halved]), [{ before: a, after: halved }])
  assert.deepEqual(findJumps([a, rate('2026-03-03', '8')], [a]), [], 'exactly 20 percent')
})

test('findJumps compares a value with one that is at most 15 days earlier', () => {
  const before = rate('2026-03-02', '10')
  const [near, far] = [rate('2026-03-17', '20'), rate('2026-03-18', '20')]
  assert.deepEqual(findJumps([before, near], [near]), [{ before, after: near }])
  assert.deepEqual(findJumps([before, far], [far]), [])
})

test('describeJumps names three values, and counts the others', () => {
  const jump = { before: rate('2026-03-02', '10'), after: rate('2026-03-03', '1') }
  const words = describeJumps('ecb', [jump, jump, jump, jump, jump], new Map([[1, 'EUR/TRY']]))
  assert.equal(words.length, 4)
  assert.equal(
    words[0],
    'ecb: EUR/TRY of 2026-03-03 is 1, more than 20 percent from 10 of 2026-03-02, stored as published',
  )
  assert.equal(words[3], 'ecb: 2 more values are far from the one before them')
})

for (const isOptional of [true, undefined] as const) {
  test(`a jump of 20 percent ${isOptional ? 'of an optional source is stored, and the run is parcial' : 'of the bank is stored without a message'}`, async (t) => {
    const desk = await openDesk(t, { backfillFrom: '2026-03-20' })
    const { bank } = desk
    if (isOptional) bank.provider = { ...bank.provider, isOptional }
    bank.publish[EUR] = (day) => (day > desk.clock.today() ? undefined : day < '2026-03-24' ? '1.1' : '1.4')
    const run = await desk.sync()
    const message =
      '520: EUR/USD of 2026-03-24 is 1.4, more than 20 percent from 1.1 of 2026-03-23, stored as published'
    assert.deepEqual([run.status, run.message], isOptional ? ['parcial', message] : ['ok', null])
    assert.equal((await desk.stored('EUR'))['2026-03-24'], '1.4')
    const [described] = await selectDescribedRuns(desk.db, 1)
    if (isOptional) assert.deepEqual(described?.failures, [{ code: 'other', of: 'bccr' }])
    const next = await desk.sync()
    assert.deepEqual([next.status, next.message], ['ok', null], 'it is named once')
  })
}
