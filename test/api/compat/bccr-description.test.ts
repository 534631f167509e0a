// The description of the bank's old web service, which has the addresses for programs. Covers open networks
// and rounded values too.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseNetworks } from '../../../src/http/listener/networks.ts'
import { startTestApp } from '../../support/app.ts'
import { until } from '../../support/terminal.ts'
import { send } from '../support.ts'
import { ASMX, getAsmx, openAsmx, parameters, SET_OPERATION, URL_KEY, XML_OPERATION } from './asmx.ts'

const compat = { open: undefined, serveRounded: false }
const app = await openAsmx({ listen: { compat, proxies: parseNetworks('127.0.0.0/8') } })

function describe(path: string, headers: Record<string, string> = {}) {
  return send(app.app.url + path, { headers })
}

function serviceAddresses(wsdl: string): string[] {
  return [...wsdl.matchAll(/<(?:soap|soap12|http):address location="([^"]*)" \/>/g)].map(
    ([, address = '']) => address,
  )
}

test("the description needs no key, and has the client's address in all four ports", async () => {
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
    assert.deepEqual(serviceAddresses(answer.body), [address, address, address, address])
  }
})

test('the scheme of the addresses comes from TLS, not from an unknown proxy', async (t) => {
  const own = await startTestApp(t, { listen: { compat } })
  const headers = { host: 'a', 'x-forwarded-proto': 'https' }
  const plain = await send(`${own.app.url}${ASMX}?wsdl`, { headers })
  assert.equal(serviceAddresses(plain.body)[0], `http://a${ASMX}`)
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
  assert.equal(serviceAddresses(body)[0], `https://gee.bccr.fi.cr${ASMX}`)
})

test('the description has two operations with seven texts each; the simple one needs no schema of schemas', async () => {
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

test('the description is byte for byte that of which programs were generated', async () => {
  const headers = { host: 'gee.bccr.fi.cr' }
  const hashes = ['?WSDL', '?WSDL&simple=1'].map(async (query) => {
    const { body } = await describe(ASMX + query, headers)
    return createHash('sha256').update(body).digest('hex')
  })
  assert.deepEqual(await Promise.all(hashes), [
    '9eac6ff847bbf4fe2f315dbd13ac4c03c8a9b7fd8e71c7ffbfc5ef121bdf96a3',
    '412806595e625a23e18f3d17ee4e83e6f79d946afd49d2986b7ece0df43e99f8',
  ])
})

test('without an operation there is an HTML page', async () => {
  const page = await describe(ASMX)
  assert.equal(page.status, 200)
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assert.match(page.body, /ObtenerIndicadoresEconomicosXML/)
})

test('in an open network no key is needed, and an old token is ignored', async () => {
  const open = await openAsmx({ listen: { compat: { open: 'any', serveRounded: false } } })
  const query = [...parameters()].filter(([name]) => name !== 'Token')
  assert.match(await (await getAsmx(open, XML_OPERATION, new URLSearchParams(query))).text(), /620\.18000000/)
  const old = parameters({ Token: 'AB12CD34EF' })
  assert.match(await (await getAsmx(open, XML_OPERATION, old)).text(), /620\.18000000/)
})

test('a range with a rounded parity is an error, unless rounded values are served; the dollar of two decimals is answered', async () => {
  const euro = parameters({ Indicador: '333' })
  const strict = await openAsmx({ token: null })
  const none = await getAsmx(strict, XML_OPERATION, euro)
  const sentence = 'The days from 2026-03-23 to 2026-03-24 are stored rounded, and not answered.'
  assert.deepEqual([none.status, await none.text()], [500, sentence])
  const noted = () =>
    strict.logLines.join('').match(/"rounded values are not served".*"shape":"bccr"/g)?.length
  await until(() => noted() === 1)
  const dollar = await getAsmx(strict, XML_OPERATION)
  assert.match(await dollar.text(), /658\.99000000/)
  assert.equal(dollar.headers.get('x-rounded-to'), null)
  const lax = await openAsmx({ token: null, listen: { compat: { open: undefined, serveRounded: true } } })
  const response = await getAsmx(lax, SET_OPERATION, euro)
  assert.match(await response.text(), /<NUM_VALOR>1\.10000000<\/NUM_VALOR>/)
  assert.equal(response.headers.get('x-rounded-to'), '2')
  assert.equal((await getAsmx(lax, XML_OPERATION)).headers.get('x-rounded-to'), null)
})

test('`--no-compat` removes the service', async (t) => {
  const without = await startTestApp(t)
  const { status, body } = await send(`${without.app.url}/k/${URL_KEY}${ASMX}?wsdl`)
  assert.deepEqual([status, body], [404, '{"detail":"Not found"}'])
})
