import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dollarSide, isDollar, staleness } from '../../../src/domain/rates/freshness.ts'
import { seriesOf } from '../support.ts'

const TODAY = '2026-03-24'

const ages: [newest: string | undefined, ageDays: number | undefined, words: string | undefined][] = [
  ['2026-03-25', -1, undefined],
  [TODAY, 0, undefined],
  ['2026-03-22', 2, undefined],
  ['2026-03-21', 3, 'the newest venta of the dollar is of 2026-03-21, 3 days ago'],
  ['2025-12-14', 100, 'the newest venta of the dollar is of 2025-12-14, 100 days ago'],
  [undefined, undefined, 'the dollar has no value of venta'],
]
for (const [newest, ageDays, words] of ages) {
  test(`a side whose newest value is ${newest ? `of ${newest}` : 'none'} is ${words ? 'stale' : 'fresh'}`, () => {
    const side = dollarSide('venta', newest, TODAY)
    assert.deepEqual(side, { rateType: 'venta', newest, ageDays })
    assert.equal(staleness(side), words)
  })
}

test('the dollar is that in colones, in this direction', () => {
  assert.ok(isDollar(seriesOf(1, 'USD', 'CRC', 'compra')))
  assert.ok(!isDollar(seriesOf(2, 'CRC', 'USD', 'compra')))
  assert.ok(!isDollar(seriesOf(3, 'EUR', 'USD', 'referencia')))
})
