// Packages for services with keys, and for Frankfurter, read the compat API.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KEY, leadHere, openForClients, runProgram, TODAY, worth } from './support.ts'

const app = await openForClients()
const { url } = app.app
const { hostname, port } = new URL(url)
const venta = await worth(app, 'USD', 'CRC')
const euro = await worth(app, 'EUR', 'CRC')

test('npm fixer-api reads the dollar and the euro', async () => {
  assert.equal(await runProgram('fixer-api.mjs', [`${url}/api`, KEY, 'USD', 'CRC']), venta)
  assert.equal(await runProgram('fixer-api.mjs', [`${url}/api`, KEY, 'EUR', 'CRC']), euro)
})

test('npm oxr reads the dollar of now and of a day', async () => {
  assert.deepEqual(await runProgram('oxr.mjs', [hostname, port, KEY, TODAY, 'CRC']), [venta, venta])
})

test('npm money converts with what npm open-exchange-rates reads', async () => {
  assert.equal(await runProgram('money.mjs', [`${url}/api/`, KEY, 'USD', 'CRC']), venta)
  near(await runProgram('money.mjs', [`${url}/api/`, KEY, 'EUR', 'CRC']), euro)
})

test('npm currencylayer-client, led here by http_proxy, reads now, a day and a conversion', async (t) => {
  const { env, asked } = await leadHere(t, app, ['apilayer.net'])
  const read = await runProgram('currencylayer-client.mjs', [KEY, TODAY, 'USD', 'CRC'], env)
  assert.deepEqual(read, [venta, venta, venta])
  assert.deepEqual([...asked], ['http://apilayer.net'])
})

for (const [service, origin] of [
  ['ExchangeRatesAPIIO', 'https://api.exchangeratesapi.io'],
  ['CurrencyLayer', 'https://apilayer.net'],
  ['OpenExchangeRates', 'https://openexchangerates.org'],
  ['Fixer', 'https://data.fixer.io'],
] as const) {
  test(`npm easy-currencies, led here by NODE_USE_ENV_PROXY, reads from ${service}`, async (t) => {
    const { env, asked } = await leadHere(t, app, [new URL(origin).hostname])
    const fetching = { ...env, NODE_USE_ENV_PROXY: '1' }
    assert.equal(await runProgram('easy-currencies.mjs', [service, KEY, 'USD', 'CRC'], fetching), venta)
    assert.equal(await runProgram('easy-currencies.mjs', [service, KEY, 'EUR', 'CRC'], fetching), euro)
    assert.deepEqual([...asked], [origin])
  })
}

for (const [module, origin] of [
  ['Fixer', 'http://data.fixer.io'],
  ['OpenExchange', 'https://openexchangerates.org'],
] as const) {
  test(`Finance::Quote, led here by LWP's proxy, reads from ${module}`, async (t) => {
    const { env, asked } = await leadHere(t, app, [new URL(origin).hostname])
    const [dollar] = await runProgram<[number]>('finance-quote.pl', [module, 'USD', 'CRC', KEY], env)
    near(dollar, venta)
    const [other] = await runProgram<[number]>('finance-quote.pl', [module, 'EUR', 'CRC', KEY], env)
    near(other, euro)
    assert.deepEqual([...asked], [origin])
  })
}

/** Equal up to the rounding of a division of floats, because the package computes one rate from two. */
function near(read: number, expected: number): void {
  assert.ok(Math.abs(read / expected - 1) < 1e-9, `${read} is not ${expected}`)
}
