// The number of every service is that of /api/v1/convert, to the last digit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, dayNumber } from '../../../src/values/dates.ts'
import { scaled } from '../../faults/scale.ts'
import { fc } from '../../support/fast-check.ts'
import { openApp } from '../support.ts'
import { numberLiteral, TODAY } from './keyed-support.ts'

const app = await openApp({ listen: { compat: { open: undefined, serveRounded: false } } })
await app.sync()

const series = await app.json<{ base_currency: string; quote_currency: string }[]>('/api/v1/series')
const CODES = [...new Set(series.flatMap((one) => [one.base_currency, one.quote_currency]))]
type Place = [path: string, ...names: string[]]

const SPAN = dayNumber(TODAY) - dayNumber('2026-01-01')

test('every service with a key has the number of /convert, for a pair, a side and a day', async () => {
  const request = fc.record({
    from: fc.constantFrom(...CODES),
    to: fc.oneof(fc.constantFrom(...CODES), fc.constant('CRC')),
    side: fc.constantFrom('compra', 'venta'),
    ago: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: SPAN + 5 })),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ from, to, side, ago }) => {
      const day = addDays(TODAY, -ago)
      const expected = await readRate(`/api/v1/convert?amount=1&from=${from}&to=${to}&type=${side}&on=${day}`)
      const conversion = { from, to, side, day, today: ago === 0 }
      for (const [path, ...names] of numberLocations(conversion)) {
        const and = path.includes('?') ? '&' : '?'
        const body = await (await app.get(`${path}${and}tipo=${side}`)).text()
        // A currency in itself is 1 before the data too, and a table then has no entry for it.
        if (from === to && expected === '1' && numberLiteral(body, ...names) === undefined) continue
        assert.equal(numberLiteral(body, ...names), expected, `${path} ${side}: ${body.slice(0, 200)}`)
      }
    }),
    { numRuns: scaled({ short: 20, long: 60 }) },
  )
})

async function readRate(path: string): Promise<string | undefined> {
  const { rate } = (await (await app.get(path)).json()) as { rate?: string }
  return rate
}

/** Where each service has the number: a path, and the names that lead to the number. */
function numberLocations(conversion: { from: string; to: string; day: string; today: boolean }): Place[] {
  const { from, to, day, today } = conversion
  const [year, month, date] = day.split('-')
  const onDay: Place[] = [
    ...(from === to
      ? []
      : ([
          [`/historical?date=${day}&source=${from}`, 'quotes', from + to],
          [`/timeframe?start_date=${day}&end_date=${day}&source=${from}`, 'quotes', day, from + to],
        ] satisfies Place[])),
    [`/convert?from=${from}&to=${to}&date=${day}`, 'info', 'quote'],
    [`/convert?from=${from}&to=${to}&date=${day}&amount=1`, 'result'],
    [`/api/${day}?base=${from}`, 'rates', to],
    [`/api/timeseries?start_date=${day}&end_date=${day}&base=${from}&symbols=${to}`, 'rates', day, to],
    [`/api/historical/${day}.json?base=${from}&symbols=${to}`, 'rates', to],
    [`/api/time-series.json?start=${day}&end=${day}&base=${from}`, 'rates', day, to],
    [`/v6/history/${from}/${year}/${month}/${date}`, 'conversion_rates', to],
  ]
  const now: Place[] = [
    ...(from === to
      ? []
      : ([[`/live?source=${from}&currencies=${to}`, 'quotes', from + to]] satisfies Place[])),
    [`/api/latest?base=${from}`, 'rates', to],
    [`/api/latest.json?base=${from}`, 'rates', to],
    [`/api/convert/1/${from}/${to}`, 'response'],
    [`/v6/any/latest/${from}`, 'conversion_rates', to],
    [`/v6/latest/${from}`, 'rates', to],
    [`/v4/latest/${from}`, 'rates', to],
    [`/v6/pair/${from}/${to}`, 'conversion_rate'],
  ]
  return today ? [...onDay, ...now] : onDay
}
