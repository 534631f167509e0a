// The part of an engine's contract suite about rates: the queries of `EngineSql`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atomically, type Engine } from '../../src/store/engine.ts'
import { replaceCoverage, selectCoverage } from '../../src/store/rates/coverage.ts'
import {
  markSeriesChanged,
  type StoredRate,
  selectColumnsOfSeries,
  selectRatesOfSeries,
  upsertRates,
} from '../../src/store/rates/rates.ts'
import { selectStoredAtRuns } from '../../src/store/rates/stored-at.ts'
import { ensureCatalogue } from '../../src/sync/catalogue.ts'
import { createMemoryBank, listDays } from '../support/rates/memory-bank.ts'
import { fixedClock } from '../support/temporary.ts'
import type { OpenNodes } from './engine.ts'

const STORED_AT = Date.parse('2026-03-24T12:00:00.123Z')
export function testRates(name: string, open: OpenNodes): void {
  const openWithSeries = async (t: Parameters<OpenNodes>[0]): Promise<readonly [Engine, Engine]> => {
    const nodes = await open(t)
    await ensureCatalogue(nodes[0].db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
    return nodes
  }
  const rate = (series_id: number, rate_date: string, value: string, rounded_to: number | null = null) => ({
    ...{ series_id, rate_date, value, rounded_to },
  })

  test(`${name}: rates preserve their digits, and a later one replaces the one of its day`, async (t) => {
    const [{ db }, other] = await openWithSeries(t)
    const first = [
      rate(1, '1983-01-01', '0.0000000001'),
      rate(1, '2999-12-31', '12345678901234567890.1234567891'),
      rate(1, '2026-03-24', '517.2', 2),
      rate(2, '2026-03-24', '0'),
    ]
    await atomically(db, (trx) => upsertRates(trx, first, STORED_AT))
    await atomically(db, (trx) => upsertRates(trx, [rate(1, '2026-03-24', '517.21')], STORED_AT + 1))
    const plain = (rows: Partial<StoredRate>[]) => rows.map((row) => Object.values(row))
    assert.deepEqual(plain(await selectRatesOfSeries(other.db, 1)), [
      ['1983-01-01', '0.0000000001', null],
      ['2026-03-24', '517.21', null],
      ['2999-12-31', '12345678901234567890.1234567891', null],
    ])
    assert.deepEqual(plain(await selectRatesOfSeries(other.db, 2)), [['2026-03-24', '0', null]])
  })

  test(`${name}: a series is one column of text, by day`, async (t) => {
    const [{ db }, { longReads }] = await openWithSeries(t)
    const days = listDays('2020-01-01', '2026-01-01')
    const rates = days.map((day, at) => rate(1, day, `5${at}.5`, at % 3 === 0 ? 2 : null))
    await atomically(db, (trx) => upsertRates(trx, rates.toReversed(), STORED_AT))
    const [{ count, lines } = assert.fail(), none] = await selectColumnsOfSeries(longReads, [1, 2])
    const expected = rates.map(
      ({ rate_date, value, rounded_to }) => `${rate_date}${value}${rounded_to ? 'r2' : ''}`,
    )
    assert.equal(count, days.length)
    assert.deepEqual(lines.split('\n'), expected)
    assert.deepEqual(none, { id: 2, count: 0, lines: '' })
  })

  test(`${name}: the instants of a series are returned as runs, for its revision alone`, async (t) => {
    const [{ db, reads }] = await openWithSeries(t)
    const days = listDays('2026-01-01', '2026-01-06')
    const store = (from: number, to: number, at: number) =>
      upsertRates(
        db,
        days.slice(from, to).map((day) => rate(1, day, '1')),
        at,
      )
    await store(0, 6, STORED_AT)
    await store(2, 4, STORED_AT + 1)
    await markSeriesChanged(db, [1], 7)
    const runs = await selectStoredAtRuns(reads, { id: 1, revision: 7 })
    assert.deepEqual(
      runs?.map(({ from, storedAt }) => [from, storedAt]),
      [
        ['2026-01-01', STORED_AT],
        ['2026-01-03', STORED_AT + 1],
        ['2026-01-05', STORED_AT],
      ],
    )
    assert.equal(await selectStoredAtRuns(reads, { id: 1, revision: 6 }), undefined)
  })

  test(`${name}: covered days are replaced for the given series`, async (t) => {
    const [{ db }, other] = await openWithSeries(t)
    const [old, now] = [
      { from: '1983-01-01', to: '1983-12-31' },
      { from: '2026-01-01', to: '2026-03-24' },
    ]
    const replace = (kind: 'answered' | 'exact', days: Parameters<typeof replaceCoverage>[2]) =>
      atomically(db, (trx) => replaceCoverage(trx, kind, days, STORED_AT))
    await replace('answered', new Map([...[1, 2].map((id) => [id, [old, now]] as const)]))
    await replace('exact', new Map([[1, [old]]]))
    await replace('answered', new Map([[1, [now]]]))
    assert.deepEqual(
      await selectCoverage(other.db),
      new Map([
        [1, [now]],
        [2, [old, now]],
      ]),
    )
    assert.deepEqual(await selectCoverage(other.db, 'exact'), new Map([[1, [old]]]))
  })
}
