import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDayRates } from '../../src/web/server/answers.ts'
import { EN_MONTHS } from '../../src/web/texts/en-months.ts'
import { ES_MONTHS } from '../../src/web/texts/es-months.ts'
import { breaksIn } from '../../src/web/words/history.ts'
import { mergeHoles } from '../../src/web/words/holes.ts'

const hole = (from: string, to: string) => ({ from, to })

test('mergeHoles joins the holes of both sides that overlap or touch', () => {
  const { holes, isUnknown } = mergeHoles([
    [hole('2026-02-01', '2026-02-03'), hole('2026-03-01', '2026-03-01')],
    [hole('2026-01-30', '2026-02-02'), hole('2026-02-04', '2026-02-05')],
  ])
  assert.deepEqual(holes, [hole('2026-01-30', '2026-02-05'), hole('2026-03-01', '2026-03-01')])
  assert.equal(isUnknown, false)
})

test('mergeHoles tells unknown days from none', () => {
  assert.deepEqual(mergeHoles([undefined, []]), { holes: [], isUnknown: false })
  assert.deepEqual(mergeHoles([null, undefined]), { holes: [], isUnknown: true })
})

test('a line breaks off at a hole, and at a hole alone', () => {
  const days = ['2026-01-01', '2026-01-02', '2026-01-05', '2026-01-06']
  assert.deepEqual(breaksIn(days, [hole('2026-01-03', '2026-01-04')]), [2])
  assert.deepEqual(breaksIn(days, [hole('2025-12-01', '2025-12-31'), hole('2026-01-07', '2026-01-09')]), [])
})

test('the sentence of missing days names the first interval and counts the others', () => {
  assert.match(ES_MONTHS.missingDays.holes('1', '1', 0), /el 1\. /)
  assert.match(ES_MONTHS.missingDays.holes('1', '2', 1), /del 1 al 2 y un período más\./)
  assert.match(EN_MONTHS.missingDays.holes('1', '2', 3), /1 to 2 and 3 more periods\./)
})

test('X-Left-Out is read with the rates of a day, and may be absent', async () => {
  const leftOut = { headers: { 'X-Left-Out': '3,17' } }
  assert.deepEqual(await readDayRates(new Response('[]', leftOut)), { rates: [], leftOut: [3, 17] })
  assert.deepEqual(await readDayRates(new Response('[]')), { rates: [], leftOut: [] })
})
