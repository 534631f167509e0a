// Checks that the stored rates of the fake bank are complete.

import assert from 'node:assert/strict'
import { inventedValue } from '../../src/demo/invented-rates.ts'
import { selectCoverage } from '../../src/store/rates/coverage.ts'
import { selectRatesOfSeries } from '../../src/store/rates/rates.ts'
import { selectSeries } from '../../src/store/rates/series.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { listDays } from './rates/memory-bank.ts'

/** Checks that values are stored on the covered days, to the day, and on no others. Returns their number. */
export async function checkComplete(db: WriteDb): Promise<number> {
  const coverage = await selectCoverage(db)
  let count = 0
  for (const { id, external_code: code } of await selectSeries(db)) {
    const storedValues = new Map((await selectRatesOfSeries(db, id)).map((row) => [row.rate_date, row.value]))
    const intervals = coverage.get(id) ?? []
    const days = intervals.flatMap(({ from, to }) => listDays(from, to))
    const expected = days.filter((day) => inventedValue(code, day) !== undefined)
    assert.deepEqual([...storedValues.keys()], expected, `${code}: ${JSON.stringify(intervals)}`)
    for (const [day, value] of storedValues)
      assert.equal(value, inventedValue(code, day), `${code} on ${day}`)
    count += storedValues.size
  }
  return count
}
