// The bank's old web service, byte by byte: programs cut its answers at fixed offsets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/terminal.ts'
import { exchange } from '../support.ts'
import {
  ASMX,
  addKey,
  DECLARATION,
  envelope,
  getAsmx,
  NOTHING,
  openAsmx,
  parameters,
  postForm,
  postSoap,
  SET_OPERATION,
  soapBody,
  URL_KEY,
  XML_OPERATION,
} from './asmx.ts'

const app = await openAsmx()

const TEXT = [
  '&lt;Datos_de_INGC011_CAT_INDICADORECONOMIC&gt;',
  ...row('2026-03-22', '658.99000000'),
  ...row('2026-03-23', '620.18000000'),
  ...row('2026-03-24', '451.00000000'),
  '&lt;/Datos_de_INGC011_CAT_INDICADORECONOMIC&gt;',
].join('\r\n')

function row(day: string, value: string): string[] {
  return [
    '  &lt;INGC011_CAT_INDICADORECONOMIC&gt;',
    '    &lt;COD_INDICADORINTERNO&gt;318&lt;/COD_INDICADORINTERNO&gt;',
    `    &lt;DES_FECHA&gt;${day}T00:00:00-06:00&lt;/DES_FECHA&gt;`,
    `    &lt;NUM_VALOR&gt;${value}&lt;/NUM_VALOR&gt;`,
    '  &lt;/INGC011_CAT_INDICADORECONOMIC&gt;',
  ]
}

const SCHEMA =
  '<xs:schema id="Datos_de_INGC011_CAT_INDICADORECONOMIC" xmlns="" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:msdata="urn:schemas-microsoft-com:xml-msdata"><xs:element name="Datos_de_INGC011_CAT_INDICADORECONOMIC" msdata:IsDataSet="true" msdata:UseCurrentLocale="true"><xs:complexType><xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="INGC011_CAT_INDICADORECONOMIC"><xs:complexType><xs:sequence><xs:element name="COD_INDICADORINTERNO" type="xs:string" minOccurs="0" /><xs:element name="DES_FECHA" type="xs:dateTime" minOccurs="0" /><xs:element name="NUM_VALOR" type="xs:decimal" minOccurs="0" /></xs:sequence></xs:complexType></xs:element></xs:choice></xs:complexType></xs:element></xs:schema>'
const DIFFGRAM =
  '<diffgr:diffgram xmlns:msdata="urn:schemas-microsoft-com:xml-msdata" xmlns:diffgr="urn:schemas-microsoft-com:xml-diffgram-v1">'
const ONE_DAY = parameters({ FechaInicio: '23/3/2026', FechaFinal: '23/3/2026' })
const EMPTY_RANGE = parameters({ FechaInicio: '1/2/1980', FechaFinal: '2/2/1980' })
const SET = `${SCHEMA}${DIFFGRAM}<Datos_de_INGC011_CAT_INDICADORECONOMIC xmlns=""><INGC011_CAT_INDICADORECONOMIC diffgr:id="INGC011_CAT_INDICADORECONOMIC1" msdata:rowOrder="0"><COD_INDICADORINTERNO>318</COD_INDICADORINTERNO><DES_FECHA>2026-03-23T00:00:00-06:00</DES_FECHA><NUM_VALOR>620.18000000</NUM_VALOR></INGC011_CAT_INDICADORECONOMIC></Datos_de_INGC011_CAT_INDICADORECONOMIC></diffgr:diffgram>`
const NO_SET = `${SCHEMA}${DIFFGRAM}<Datos_de_INGC011_CAT_INDICADORECONOMIC xmlns="" /></diffgr:diffgram>`

function soapString(content: string): string {
  return `${DECLARATION}\r\n<string xmlns="http://ws.sdde.bccr.fi.cr">${content}</string>`
}

test('the XML operation answers escaped XML in a <string>, by GET and by form', async () => {
  for (const response of [await getAsmx(app, XML_OPERATION), await postForm(app, XML_OPERATION)]) {
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/xml; charset=utf-8')
    assert.equal(response.headers.get('x-rounded-to'), null)
    assert.equal(await response.text(), soapString(TEXT))
  }
})

