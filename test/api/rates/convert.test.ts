// Conversion over HTTP. test/unit/domain/rates/convert.test.ts verifies every digit (decisions#conversion).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inventedValue } from '../../../src/demo/invented-rates.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import { formatFraction, inverted, parseFraction, rounded, times } from '../../unit/domain/support.ts'
import { errorDetail, openApp, validationItems } from '../support.ts'

type Conversion = {
  provider: string
  rate_date: string
  rate_type: string
  from_currency: string
  to_currency: string
  amount: string
  rate: string
  result: string
  path: string
  via_pivot: boolean
}
type Rate = { base_currency: string; quote_currency: string; rate_type: string; value: string }

const TODAY = '2026-03-24'
const FRIDAY = '2026-03-20'
const SUNDAY = '2026-03-22'

const app = await openApp({
  bank: {
    value: (code, day) => {
      const fixed: Record<string, string> = { 317: '490.5', 318: '500', 325: '150', 333: '1.25' }
      // XDR begins late: the series exists and has no value before that day.
      if (code === '99001' && day < '2026-02-02') return null
      const dollar = code === '317' || code === '318'
      return dollar || (inventedValue(code, day) && day <= TODAY) ? fixed[code] : undefined
    },
  },
})
await app.sync()

const convert = (query: string) => app.json<Conversion>(`/api/v1/convert?${query}`)

test('a direct conversion has every field', async () => {
  assert.deepEqual(await convert('amount=10&from=USD&to=CRC'), {
    provider: 'bccr',
    rate_date: TODAY,
    rate_type: 'venta',
    from_currency: 'USD',
    to_currency: 'CRC',
    amount: '10',
    rate: '500',
    result: '5000',
    path: 'USD -> CRC',
    via_pivot: false,
  })
})

// Expected rates, computed by hand from the published values above.
const routes: [query: string, rate: string, path: string, side: string, pivot: boolean][] = [
  ['from=USD&to=CRC&type=venta', '500', 'USD -> CRC', 'venta', false],
  ['from=USD&to=CRC&type=compra', '490.5', 'USD -> CRC', 'compra', false],
  ['from=CRC&to=USD', '0.002', 'CRC -> USD', 'venta', false],
  ['from=CRC&to=USD&type=compra', '0.00203873598369011', 'CRC -> USD', 'compra', false],
  ['from=EUR&to=USD', '1.25', 'EUR -> USD', 'referencia', false],
  ['from=USD&to=EUR', '0.8', 'USD -> EUR', 'referencia', false],
  ['from=USD&to=JPY&type=compra', '150', 'USD -> JPY', 'referencia', false],
  ['from=JPY&to=USD&type=referencia', '0.00666666666666667', 'JPY -> USD', 'referencia', false],
  ['from=JPY&to=CRC', '3.33333333333333', 'JPY -> USD -> CRC', 'venta', true],
  ['from=JPY&to=CRC&type=compra', '3.27', 'JPY -> USD -> CRC', 'compra', true],
  ['from=CRC&to=JPY', '0.3', 'CRC -> USD -> JPY', 'venta', true],
  ['from=EUR&to=CRC', '625', 'EUR -> USD -> CRC', 'venta', true],
  ['from=EUR&to=JPY&type=referencia', '187.5', 'EUR -> USD -> JPY', 'referencia', true],
  ['from=JPY&to=EUR&type=venta', '0.00533333333333333', 'JPY -> USD -> EUR', 'referencia', true],
  ['from=USD&to=USD', '1', 'USD -> USD', 'referencia', false],
  ['from=CRC&to=CRC&type=compra', '1', 'CRC -> CRC', 'referencia', false],
  ['from=jpy&to=Jpy&type=referencia', '1', 'JPY -> JPY', 'referencia', false],
  ['from=usd&to=crc&provider=bccr', '500', 'USD -> CRC', 'venta', false],
]
for (const [query, rate, path, side, pivot] of routes) {
  test(`${query} is converted at ${rate} over ${path}`, async () => {
    const answer = await convert(`amount=1.50&${query}`)
    assert.deepEqual(
      [answer.rate, answer.path, answer.rate_type, answer.via_pivot, answer.amount, answer.rate_date],
      [rate, path, side, pivot, '1.5', TODAY],
    )
    assert.equal(answer.result, formatFraction(times(parseFraction('1.5'), parseFraction(rate))))
    assert.deepEqual([answer.from_currency, answer.to_currency], [path.slice(0, 3), path.slice(-3)])
  })
}

