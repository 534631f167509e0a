// Services that ask for a key, and Frankfurter, read by packages for them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KEY, leadHere, openForClients, readBy, TODAY, worth } from './support.ts'

const app = await openForClients()
const { url } = app.app
const { hostname, port } = new URL(url)
const venta = await worth(app, 'USD', 'CRC')
const euro = await worth(app, 'EUR', 'CRC')

test('npm fixer-api reads the dollar and the euro', async () => {
  assert.equal(await readBy('fixer-api.mjs', [`${url}/api`, KEY, 'USD', 'CRC']), venta)
  assert.equal(await readBy('fixer-api.mjs', [`${url}/api`, KEY, 'EUR', 'CRC']), euro)
})

test('npm oxr reads the dollar of now and of a day', async () => {
  assert.deepEqual(await readBy('oxr.mjs', [hostname, port, KEY, TODAY, 'CRC']), [venta, venta])
})

test('npm money converts with what npm open-exchange-rates reads', async () => {
  assert.equal(await readBy('money.mjs', [`${url}/api/`, KEY, 'USD', 'CRC']), venta)
  near(await readBy('money.mjs', [`${url}/api/`, KEY, 'EUR', 'CRC']), euro)
})

test('npm currencylayer-client, led here by http_proxy, reads now, a day and a conversion', async (t) => {
  const { env, asked } = await leadHere(t, app, ['apilayer.net'])
  const read = await readBy('currencylayer-client.mjs', [KEY, TODAY, 'USD', 'CRC'], env)
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
    assert.equal(await readBy('easy-currencies.mjs', [service, KEY, 'USD', 'CRC'], fetching), venta)
    assert.equal(await readBy('easy-currencies.mjs', [service, KEY, 'EUR', 'CRC'], fetching), euro)
    assert.deepEqual([...asked], [origin])
  })
}

for (const [module, origin] of [
  ['Fixer', 'http://data.fixer.io'],
  ['OpenExchange', 'https://openexchangerates.org'],
] as const) {
  test(`Finance::Quote, led here by LWP's proxy, reads from ${module}`, async (t) => {
    const { env, asked } = await leadHere(t, app, [new URL(origin).hostname])
    const [dollar] = await readBy<[number]>('finance-quote.pl', [module, 'USD', 'CRC', KEY], env)
    near(dollar, venta)
    const [other] = await readBy<[number]>('finance-quote.pl', [module, 'EUR', 'CRC', KEY], env)
    near(other, euro)
    assert.deepEqual([...asked], [origin])
  })
}

/** Equal but for what a division of two floats loses: the program computes one rate from two. */
function near(read: number, expected: number): void {
  assert.ok(Math.abs(read / expected - 1) < 1e-9, `${read} is not ${expected}`)
}