test('an answer without rows is an empty element of 42 characters', async () => {
  assert.equal(NOTHING.replaceAll('&lt;', '<').replaceAll('&gt;', '>').length, 42)
  const cases: Record<string, string>[] = [
    { Indicador: '3540' },
    { FechaInicio: '25/03/2026', FechaFinal: '26/03/2026' },
    { FechaInicio: '24/03/2026', FechaFinal: '22/03/2026' },
    { FechaInicio: '01/01/1800', FechaFinal: '1/1/1801' },
  ]
  for (const other of cases) {
    const response = await getAsmx(app, XML_OPERATION, parameters(other))
    assert.equal(await response.text(), soapString(NOTHING), JSON.stringify(other))
  }
})

test('the DataSet operation answers a schema and a diffgram', async () => {
  for (const response of [
    await getAsmx(app, SET_OPERATION, ONE_DAY),
    await postForm(app, SET_OPERATION, ONE_DAY),
  ]) {
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/xml; charset=utf-8')
    const set = `${DECLARATION}<DataSet xmlns="http://ws.sdde.bccr.fi.cr">${SET}</DataSet>`
    assert.equal(await response.text(), set)
  }
  const several = await (await getAsmx(app, SET_OPERATION)).text()
  assert.match(several, /diffgr:id="INGC011_CAT_INDICADORECONOMIC3" msdata:rowOrder="2">/)
  const none = await (await getAsmx(app, SET_OPERATION, EMPTY_RANGE)).text()
  assert.equal(none, `${DECLARATION}<DataSet xmlns="http://ws.sdde.bccr.fi.cr">${NO_SET}</DataSet>`)
})

for (const [version, namespace, type] of [
  ['1.1', 'http://schemas.xmlsoap.org/soap/envelope/', 'text/xml; charset=utf-8'],
  ['1.2', 'http://www.w3.org/2003/05/soap-envelope', 'application/soap+xml; charset=utf-8'],
] as const) {
  test(`SOAP ${version} answers in its own envelope, on one line`, async () => {
    const envelopeStart = `${DECLARATION}<soap:Envelope xmlns:soap="${namespace}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><soap:Body>`
    const soapAnswer = (operation: string, result: string) =>
      `${envelopeStart}<${operation}Response xmlns="http://ws.sdde.bccr.fi.cr"><${operation}Result>${result}</${operation}Result></${operation}Response></soap:Body></soap:Envelope>`
    for (const [operation, query, result] of [
      [XML_OPERATION, parameters(), TEXT],
      [XML_OPERATION, EMPTY_RANGE, NOTHING],
      [SET_OPERATION, ONE_DAY, SET],
      [SET_OPERATION, EMPTY_RANGE, NO_SET],
    ] as const) {
      const response = await postSoap(app, envelope(operation, query, version), `${type}; action="x"`)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), type)
      assert.equal(await response.text(), soapAnswer(operation, result))
    }
  })
}

test('a SOAP request may have prefixes, fields without a namespace, and any order and case', async () => {
  const soapRequest = (inside: string) =>
    `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns:w="http://ws.sdde.bccr.fi.cr"><e:Header><x/></e:Header><e:Body>${inside}</e:Body></e:Envelope>`
  const fields = (prefix: string) =>
    [...ONE_DAY]
      .reverse()
      .map(([name, value]) => `<${prefix}${name}>${value}</${prefix}${name}>`)
      .join('\n')
  for (const call of [
    `<w:${XML_OPERATION}>${fields('w:')}</w:${XML_OPERATION}>`,
    `<w:${XML_OPERATION}>${fields('')}</w:${XML_OPERATION}>`,
    `<${XML_OPERATION}>${fields('')
      .toLowerCase()
      .replace(/cbk_\w+/, URL_KEY)}</${XML_OPERATION}>`,
    `<w:${XML_OPERATION.toUpperCase()}><!-- a comment -->${fields('w:').replace('>318<', '><![CDATA[318]]><')}</w:${XML_OPERATION.toUpperCase()}>`,
  ]) {
    const text = await (await postSoap(app, soapRequest(call))).text()
    assert.match(text, /&lt;NUM_VALOR&gt;620.18000000&lt;\/NUM_VALOR&gt;/, call)
  }
})

test('the service has three paths, and names of operations and parameters in any case', async () => {
  const query = parameters()
  const lowerCaseQuery = new URLSearchParams([...query].map(([name, value]) => [name.toLowerCase(), value]))
  for (const path of [
    `/indicadores/suministro/sw/wsIndicadoresEconomicos.asmx/${XML_OPERATION}?${query}`,
    `/indicadoreseconomicos/WebServices/wsIndicadoresEconomicos.asmx/obtenerindicadoreseconomicosxml?${query}`,
    `/compat/bccr${ASMX}/${XML_OPERATION}/?${lowerCaseQuery}`,
    `/k/${URL_KEY}/compat/bccr${ASMX}/${XML_OPERATION}?${parameters({ Token: '' })}`,
  ]) {
    assert.equal(await (await fetch(app.app.url + path)).text(), soapString(TEXT), path)
  }
})

