// Errors of the bank's old web service: wrong calls, hostile calls, clients without access.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/terminal.ts'
import {
  ASMX,
  addKey,
  DECLARATION,
  envelope,
  getAsmx,
  openAsmx,
  parameters,
  postForm,
  postSoap,
  SET_OPERATION,
  soapBody,
  XML_OPERATION,
} from './asmx.ts'

const app = await openAsmx()

const NIL =
  'xsi:nil="true" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://ws.sdde.bccr.fi.cr" />'
const WRONG = parameters({ Token: 'wrong' })
const SOAP_12 = 'application/soap+xml'

async function read(response: Response): Promise<string> {
  return `${response.status} ${response.headers.get('content-type')} ${await response.text()}`
}

function without(...names: string[]): URLSearchParams {
  return new URLSearchParams([...parameters()].filter(([name]) => !names.includes(name)))
}

test('a wrong or empty token gets an empty answer, which differs from an answer without rows', async () => {
  await addKey(app, { secret: 'cbk_for_headers', kind: 'header' })
  for (const query of [WRONG, parameters({ Token: '' }), parameters({ Token: 'cbk_for_headers' })]) {
    for (const ask of [getAsmx, postForm]) {
      const text = await read(await ask(app, XML_OPERATION, query))
      assert.equal(text, `200 text/xml; charset=utf-8 ${DECLARATION}\r\n<string ${NIL}`)
      const set = await read(await ask(app, SET_OPERATION, query))
      assert.equal(set, `200 text/xml; charset=utf-8 ${DECLARATION}<DataSet ${NIL}`)
    }
  }
  app.clock.now = new Date(app.clock.now.getTime() + 60_000)
  for (const query of [WRONG, without('Token'), without('FechaFinal')]) {
    for (const version of ['1.1', '1.2'] as const) {
      const response = await postSoap(app, envelope(XML_OPERATION, query, version))
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('etag'), null)
      const body = soapBody(await response.text())
      assert.equal(body, `<${XML_OPERATION}Response xmlns="http://ws.sdde.bccr.fi.cr" />`)
    }
  }
})

test('an invalid date gets an empty answer', async () => {
  for (const day of ['31/02/2026', '2026-03-22', '', 'hoy', '13/13/2026', '1/1/26', '0/1/2026', '30/2/1800'])
    for (const query of [parameters({ FechaInicio: day }), parameters({ FechaFinal: day })])
      assert.match(await (await getAsmx(app, XML_OPERATION, query)).text(), /xsi:nil="true"/, day)
  const blank = await getAsmx(app, XML_OPERATION, parameters({ Indicador: ' ' }))
  assert.match(await blank.text(), /xsi:nil="true"/)
})

test('an absent parameter of a form or a URL is named', async () => {
  for (const name of ['Indicador', 'FechaInicio', 'FechaFinal', 'Token']) {
    for (const ask of [getAsmx, postForm]) {
      const text = await read(await ask(app, XML_OPERATION, without(name)))
      assert.equal(text, `500 text/plain; charset=utf-8 Missing parameter: ${name}.`)
    }
  }
  const rest = without('Nombre', 'SubNiveles', 'CorreoElectronico')
  assert.equal((await getAsmx(app, XML_OPERATION, rest)).status, 200)
  const old = new URLSearchParams({ tcIndicador: '318', tcFechaInicio: '1/1/2026' })
  assert.match(await read(await getAsmx(app, XML_OPERATION, old)), /^500 .* tcFechaFinal\.$/)
})

test('an unknown operation is named', async () => {
  const unknown = "Request format is unrecognized for URL unexpectedly ending in '/Otra'."
  for (const ask of [getAsmx, postForm])
    assert.equal(await read(await ask(app, 'Otra')), `500 text/plain; charset=utf-8 ${unknown}`)
  for (const joined of ['Otra=Indicador=318&Token=cbk_secret', 'cbk_secret']) {
    const answer = await read(await getAsmx(app, joined))
    assert.match(answer, /^500 .* ending in '\/'\.$/, 'what may hold a key is not repeated')
  }
  const soap = await read(await postSoap(app, envelope('Otra')))
  assert.match(soap, /^500 text\/xml.*<faultcode>soap:Client<\/faultcode><faultstring>.*Otra/)
})