test('each of the 45 parities converts to the colon, to each other and back, as exact fractions do', async () => {
  const rates = await app.json<Rate[]>('/api/v1/rates')
  const inDollars = new Map([['USD', parseFraction('1')]])
  for (const { base_currency, quote_currency, rate_type, value } of rates) {
    const exact = parseFraction(value)
    if (base_currency !== 'USD') inDollars.set(base_currency, exact)
    else if (rate_type !== 'compra') inDollars.set(quote_currency, inverted(exact))
  }
  assert.equal(inDollars.size, 47)
  const published = new Map(rates.map((one) => [`${one.base_currency} ${one.quote_currency}`, one.value]))
  published.set('USD CRC', '500')
  const amount = `${'9'.repeat(30)}.${'9'.repeat(20)}`
  const others = ['CRC', 'USD', 'EUR', 'JPY', 'VND', 'BHD']
  for (const one of inDollars.keys()) {
    for (const [from, to] of others.flatMap((other) => [
      [one, other],
      [other, one],
    ])) {
      const exact = times(
        inDollars.get(String(from)) ?? parseFraction('0'),
        inverted(inDollars.get(String(to)) ?? parseFraction('0')),
      )
      const rate = from === to ? '1' : (published.get(`${from} ${to}`) ?? rounded(exact, 15))
      const answer = await convert(`amount=${amount}&from=${from}&to=${to}`)
      assert.equal(answer.rate, rate, `${from} ${to}`)
      assert.equal(
        answer.result,
        formatFraction(times(parseFraction(amount), parseFraction(rate))),
        `${from} ${to}`,
      )
    }
  }
  assert.equal(bccrCatalogue.length, 47)
})

const amounts: [sent: string, canonical: string][] = [
  ['1', '1'],
  ['.5', '0.5'],
  ['5.', '5'],
  ['%2B5', '5'],
  ['%2B.5', '0.5'],
  ['007', '7'],
  ['1.500', '1.5'],
  ['9'.repeat(30), '9'.repeat(30)],
  [`0.${'0'.repeat(19)}1`, `0.${'0'.repeat(19)}1`],
  [`1.${'0'.repeat(20)}`, '1'],
  [`1.${'0'.repeat(500)}`, '1'],
  [`${'0'.repeat(500)}${'9'.repeat(30)}`, '9'.repeat(30)],
  ['1e3', '1000'],
  ['1E%2B3', '1000'],
  ['1e-05', '0.00001'],
  ['1.5e29', `15${'0'.repeat(28)}`],
  ['1e-20', `0.${'0'.repeat(19)}1`],
  ['+1', '1'],
  ['%201.50%20', '1.5'],
  ['1%0A', '1'],
  [`${'9'.repeat(30)}.${'9'.repeat(20)}`, `${'9'.repeat(30)}.${'9'.repeat(20)}`],
]
for (const [text, form] of amounts) {
  test(`the amount ${text.slice(0, 40)} is accepted`, async () => {
    const { amount, result } = await convert(`amount=${text}&from=USD&to=CRC`)
    assert.equal(amount, form)
    assert.equal(result, formatFraction(times(parseFraction(form), parseFraction('500'))))
  })
}

const refused = [
  '9'.repeat(31),
  '1e30',
  '1e-21',
  '1e999999999',
  `1e${'9'.repeat(5000)}`,
  '1e+3',
  `0.${'0'.repeat(20)}1`,
  `.${'1'.repeat(21)}`,
  '0',
  '-1',
]
for (const amount of [
  ...refused,
  '-.5',
  '0.0',
  '0e3',
  'NaN',
  'Infinity',
  '',
  '%20',
  '1%205',
  '-1e3',
  '1,5',
]) {
  test(`the amount ${JSON.stringify(amount.slice(0, 40))} is a 422`, async () => {
    const [item, ...rest] = await validationItems(app, `/api/v1/convert?amount=${amount}&from=USD&to=CRC`)
    assert.deepEqual([item?.loc, item?.type, rest], [['query', 'amount'], 'decimal', []])
  })
}

