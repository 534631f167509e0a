import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replaceCoverage, selectCoverage } from '../../src/store/coverage.ts'
import { ensureCatalogue } from '../../src/sync/catalogue.ts'
import { createMemoryBank } from '../support/rates/memory-bank.ts'
import { fixedClock, temporaryDatabase } from '../support/temporary.ts'

const LONG_AGO = { from: '1983-01-01', to: '1983-12-31' }
const NOW = { from: '2026-01-01', to: '2026-03-24' }
const DAY = { from: '2025-12-01', to: '2025-12-01' }

test('replaces the days of the series given, of one kind', async (t) => {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider])
  assert.deepEqual(await selectCoverage(db), new Map())
  await replaceCoverage(
    db,
    'answered',
    new Map([
      [1, [LONG_AGO, NOW]],
      [2, [NOW]],
      [3, [DAY]],
    ]),
  )
  await replaceCoverage(db, 'final', new Map([[1, [LONG_AGO]]]))
  await replaceCoverage(
    db,
    'answered',
    new Map([
      [2, [LONG_AGO, DAY, NOW]],
      [3, []],
    ]),
  )
  await replaceCoverage(db, 'answered', new Map())
  assert.deepEqual(
    await selectCoverage(db),
    new Map([
      [1, [LONG_AGO, NOW]],
      [2, [LONG_AGO, DAY, NOW]],
    ]),
  )
  assert.deepEqual(await selectCoverage(db, 'final'), new Map([[1, [LONG_AGO]]]))
  assert.deepEqual(await selectCoverage(db, 'exact'), new Map())
})