test('an invalid envelope is a fault of the SOAP version in use', async () => {
  const deep = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
  const good = envelope(XML_OPERATION)
  const doctype = (inside: string) => `<!DOCTYPE x [${inside}]>`
  const laughs = doctype(
    `<!ENTITY a "ha">${[...'bcdefgh'].map((one, at) => `<!ENTITY ${one} "${`&${'abcdefg'[at]};`.repeat(10)}">`).join('')}`,
  )
  for (const body of [
    '',
    'Indicador=318',
    good.replace(DECLARATION, DECLARATION + laughs).replace('>318<', '>&h;<'),
    good.replace(DECLARATION, DECLARATION + doctype('<!ENTITY x SYSTEM "file:///etc/passwd">')),
    good.replace(DECLARATION, `${DECLARATION}<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">`),
    good.replace('>318<', '>&x;<'),
    good.replace('>318<', '>3 & 18<'),
    good.replace('>318<', '>3 < 18<'),
    good.replace('>318<', `>${deep(13)}<`),
    good.replace('<Indicador>', '<?php x?><Indicador>'),
    good.replace('</Indicador>', '</indicador>'),
    good.replace('<Indicador>', '<z:Indicador>').replace('</Indicador>', '</z:Indicador>'),
    good.replace('xmlns:s=', 'xmlns:t='),
    good.replace('xmlns:s="', 'xmlns:s=http://'),
    good.slice(0, -4),
    good + good,
    `${good}x`,
    good.replace('<s:Body>', '').replace('</s:Body>', ''),
    good.replace('http://schemas.xmlsoap.org/soap/envelope/', 'urn:other'),
    deep(20_000).slice(0, 60_000),
    good.replace('utf-8', 'utf-7').replace('>318<', '>+ADw-a+AD4-<'),
  ]) {
    const types = /utf-7/.test(body) ? ['text/xml', SOAP_12] : ['text/xml; charset=utf-8', SOAP_12]
    const [first = '', second = ''] = types
    const old = await read(await postSoap(app, body, first))
    assert.match(
      old,
      /^500 text\/xml; charset=utf-8 .*<soap:Fault><faultcode>soap:Client</,
      body.slice(0, 99),
    )
    const later = await read(await postSoap(app, body, second))
    assert.match(later, /^500 application\/soap\+xml; charset=utf-8 .*<soap:Value>soap:Sender</)
    assert.doesNotMatch(later, /root:|haha/)
  }
  const allowed = await postSoap(app, good.replace('>N<', `>${deep(12)}<`))
  assert.equal(allowed.status, 200)
})

test('an envelope may have other encodings, and a name may have characters outside its encoding', async () => {
  const soap = envelope(XML_OPERATION, parameters({ Nombre: 'José &amp; Cía &#233;' }))
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(soap, 'utf16le')])
  for (const [body, type] of [
    [Buffer.from(soap, 'latin1'), 'text/xml; charset=utf-8'],
    [Buffer.from(soap, 'latin1'), 'text/xml; charset=ISO-8859-1'],
    [Buffer.from(soap.replace('utf-8', 'windows-1252'), 'latin1'), 'text/xml'],
    [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(soap)]), 'text/xml'],
    [utf16, 'text/xml'],
  ] as const) {
    const response = await postSoap(app, body, type)
    assert.match(soapBody(await response.text()), /NUM_VALOR/, type)
  }
  for (const [body, type] of [
    [Buffer.from(soap), 'text/xml; charset=utf-16'],
    [Buffer.from(soap, 'utf16le'), 'text/xml'],
    [Buffer.from(soap), 'text/xml; charset=ebcdic-cp-us'],
    [Buffer.from(soap), 'text/xml; charset=gb18030'],
  ] as const) {
    assert.equal((await postSoap(app, body, type)).status, 500, type)
  }
})

test('a body has at most 64 KiB, and is not compressed', async () => {
  const pad = 64 * 1024 - envelope(XML_OPERATION, parameters({ Nombre: '' })).length
  const fits = await postSoap(app, envelope(XML_OPERATION, parameters({ Nombre: 'x'.repeat(pad) })))
  assert.equal(fits.status, 200)
  assert.match(soapBody(await fits.text()), /NUM_VALOR/)
  const large = await postSoap(app, envelope(XML_OPERATION, parameters({ Nombre: 'x'.repeat(pad + 1) })))
  assert.equal(large.status, 413)
  assert.equal(large.headers.get('content-type'), 'text/plain; charset=utf-8')
  const form = await postForm(app, XML_OPERATION, parameters({ Nombre: 'x'.repeat(70_000) }))
  assert.equal(form.status, 413)
  const packed = { 'content-encoding': 'gzip' }
  const url = `${app.app.url}${ASMX}`
  assert.equal((await fetch(url, { method: 'POST', body: 'x', headers: packed })).status, 415)
})

test('after 20 wrong keys in a minute a client must wait, unless its key is right', async () => {
  app.clock.now = new Date(app.clock.now.getTime() + 120_000)
  for (let times = 0; times < 20; times++) {
    assert.equal((await getAsmx(app, XML_OPERATION, WRONG)).status, 200)
  }
  assert.match(await read(await getAsmx(app, XML_OPERATION, WRONG)), /^429 text\/plain/)
  assert.match(await read(await postForm(app, SET_OPERATION, WRONG)), /^429 text\/plain/)
  const fault = await postSoap(app, envelope(XML_OPERATION, WRONG))
  assert.equal(fault.headers.get('retry-after'), '60')
  const soap = await read(fault)
  assert.match(soap, /^429 text\/xml.*<soap:Fault>/)
  assert.match(await read(await getAsmx(app, XML_OPERATION)), /NUM_VALOR/)
  app.clock.now = new Date(app.clock.now.getTime() + 60_000)
  assert.equal((await getAsmx(app, XML_OPERATION, WRONG)).status, 200)
})

test('other methods and deeper paths are rejected in plain text', async () => {
  const put = await fetch(`${app.app.url}${ASMX}`, { method: 'PUT' })
  assert.equal(put.headers.get('allow'), 'GET, HEAD, POST')
  assert.match(await read(put), /^405 text\/plain/)
  assert.match(await read(await getAsmx(app, `${XML_OPERATION}/x`)), /^404 text\/plain/)
})

test('the log has no key', async () => {
  const requests = () => app.logLines.filter((line) => line.includes('"event":"request"')).length
  await until(() => requests() > 100)
  for (const secret of ['cbk_for_urls', 'wrong', 'cbk_for_headers'])
    assert.ok(!app.logLines.some((line) => line.includes(secret)))
})