test('parameter names from before 2019 are accepted, with the key in a header or the path', async () => {
  const old = new URLSearchParams({
    tcIndicador: '318',
    tcFechaInicio: '22/03/2026',
    tcFechaFinal: '24/03/2026',
    tcNombre: 'dmm',
    tnSubNiveles: 'N',
  })
  const path = `${ASMX}/${XML_OPERATION}?${old}`
  assert.equal(await (await app.get(path)).text(), soapString(TEXT))
  const urlWithKey = `${app.app.url}/k/${URL_KEY}${path}`
  assert.equal(await (await fetch(urlWithKey)).text(), soapString(TEXT))
  const refused = await fetch(app.app.url + path)
  assert.equal(refused.status, 200)
  assert.match(await refused.text(), /xsi:nil="true"/)
})

test('names, mail addresses and unknown parameters never make a call fail', async () => {
  const { search } = new URL(`http://x/?${parameters({ Nombre: '' })}`)
  for (const extra of [
    '&Nombre=Jos%E9+N%FA%F1ez',
    '&Nombre=100%',
    '&Nombre=%3Cx%3E%00',
    '&x=%zz',
    '&Nombre=a',
  ])
    for (const query of [`${search}${extra}`, search.replace('&Nombre=', extra)])
      assert.equal(
        await (await fetch(`${app.app.url}${ASMX}/${XML_OPERATION}${query}`)).text(),
        soapString(TEXT),
        query,
      )
})

test('unescaped characters in a name never make a call fail', async () => {
  for (const name of ['"<>^`{|}', "'--", '[]\\']) {
    const target = `${ASMX}/${XML_OPERATION}?${parameters()}&Nombre=${name}`
    const { status, body } = await exchange(app.app.url, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
    assert.deepEqual([status, body], [200, soapString(TEXT)], name)
  }
})

test('answers have an ETag; If-None-Match gets 304 for GET, but not for POST', async () => {
  const first = await getAsmx(app, XML_OPERATION)
  const etag = first.headers.get('etag') ?? ''
  const url = `${app.app.url}${ASMX}/${XML_OPERATION}?${parameters()}`
  assert.equal((await fetch(url, { headers: { 'if-none-match': etag } })).status, 304)
  const head = await fetch(url, { method: 'HEAD' })
  assert.equal(head.headers.get('content-length'), first.headers.get('content-length'))
  const form = { method: 'POST', body: parameters(), headers: { 'if-none-match': etag } }
  assert.equal((await fetch(`${app.app.url}${ASMX}/${XML_OPERATION}`, form)).status, 200)
})

test('an indicator that is not stored is logged once a day', async () => {
  const loggedLines = () => app.logLines.filter((line) => line.includes('"indicator":"3541"')).length
  const requestUnknown = () => getAsmx(app, XML_OPERATION, parameters({ Indicador: '3541' }))
  for (let times = 0; times < 3; times++) await requestUnknown()
  await until(() => loggedLines() > 0)
  assert.equal(loggedLines(), 1)
  app.clock.now = new Date(app.clock.now.getTime() + 86_400_000)
  await requestUnknown()
  await until(() => loggedLines() === 2)
})

test('a registered token of the bank is accepted from its network alone', async () => {
  await addKey(app, { secret: 'AB12CD34EF', kind: 'bank', network: '127.0.0.0/8' })
  await addKey(app, { secret: 'ZZ12CD34EF', kind: 'bank', network: '10.0.0.0/8' })
  const ownNetwork = await getAsmx(app, XML_OPERATION, parameters({ Token: 'AB12CD34EF' }))
  assert.equal(await ownNetwork.text(), soapString(TEXT))
  const soap = await postSoap(app, envelope(XML_OPERATION, parameters({ Token: 'AB12CD34EF' })))
  assert.match(soapBody(await soap.text()), /NUM_VALOR/)
  const otherNetwork = await getAsmx(app, XML_OPERATION, parameters({ Token: 'ZZ12CD34EF' }))
  assert.match(await otherNetwork.text(), /xsi:nil="true"/)
})
