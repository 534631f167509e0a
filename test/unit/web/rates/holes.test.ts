import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MISSING_DATA } from '../../../../src/web/i18n/missing-data.ts'
import { inLanguage } from '../../../../src/web/i18n/table-texts.ts'
import { lineBreaks } from '../../../../src/web/model/rates/history.ts'
import { mergeHoles } from '../../../../src/web/model/rates/holes.ts'

const hole = (from: string, to: string) => ({ from, to })

test('mergeHoles joins the holes of both sides that overlap or touch', () => {
  const { holes, isUnknown } = mergeHoles([
    [hole('2026-02-01', '2026-02-03'), hole('2026-03-01', '2026-03-01')],
    [hole('2026-01-30', '2026-02-02'), hole('2026-02-04', '2026-02-05')],
  ])
  assert.deepEqual(holes, [hole('2026-01-30', '2026-02-05'), hole('2026-03-01', '2026-03-01')])
  assert.equal(isUnknown, false)
})

test('mergeHoles distinguishes unknown holes from none', () => {
  assert.deepEqual(mergeHoles([undefined, []]), { holes: [], isUnknown: false })
  assert.deepEqual(mergeHoles([null, undefined]), { holes: [], isUnknown: true })
})

test('lineBreaks breaks a line at holes only, if gaps are short', () => {
  const days = ['2026-01-01', '2026-01-02', '2026-01-05', '2026-01-06']
  assert.deepEqual(lineBreaks(days, [hole('2026-01-03', '2026-01-04')]), [2])
  assert.deepEqual(lineBreaks(days, [hole('2025-12-01', '2025-12-31'), hole('2026-01-07', '2026-01-09')]), [])
})

test('texts of missing days name the first interval and count the others', () => {
  assert.match(inLanguage(MISSING_DATA, 'es').missingDays.holes('1', '1', 0), /el 1\. /)
  assert.match(inLanguage(MISSING_DATA, 'es').missingDays.holes('1', '2', 1), /del 1 al 2 y un período más\./)
  assert.match(inLanguage(MISSING_DATA, 'en').missingDays.holes('1', '2', 3), /1 to 2 and 3 more periods\./)
})
