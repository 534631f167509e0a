// Whether what is stored of the stand-in bank is whole.

import assert from 'node:assert/strict'
import { inventedValue } from '../../src/demo/invented-rates.ts'
import { selectCoverage } from '../../src/store/rates/coverage.ts'
import { selectRatesOfSeries } from '../../src/store/rates/rates.ts'
import { selectSeries } from '../../src/store/rates/series.ts'
import type { Db } from '../../src/store/tables.ts'
import { daysFrom } from './rates/memory-bank.ts'

/** Every stored value lies in what is covered, and what is covered is stored, to the day. How many there are. */
export async function checkComplete(db: Db): Promise<number> {
  const coverage = await selectCoverage(db)
  let count = 0
  for (const { id, external_code: code } of await selectSeries(db)) {
    const stored = new Map((await selectRatesOfSeries(db, id)).map((row) => [row.rate_date, row.value]))
    const covered = coverage.get(id) ?? []
    const days = covered.flatMap(({ from, to }) => daysFrom(from, to))
    const expected = days.filter((day) => inventedValue(code, day) !== undefined)
    assert.deepEqual([...stored.keys()], expected, `${code}: ${JSON.stringify(covered)}`)
    for (const [day, value] of stored) assert.equal(value, inventedValue(code, day), `${code} on ${day}`)
    count += stored.size
  }
  return count
}
