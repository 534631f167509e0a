// Series without stored values get the error of each compat API, and are logged once a day. Rounded values
// are not served as exact.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ASMX } from './asmx.ts'
import { ask, readJson, startTestApp } from './support.ts'

const OPEN = { open: 'any', serveRounded: false } as const
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const NOT_HELD = 'asked for what is not held'

test('without a token of the bank parities are rounded and left out, the dollar is served, and the log has the reason', async (t) => {
  const app = await startTestApp(t, { token: null, listen: { compat: OPEN } })
  await app.sync()
  const { venta } = await app.json<{ venta: string }>('/api/v1/rates/latest')
  const { rates } = await readJson<{ rates: object }>(app, '/v1/latest?base=USD')
  assert.deepEqual(rates, { CRC: Number(venta) })
  const reason = "it is stored rounded, and an exact rate needs the bank's token (--bccr-token-file)"
  // ERPNext shows the answer to its probe from USD to INR.
  for (const path of [
    '/v1/2026-03-24?base=USD&symbols=INR',
    '/v1/latest?base=EUR&symbols=CRC',
    '/latest?base=EUR&symbols=USD,JPY',
  ]) {
    assert.deepEqual(await ask(app, path), [404, JSON.stringify({ message: `not found: ${reason}` })], path)
  }
  for (const path of ['/v2/rate/USD/INR', '/v2/rate/USD/INR?date=2026-03-24', '/v2/rate/EUR/CRC']) {
    const [status, body] = await ask(app, path)
    assert.deepEqual(
      [status, JSON.parse(body)],
      [404, { status: 404, message: `not found: ${reason}` }],
      path,
    )
  }
  const [status, text] = await ask(app, '/compat/valor?de=EUR')
  assert.deepEqual([status, text], [404, `no rate of EUR in CRC is held on 2026-03-24: ${reason}`])
  assert.deepEqual(await ask(app, '/v1/1999-01-04?base=USD&symbols=INR'), [404, '{"message":"not found"}'])
  assert.deepEqual(await ask(app, '/v2/rates?base=USD&quotes=INR'), [200, '[]'])
  const tc = await readJson<{ dolar: object; euro?: object }>(app, '/indicadores/tc')
  assert.deepEqual([Object.keys(tc.dolar), tc.euro], [['venta', 'compra'], undefined])
  const warnings = app.logLines.filter((line) => line.includes('rounded values are not served'))
  assert.equal(warnings.length, 1)
  assert.match(String(warnings[0]), /--bccr-token-file.*--serve-rounded/)
})

test('with --serve-rounded parities are answered, and the header has their number of decimals', async (t) => {
  const app = await startTestApp(t, { token: null, listen: { compat: { open: 'any', serveRounded: true } } })
  await app.sync()
  const roundedHeader = async (path: string) => {
    const response = await fetch(app.app.url + path)
    assert.equal(response.status, 200, path)
    return response.headers.get('x-rounded-to')
  }
  const { rounded_to } = await app.json<{ rounded_to: number }>('/api/v1/convert?amount=1&from=EUR&to=USD')
  assert.ok(rounded_to > 0)
  for (const path of ['/v1/latest?base=EUR&symbols=USD', '/v2/rate/EUR/USD', '/compat/valor?de=EUR&a=USD']) {
    assert.equal(await roundedHeader(path), String(rounded_to), path)
    assert.equal(await roundedHeader(path), String(rounded_to), `${path}, kept`)
  }
  assert.equal(await roundedHeader('/v1/latest?base=USD&symbols=CRC'), null)
})

test('a cached answer expires when --serve-rounded is changed', async (t) => {
  const begin = (serveRounded: boolean, dataDir?: string) =>
    startTestApp(t, {
      token: null,
      ...(dataDir && { dataDir }),
      listen: { compat: { open: 'any', serveRounded } },
    })
  const path = '/v1/latest?base=USD'
  const first = await begin(true)
  await first.sync()
  const response = await fetch(first.app.url + path)
  const etag = response.headers.get('etag') ?? ''
  assert.ok((await response.text()).includes('EUR'))
  await first.app.close()
  const then = await begin(false, first.dataDir)
  const again = await fetch(then.app.url + path, { headers: { 'if-none-match': etag } })
  assert.equal(again.status, 200)
  assert.ok(!(await again.text()).includes('EUR'))
})

test('a series without values is logged once a day, and a flood of them at most 200 times', async (t) => {
  const app = await startTestApp(t, { listen: { compat: OPEN } })
  await app.sync()
  const count = (what: string) =>
    app.logLines.filter((line) => line.includes(NOT_HELD) && line.includes(what)).length
  for (let times = 0; times < 5; times++) await ask(app, '/v1/latest?base=XXX&symbols=CRC')
  assert.equal(count('XXX'), 1)
  app.clock.now = new Date('2026-03-25T12:00:00Z')
  await ask(app, '/v1/latest?base=XXX&symbols=CRC')
  assert.equal(count('XXX'), 2)
  await ask(app, `/v1/latest?base=${'Y'.repeat(5000)}`)
  assert.ok(app.logLines.every((line) => line.length < 1000))
  for (let at = 0; at < 300; at++) await ask(app, `/v1/latest?base=Z${at}`)
  assert.ok(app.logLines.filter((line) => line.includes(NOT_HELD)).length <= 202, 'a flood is bounded')
})

test('--no-compat removes every path', async (t) => {
  const app = await startTestApp(t, { listen: { compat: undefined } })
  for (const path of ['/v1/latest', '/indicadores/tc', '/compat/valor', '/k/x/api/v1/rates']) {
    assert.deepEqual(await ask(app, path), [404, '{"detail":"Not found"}'], path)
  }
})

test('a part of a key in a malformed URL is neither logged nor returned', async (t) => {
  const app = await startTestApp(t, { listen: { compat: OPEN } })
  await app.sync()
  for (const path of [
    '/v1/latest?base=USD&symbols=CRCkey=cbk_s3cret', // an & is missing
    '/v1/latest?base=cbk_s3cret',
    '/v2/rates?base=USD&key=a&cbk_s3cret',
    '/v2/rates?quotes=CRC,cbk_s3cret',
    '/v2/rate/USD/cbk_s3cret',
    '/compat/valor?de=USDkey=cbk_s3cret',
    '/live?source=cbk_s3cret',
    `${SDDE}/indicadoreseconomicos/cbk_s3cret/series?fechaInicio=2026-03-24&fechaFin=2026-03-24`,
    `${SDDE}/cuadro/cbk_s3cret/metadata`,
    `${ASMX}/ObtenerIndicadoresEconomicos?Indicador=cbk_s3cret&FechaInicio=1/3/2026&FechaFinal=1/3/2026&Token=`,
  ]) {
    const [, body] = await ask(app, path)
    assert.ok(!/s3cret/i.test(body), `${path}: ${body}`)
  }
  assert.ok(!/s3cret/i.test(app.logLines.join('')))
})
