import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/terminal.ts'
import { loseDays } from '../support.ts'
import { ask, openShapes } from './support.ts'

const app = await openShapes()
const { compra, venta } = await app.json<{ compra: string; venta: string }>('/api/v1/rates/latest')
const { rate: euro } = await app.json<{ rate: string }>(
  '/api/v1/convert?amount=1&from=EUR&to=CRC&on=2026-03-22',
)

for (const [query, text] of [
  ['', venta],
  ['?de=usd&a=crc&tipo=compra', compra],
  ['?de=USD&a=CRC&decimal=,', venta.replace('.', ',')],
  ['?de=EUR&a=CRC&fecha=2026-03-22', euro],
  ['?de=USD&a=USD', '1'],
] as const) {
  test(`/compat/valor${query} is ${text} and nothing else`, async () => {
    const response = await fetch(`${app.app.url}/compat/valor${query}`)
    assert.deepEqual([response.status, await response.text()], [200, text])
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
  })
}

for (const [query, status, message] of [
  ['?de=XXX', 404, 'no rates of XXX are stored'],
  ['?fecha=2030-01-01', 422, 'fecha is in the future: today is 2026-03-24'],
  ['?fecha=1982-12-31', 422, 'there is no data before 2026-01-01'],
  ['?fecha=24/3/2026', 422, 'fecha must be a calendar day written YYYY-MM-DD, years 1900 to 2999'],
  ['?decimal=x', 422, 'decimal must be . or ,'],
  ['?tipo=x', 422, 'tipo must be compra or venta'],
] as const) {
  test(`/compat/valor${query} is ${status}`, async () => {
    assert.deepEqual(await ask(app, `/compat/valor${query}`), [status, message])
  })
}

const SYNONYMS: Readonly<Record<string, string>> = {
  ...{ from: 'de', base: 'de', moneda: 'de', divisa: 'de', currency: 'de', to: 'a', quote: 'a', en: 'a' },
  ...{ date: 'fecha', dia: 'fecha', on: 'fecha', day: 'fecha', fch: 'fecha' },
  ...{ amount: 'monto', amt: 'monto', cantidad: 'monto', type: 'tipo', side: 'tipo', sep: 'decimal' },
}
const MISSPELT: Readonly<Record<string, string>> = {
  ...{ fehca: 'fecha', fecah: 'fecha', fech: 'fecha', fechas: 'fecha', Fecha: 'fecha', FECHA: 'fecha' },
  ...{ fecja: 'fecha', efcha: 'fecha', feccha: 'fecha', fcha: 'fecha', mont: 'monto', montos: 'monto' },
  ...{ mnto: 'monto', omnto: 'monto', monot: 'monto', Monto: 'monto', MONTO: 'monto', montto: 'monto' },
  ...{ tip: 'tipo', tpo: 'tipo', tipos: 'tipo', Tipo: 'tipo', itpo: 'tipo', tippo: 'tipo', DE: 'de', A: 'a' },
  ...{ De: 'de', decima: 'decimal', desimal: 'decimal', Decimal: 'decimal', dcimal: 'decimal' },
  ...{
    provide: 'provider',
    provider_: 'provider',
    proveedor: 'provider',
    xyz: '',
    q: '',
    decimales: 'decimals',
    precision: 'decimals',
    redondeo: 'rounding',
    roundin: 'rounding',
  },
  ...{ symbols: '', fecha_: '', 'fecha[]': '', cbk_s3cret: '' },
}

test('a synonym of a parameter is never accepted, and a misspelt name never ignored', async () => {
  assert.ok(Object.keys(MISSPELT).length >= 40)
  for (const [name, meant] of [...Object.entries(SYNONYMS), ...Object.entries(MISSPELT)]) {
    const [status, body] = await ask(app, `/compat/valor?de=USD&a=CRC&${encodeURIComponent(name)}=EUR`)
    assert.equal(status, 422, name)
    assert.ok(!body.includes('\n') && !body.includes('s3cret'), body)
    const isShown = /^\p{L}+$/u.test(name)
    if (isShown) assert.ok(body.startsWith(`there is no parameter ${name}: `), body)
    if (isShown && meant) assert.equal(body, `there is no parameter ${name}: did you mean ${meant}?`)
    else {
      assert.match(
        body,
        /there are de, a, fecha, monto, tipo, decimal, decimals, rounding, provider and key$/,
      )
    }
  }
})

for (const [query, message] of [
  ['de=', 'de must be a currency code'],
  ['a=12', 'a must be a currency code'],
  ['fecha=', 'fecha must be a calendar day'],
  ['fecha=2026-02-30', 'fecha must be a calendar day'],
  ['fecha=03/04/2026', 'fecha must be a calendar day'],
  ['fecha=2026-03-26', 'fecha is in the future: today is 2026-03-24'],
  ['monto=', 'monto must be a decimal number'],
  ['monto=-1', 'monto must be a decimal number'],
  ['monto=1,5', 'monto must be a decimal number'],
  ['monto=1.000,5&decimal=,', 'monto must be a decimal number'],
  ['monto=1.500&decimal=,', 'monto is 1.500 with decimal=,: write 1500 or 1500,00'],
  ['monto=+12.345.678&decimal=,', 'monto is 12.345.678 with decimal=,: write 12345678 or 12345678,00'],
  ['tipo=', 'tipo must be compra or venta'],
  ['decimal=', 'decimal must be . or ,'],
  ['decimals=', 'decimals must be an integer from 0 to 20'],
  ['decimals=2&rounding=x', 'rounding must be half-up, half-even or down'],
  ['rounding=down', 'rounding rounds to a number of decimals: give decimals too'],
  ['provider=', 'provider must be a provider code'],
  ['monto=1&monto=x', 'monto must be a decimal number'],
  ['fecha=%ZZ', 'the address must be valid percent-encoded UTF-8'],
] as const) {
  test(`/compat/valor?${query} is rejected: ${message}`, async () => {
    const [status, body] = await ask(app, `/compat/valor?${query}`)
    assert.equal(status, 422)
    assert.ok(body.startsWith(message), body)
  })
}

