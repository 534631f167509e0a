import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { selectLaterCoverageChanges } from '../../../../src/store/rates/change-log.ts'
import { replaceCoverage, selectCoverage } from '../../../../src/store/rates/coverage.ts'
import { ensureCatalogue } from '../../../../src/sync/catalogue.ts'
import type { Interval } from '../../../../src/values/intervals.ts'
import { createMemoryBank } from '../../../support/rates/memory-bank.ts'
import { fixedClock, temporaryDatabase } from '../../../support/temporary.ts'

type Change = [id: number, days: Interval[]]

const LONG_AGO = { from: '1983-01-01', to: '1983-12-31' }
const NOW = { from: '2026-01-01', to: '2026-03-24' }
const DAY = { from: '2025-12-01', to: '2025-12-01' }

async function open(t: TestContext) {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  return db
}

test('replaces the days of the series given, of one kind', async (t) => {
  const db = await open(t)
  assert.deepEqual(await selectCoverage(db), new Map())
  const first: Change[] = [
    [1, [LONG_AGO, NOW]],
    [2, [NOW]],
    [3, [DAY]],
  ]
  await replaceCoverage(db, 'answered', new Map(first), 1)
  await replaceCoverage(db, 'final', new Map([[1, [LONG_AGO]]]), 1)
  const second: Change[] = [
    [2, [LONG_AGO, DAY, NOW]],
    [3, []],
  ]
  await replaceCoverage(db, 'answered', new Map(second), 2)
  await replaceCoverage(db, 'answered', new Map(), 2)
  assert.deepEqual(
    await selectCoverage(db),
    new Map([
      [1, [LONG_AGO, NOW]],
      [2, [LONG_AGO, DAY, NOW]],
    ]),
  )
  assert.deepEqual(await selectCoverage(db, 'final'), new Map([[1, [LONG_AGO]]]))
  assert.deepEqual(await selectCoverage(db, 'exact'), new Map())
  assert.deepEqual(await selectCoverage(db, 'answered', [2, 3]), new Map([[2, [LONG_AGO, DAY, NOW]]]))
})

test('the record has what changed, once for all series that changed alike', async (t) => {
  const db = await open(t)
  await replaceCoverage(db, 'answered', new Map([1, 2, 3].map((id) => [id, [NOW]])), 1)
  await replaceCoverage(db, 'final', new Map([[1, [LONG_AGO]]]), 2)
  await replaceCoverage(db, 'answered', new Map([[1, [NOW]]]), 3)
  const longer = { from: NOW.from, to: '2026-03-25' }
  const hollow = [
    { from: NOW.from, to: '2026-01-31' },
    { from: '2026-02-02', to: NOW.to },
  ]
  const last: Change[] = [
    [1, [longer]],
    [2, hollow],
    [3, [longer]],
  ]
  await replaceCoverage(db, 'answered', new Map(last), 4)
  const removal = { kind: 'removed', days: { from: '2026-02-01', to: '2026-02-01' }, series: [2] }
  const addition = { kind: 'added', days: { from: '2026-03-25', to: '2026-03-25' }, series: [1, 3] }
  assert.deepEqual(await selectLaterCoverageChanges(db, 0), [
    removal,
    addition,
    { kind: 'added', days: NOW, series: [1, 2, 3] },
  ])
  assert.deepEqual(await selectLaterCoverageChanges(db, 3), [removal, addition])
  assert.deepEqual(await selectLaterCoverageChanges(db, 4), [])
})
