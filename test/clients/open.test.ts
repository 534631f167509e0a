// Programs that send no key, from an open network.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/app.ts'
import { KEY, leadHere, openForClients, run, runProgram, saveByCalc, TODAY, worth } from './support.ts'

const app = await openForClients({ listen: { compat: { open: 'any', serveRounded: false } } })
const { url } = app.app
const venta = await worth(app, 'USD', 'CRC')
const compra = await worth(app, 'USD', 'CRC', 'compra')
const euro = await worth(app, 'EUR', 'USD')

test('npm @dsanchezcr/colonesexchangerate, led here by https_proxy, reads both sides and the euro', async (t) => {
  const { env, asked } = await leadHere(t, app, ['api.hacienda.go.cr'])
  const { date, ...read } = await runProgram<{ date: string }>('colonesexchangerate.mjs', [], env)
  assert.deepEqual(read, { sale: venta, purchase: compra, dollar: venta, euro })
  assert.ok(date.startsWith(TODAY), date)
  assert.deepEqual([...asked], ['https://api.hacienda.go.cr'])
})

for (const [service, origin] of [
  ['ExchangeRateAPI', 'https://api.exchangerate-api.com'],
  ['Frankfurter', 'https://api.frankfurter.dev'],
] as const) {
  test(`npm easy-currencies, led here by NODE_USE_ENV_PROXY, reads from ${service}`, async (t) => {
    const { env, asked } = await leadHere(t, app, [new URL(origin).hostname])
    const fetching = { ...env, NODE_USE_ENV_PROXY: '1' }
    assert.equal(await runProgram('easy-currencies.mjs', [service, '', 'USD', 'CRC'], fetching), venta)
    assert.deepEqual([...asked], [origin])
  })
}

test("curl reads one value, and Hacienda's dollar where https_proxy leads here", async (t) => {
  assert.equal(await run('curl', ['-sSf', `${url}/k/${KEY}/compat/valor?de=USD&a=CRC`]), String(venta))
  const { env, asked } = await leadHere(t, app, ['api.hacienda.go.cr'])
  const dollar = await run('curl', ['-sSf', 'https://api.hacienda.go.cr/indicadores/tc/dolar'], env)
  assert.equal(JSON.parse(dollar).venta.valor, venta)
  assert.deepEqual([...asked], ['https://api.hacienda.go.cr'])
})

test('LibreOffice Calc reads numbers from the table with semicolons and decimal commas', async (t) => {
  const dir = temporaryDirectory(t)
  await saveByCalc(dir, `${url}/k/${KEY}/v2/rates.csv?dialecto=es-CR&base=USD&quotes=CRC`, 'fods')
  const sheet = readFileSync(join(dir, 'rates.fods'), 'utf8')
  const numbers = [...sheet.matchAll(/office:value-type="float" office:value="([^"]+)"/g)]
  assert.deepEqual(
    numbers.map(([, value]) => Number(value)),
    [venta],
  )
})