test('the key is checked before names, names before values, values before data', async () => {
  const closedApp = await openShapes({ listen: { compat: { open: undefined, serveRounded: false } } })
  assert.equal((await ask(closedApp, '/compat/valor?from=EUR'))[0], 401)
  assert.match((await ask(app, '/compat/valor?from=EUR&fecha=x'))[1], /^there is no parameter from/)
  assert.match((await ask(app, '/compat/valor?de=XXX&fecha=x'))[1], /^fecha must be/)
})

test('names that begin with _ are ignored, and the last of a repeated one counts', async () => {
  assert.deepEqual(await ask(app, '/compat/valor?_=17&_cache=x&de=EUR&de=USD'), [200, venta])
})

test('monto gives the amount of /convert, digit for digit, with a decimal comma too', async () => {
  for (const [monto, amount] of [
    ['100', '100'],
    ['1500.50', '1500.50'],
    ['1e3', '1e3'],
    ['.5', '.5'],
    ['0.00000000000000000001', '0.00000000000000000001'],
    ['999999999999999999999999999999', '999999999999999999999999999999'],
  ] as const) {
    for (const pair of ['de=EUR&a=CRC', 'de=USD&a=CRC', 'de=CRC&a=JPY'] as const) {
      const [, from = '', to = ''] = /de=(\w+)&a=(\w+)/.exec(pair) ?? []
      const query = new URLSearchParams({ from, to, amount })
      const { result } = await app.json<{ result: string }>(`/api/v1/convert?${query}`)
      assert.deepEqual(await ask(app, `/compat/valor?${pair}&monto=${monto}`), [200, result])
      const comma = `/compat/valor?${pair}&monto=${monto.replace('.', ',')}&decimal=,`
      assert.deepEqual(await ask(app, comma), [200, result.replace('.', ',')])
    }
  }
})

test('monto with a point that separates no thousands is an amount, with a decimal comma too', async () => {
  for (const monto of ['1500.50', '1500.500', '1.5', '0.500']) {
    const [status, result] = await ask(app, `/compat/valor?monto=${monto}`)
    assert.equal(status, 200)
    assert.deepEqual(await ask(app, `/compat/valor?monto=${monto}&decimal=,`), [
      200,
      result.replace('.', ','),
    ])
  }
  assert.equal((await ask(app, '/compat/valor?monto=1.500'))[0], 200)
})

test('tomorrow has the answer of /convert', async () => {
  const { rate } = await app.json<{ rate: string }>('/api/v1/convert?amount=1&from=USD&to=CRC&on=2026-03-25')
  assert.deepEqual(await ask(app, '/compat/valor?fecha=2026-03-25'), [200, rate])
})

test('a hole is a 404 with its days', async () => {
  const holed = await openShapes()
  await loseDays(holed, { from: '2026-02-20', to: '2026-03-04' }, ['318'])
  const path = '/compat/valor?fecha=2026-03-01'
  await until(async () => (await ask(holed, path))[0] === 404)
  assert.deepEqual(await ask(holed, path), [
    404,
    'the days from 2026-02-20 to 2026-03-01 have not been synchronized',
  ])
})

test('a hole before the first value is a 404 with the day, and a day before a known start is 422', async () => {
  const holed = await openShapes()
  await loseDays(holed, { from: '2026-01-01', to: '2026-02-28' }, ['333'])
  const path = '/compat/valor?de=EUR&a=USD&fecha=2026-02-01'
  await until(async () => (await ask(holed, path))[0] === 404)
  const words = (day: string) => `the days from ${day} to ${day} have not been synchronized`
  assert.deepEqual(await ask(holed, path), [404, words('2026-02-01')])
  // The dollar is published since 1983, and stored since 2026.
  assert.deepEqual(await ask(holed, '/compat/valor?fecha=2025-12-31'), [404, words('2025-12-31')])
  assert.equal((await ask(holed, '/compat/valor?fecha=1982-12-31'))[0], 422)
})

test('decimals and rounding give the result of /convert, with a decimal comma too', async () => {
  const query = 'decimals=3&rounding=down'
  const { result } = await app.json<{ result: string }>(
    `/api/v1/convert?amount=1.07&from=EUR&to=CRC&${query}`,
  )
  assert.match(result, /^\d+\.\d{3}$/)
  assert.deepEqual(await ask(app, `/compat/valor?de=EUR&monto=1.07&${query}`), [200, result])
  const comma = await ask(app, `/compat/valor?de=EUR&monto=1,07&decimal=,&${query}`)
  assert.deepEqual(comma, [200, result.replace('.', ',')])
})
