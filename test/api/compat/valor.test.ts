import assert from 'node:assert/strict'
import { test } from 'node:test'
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
  ['?fecha=2030-01-01', venta],
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
  ['?fecha=1990-01-01', 404, 'no rate of USD in CRC is held on 1990-01-01'],
  ['?fecha=24/3/2026', 422, 'fecha must be a calendar day written YYYY-MM-DD'],
  ['?decimal=x', 422, 'decimal must be . or ,'],
  ['?tipo=x', 400, 'tipo must be compra or venta'],
] as const) {
  test(`/compat/valor${query} is ${status}`, async () => {
    assert.deepEqual(await ask(app, `/compat/valor${query}`), [status, message])
  })
}