const missing: [title: string, query: string][] = [
  ['an unknown source', 'from=XXX&to=USD'],
  ['an unknown target', 'from=USD&to=XXX'],
  ['an unknown currency into itself', 'from=XXX&to=XXX'],
  ['an unknown provider', 'from=USD&to=CRC&provider=nobody'],
  ['an unknown provider, even into itself', 'from=USD&to=USD&provider=nobody'],
  ['referencia of the colon', 'from=USD&to=CRC&type=referencia'],
  ['referencia of the colon, backwards', 'from=CRC&to=USD&type=referencia'],
  ['referencia on the way to the colon', 'from=EUR&to=CRC&type=referencia'],
  ['referencia on the way from the colon', 'from=CRC&to=JPY&type=referencia'],
  ['a day before the first value', 'from=USD&to=CRC&on=2025-12-31'],
  ['a day before the first value of one leg', 'from=XDR&to=CRC&on=2026-02-01'],
]
for (const [title, query] of missing) {
  test(`/convert has no rate for ${title}`, async () => {
    await errorDetail(app, `/api/v1/convert?amount=1&${query}`, 404)
  })
}

const dates: [query: string, date: string][] = [
  [`from=USD&to=CRC&on=${SUNDAY}`, SUNDAY],
  [`from=USD&to=JPY&on=${SUNDAY}`, FRIDAY],
  [`from=JPY&to=CRC&on=${SUNDAY}`, FRIDAY],
  [`from=CRC&to=JPY&on=${SUNDAY}`, FRIDAY],
  ['from=USD&to=CRC&on=2026-03-25', '2026-03-25'],
  ['from=JPY&to=CRC&on=2026-03-25', TODAY],
  ['from=USD&to=CRC&on=2999-12-31', '2026-03-25'],
  [`from=USD&to=USD&on=${SUNDAY}`, SUNDAY],
  ['from=USD&to=USD&on=1900-01-01', '1900-01-01'],
  ['from=EUR&to=EUR', TODAY],
  ['from=XDR&to=USD&on=2026-02-02', '2026-02-02'],
]
for (const [query, date] of dates) {
  test(`${query} has the date ${date}, the older of its days`, async () => {
    assert.equal((await convert(`amount=1&${query}`)).rate_date, date)
  })
}

const ROUND_BY = 'amount=1.005&from=USD&to=CRC&type=compra' // 492.9525
for (const [query, result] of [
  ['decimals=2', '492.95'],
  ['decimals=3', '492.953'],
  ['decimals=3&rounding=half-up', '492.953'],
  ['decimals=3&rounding=half-even', '492.952'],
  ['decimals=3&rounding=down', '492.952'],
  ['decimals=0', '493'],
  ['decimals=00', '493'],
  ['decimals=6', '492.952500'],
  ['', '492.9525'],
] as const) {
  test(`${query || 'neither decimals nor rounding'} makes the result ${result}, and changes no other field`, async () => {
    const [exact, answer] = [await convert(ROUND_BY), await convert(`${ROUND_BY}&${query}`)]
    assert.equal(exact.result, '492.9525')
    assert.deepEqual(answer, { ...exact, result })
  })
}

test('a rounded result may be zero, and CSV has its decimals too', async () => {
  assert.equal((await convert('amount=0.001&from=CRC&to=USD&decimals=2')).result, '0.00')
  const path = '/api/v1/convert.csv?amount=5&from=USD&to=CRC&decimals=2'
  assert.match(await (await app.get(path)).text(), /,5,500,2500\.00,/)
  assert.match(await (await app.get(`${path}&dialect=es-CR`)).text(), /;5;500;2500,00;/)
})

test('decimals and rounding are part of the ETag', async () => {
  const queries = ['', '&decimals=2', '&decimals=3', '&decimals=3&rounding=down']
  const tags = await Promise.all(
    queries.map(async (query) => (await app.get(`/api/v1/convert?${ROUND_BY}${query}`)).headers.get('etag')),
  )
  assert.equal(new Set(tags).size, queries.length)
})

for (const [query, name, message] of [
  ['decimals=21', 'decimals', 'must be an integer from 0 to 20'],
  ['decimals=-1', 'decimals', 'must be an integer from 0 to 20'],
  ['decimals=2.5', 'decimals', 'must be an integer from 0 to 20'],
  ['decimals=', 'decimals', 'must be an integer from 0 to 20'],
  ['decimals=2&rounding=up', 'rounding', 'must be half-up, half-even or down'],
  ['rounding=down', 'rounding', 'rounds to a number of decimals: give decimals too'],
] as const) {
  test(`/convert rejects ${query}: ${name} ${message}`, async () => {
    const items = await validationItems(app, `/api/v1/convert?${ROUND_BY}&${query}`)
    assert.deepEqual(
      items.map(({ loc, msg }) => [loc.at(-1), msg]),
      [[name, `${name} ${message}`]],
    )
  })
}
