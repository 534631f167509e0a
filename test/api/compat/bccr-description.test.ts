// The description of the bank's old web service, from which programs learn where to ask; and who needs no key, and what is
// answered of values that are rounded.

import assert from 'node:assert/strict'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { networksOf } from '../../../src/http/listener/networks.ts'
import { startTestApp } from '../../support/app.ts'
import { send, withinASecond } from '../support.ts'
import {
  ASMX,
  getAsmx,
  NOTHING,
  openAsmx,
  parameters,
  SET_OPERATION,
  URL_KEY,
  XML_OPERATION,
} from './asmx.ts'

const compat = { open: undefined, serveRounded: false }
const app = await openAsmx({ listen: { compat, proxies: networksOf('127.0.0.0/8') } })

function describe(path: string, headers: Record<string, string> = {}) {
  return send(app.app.url + path, { headers })
}

function addressesIn(wsdl: string): string[] {
  return [...wsdl.matchAll(/<(?:soap|soap12|http):address location="([^"]*)" \/>/g)].map(([, at = '']) => at)
}

test('the description needs no key, and has the address that the client used in all four ports', async () => {
  for (const [path, headers, address] of [
    [`${ASMX}?WSDL`, { host: 'gee.bccr.fi.cr' }, `http://gee.bccr.fi.cr${ASMX}`],
    [`${ASMX}?wsdl`, { host: 'rates.example:8080' }, `http://rates.example:8080${ASMX}`],
    [
      `/k/a&b%3C/compat/bccr${ASMX}/?wsdl`,
      { host: '[::1]:80' },
      `http://[::1]:80/k/a&amp;b%3C/compat/bccr${ASMX}`,
    ],
    [
      '/indicadores/suministro/sw/wsIndicadoresEconomicos.asmx?Wsdl=1&key=x',
      { host: 'a', 'x-forwarded-proto': 'https' },
      'https://a/indicadores/suministro/sw/wsIndicadoresEconomicos.asmx',
    ],
    [`${ASMX}?wsdl`, { host: 'a', 'x-forwarded-proto': 'javascript' }, `http://a${ASMX}`],
    [`${ASMX}?wsdl`, { host: 'a"><b' }, `http://localhost${ASMX}`],
  ] as const) {
    const answer = await describe(path, headers)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'text/xml; charset=utf-8')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers.etag, undefined)
    assert.deepEqual(addressesIn(answer.body), [address, address, address, address])
  }
})

test('an unknown proxy does not say the scheme; a TLS socket does', async (t) => {
  const own = await startTestApp(t, { listen: { compat } })
  const headers = { host: 'a', 'x-forwarded-proto': 'https' }
  const plain = await send(`${own.app.url}${ASMX}?wsdl`, { headers })
  assert.equal(addressesIn(plain.body)[0], `http://a${ASMX}`)
  const dir = join(import.meta.dirname, '../../fixtures/tls')
  const tls = [{ cert: join(dir, 'first.crt'), key: join(dir, 'first.key') }]
  const safe = await startTestApp(t, { listen: { compat, tls } })
  const body = await new Promise<string>((resolve, reject) => {
    const options = { headers: { host: 'gee.bccr.fi.cr' }, rejectUnauthorized: false }
    request(`${safe.app.url}${ASMX}?wsdl`, options, (response) => {
      let text = ''
      response.on('data', (more) => {
        text += more
      })
      response.on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
  assert.equal(addressesIn(body)[0], `https://gee.bccr.fi.cr${ASMX}`)
})

test('it describes two operations with seven texts each, and the simple one needs no schema of schemas', async () => {
  const { body } = await describe(`${ASMX}?WSDL`)
  assert.equal(body.split('<s:element ref="s:schema" />').length - 1, 2)
  for (const name of [
    'Indicador',
    'FechaInicio',
    'FechaFinal',
    'Nombre',
    'SubNiveles',
    'CorreoElectronico',
    'Token',
  ])
    assert.equal(
      body.split(`<s:element minOccurs="0" maxOccurs="1" name="${name}" type="s:string" />`).length - 1,
      2,
    )
  for (const port of ['Soap', 'Soap12', 'HttpGet', 'HttpPost'])
    assert.match(body, new RegExp(`<wsdl:port name="wsindicadoreseconomicos${port}"`))
  assert.match(body, /soapAction="http:\/\/ws\.sdde\.bccr\.fi\.cr\/ObtenerIndicadoresEconomicosXML"/)
  const simple = await describe(`${ASMX}?WSDL&simple=1`)
  assert.doesNotMatch(simple.body, /ref="s:schema"/)
  assert.equal(simple.body.split('<s:any />').length - 1, 2)
})

test('without an operation there is a page', async () => {
  const page = await describe(ASMX)
  assert.equal(page.status, 200)
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assert.match(page.body, /ObtenerIndicadoresEconomicosXML/)
})

test('in an open network no key is needed, and an old token does no harm', async () => {
  const open = await openAsmx({ listen: { compat: { open: 'any', serveRounded: false } } })
  const sent = [...parameters()].filter(([name]) => name !== 'Token')
  assert.match(await (await getAsmx(open, XML_OPERATION, new URLSearchParams(sent))).text(), /620\.18000000/)
  const old = parameters({ Token: 'AB12CD34EF' })
  assert.match(await (await getAsmx(open, XML_OPERATION, old)).text(), /620\.18000000/)
})

test('a rounded parity is not held, unless the operator says so; the dollar of two decimals is', async () => {
  const euro = parameters({ Indicador: '333' })
  const strict = await openAsmx({ token: null })
  const none = await getAsmx(strict, XML_OPERATION, euro)
  assert.ok((await none.text()).includes(NOTHING))
  const noted = () => strict.logged.filter((line) => line.includes('rounded values are not served')).length
  await withinASecond(async () => noted() === 1, 'the rounded values are in the log')
  const dollar = await getAsmx(strict, XML_OPERATION)
  assert.match(await dollar.text(), /658\.99000000/)
  assert.equal(dollar.headers.get('x-rounded-to'), null)
  const lax = await openAsmx({ token: null, listen: { compat: { open: undefined, serveRounded: true } } })
  const served = await getAsmx(lax, SET_OPERATION, euro)
  assert.match(await served.text(), /<NUM_VALOR>1\.10000000<\/NUM_VALOR>/)
  assert.equal(served.headers.get('x-rounded-to'), '2')
  assert.equal((await getAsmx(lax, XML_OPERATION)).headers.get('x-rounded-to'), null)
})

test('without the shapes there is no such service', async (t) => {
  const without = await startTestApp(t)
  const { status, body } = await send(`${without.app.url}/k/${URL_KEY}${ASMX}?wsdl`)
  assert.deepEqual([status, body], [404, '{"detail":"Not found"}'])
})
