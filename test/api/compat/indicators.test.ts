// Enabled indicators in the mirrors of the bank: the old web service and the SDDE API (decisions#indicators).

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bccrIndicators } from '../../../src/providers/bccr/indicators/indicator-source.ts'
import type { IsoDate } from '../../../src/values/dates.ts'
import { type IndicatorApp, startIndicatorApp, TBP } from '../../support/rates/indicator-app.ts'
import { until } from '../../support/terminal.ts'
import { envelope, getAsmx, parameters, postSoap, SET_OPERATION, XML_OPERATION } from './asmx.ts'

const API = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoresEconomicos'
const INVALID = '400 {"CodigoError":"400","Mensaje":"Parámetros de entrada inválidos."}'
const DIGITS: Record<IsoDate, string | null> = {
  '2026-03-19': '4.1',
  '2026-03-20': '-0.25000000',
  '2026-03-21': null,
  '2026-03-22': '0.00',
  '2026-03-23': '-1234567.123456789012',
}

async function startMirror(
  t: TestContext,
  { codes = ['423'], from = '2026-03-01' }: { codes?: string[]; from?: IsoDate } = {},
): Promise<IndicatorApp> {
  const compat = { open: 'any', serveRounded: false } as const
  const app = await startIndicatorApp(t, [TBP], { listen: { compat } })
  app.values['423'] = (day) => DIGITS[day]
  await app.sync()
  if (codes.length > 0) await app.enable(codes, from)
  return app
}

async function readSdde(app: IndicatorApp, path: string, range?: [string, string]): Promise<string> {
  const days = range ? `&fechaInicio=${range[0]}&fechaFin=${range[1]}` : ''
  const response = await fetch(`${app.app.url}${API}/${path}?idioma=ES${days}`)
  return `${response.status} ${await response.text()}`
}

async function readAsmx(app: IndicatorApp, other: Record<string, string>, operation = XML_OPERATION) {
  const response = await getAsmx(app, operation, parameters({ Indicador: '423', ...other }))
  return `${response.status} ${await response.text()}`
}

test('SDDE answers an enabled code: 8 decimals or more, signs, zero, ascending days, no row for null', async (t) => {
  const app = await startMirror(t)
  await app.read()
  const rows = [
    '{"fecha":"2026-03-19","valorDatoPorPeriodo":4.10000000}',
    '{"fecha":"2026-03-20","valorDatoPorPeriodo":-0.25000000}',
    '{"fecha":"2026-03-22","valorDatoPorPeriodo":0.00000000}',
    '{"fecha":"2026-03-23","valorDatoPorPeriodo":-1234567.123456789012}',
  ]
  const head = `{"codigoIndicador":"423","nombreIndicador":"${TBP.name}","series":[${rows}]}`
  assert.equal(
    await readSdde(app, '423/series', ['2026/03/10', '2026/03/24']),
    `200 {"estado":true,"mensaje":"Consulta exitosa","datos":[${head}]}`,
  )
  assert.match(await readSdde(app, '423/series', ['2026/03/21', '2026/03/21']), /^200 .*"datos":\[\]\}$/)
})

test('the metadata of an enabled code have the fields of the bank and ours', async (t) => {
  const app = await startMirror(t)
  await app.read()
  const { datos } = JSON.parse((await readSdde(app, '423/metadata')).slice(4))
  assert.deepEqual(datos, [
    {
      ...{ codigoIndicador: '423', nombreIndicador: TBP.name, codIndicador: 423, nombre: TBP.name },
      ...{ periodicidad: 'Diaria', unidadDeMedida: 'porcentaje anual', unidad: 'porcentaje anual' },
      ...{ primerDato: '2026-03-19', ultimoDatoSerie: '2026-03-23', ultimaPublicacion: '2026-03-23' },
      ...{ fechaInicio: '2026-03-19', fechaFin: '2026-03-23' },
    },
  ])
})

test('the old web service answers an enabled code by GET and SOAP, in both operations', async (t) => {
  const app = await startMirror(t)
  await app.read()
  const days = { FechaInicio: '10/03/2026', FechaFinal: '24/03/2026' }
  const text = await readAsmx(app, days)
  const values = [...text.matchAll(/DES_FECHA&gt;([^&]+)&lt;.*?\r\n.*?NUM_VALOR&gt;([^&]+)&lt;/g)]
  assert.deepEqual(
    values.map(([, day, value]) => [day, value]),
    [
      ['2026-03-19T00:00:00-06:00', '4.10000000'],
      ['2026-03-20T00:00:00-06:00', '-0.25000000'],
      ['2026-03-22T00:00:00-06:00', '0.00000000'],
      ['2026-03-23T00:00:00-06:00', '-1234567.123456789012'],
    ],
  )
  assert.match(text, /&lt;COD_INDICADORINTERNO&gt;423&lt;/)
  const set = await readAsmx(app, days, SET_OPERATION)
  assert.match(set, /msdata:rowOrder="1">.*<NUM_VALOR>-0\.25000000<\/NUM_VALOR>/)
  const query = parameters({ Indicador: '423', ...days })
  const soap = await (await postSoap(app, envelope(SET_OPERATION, query))).text()
  assert.match(soap, /<NUM_VALOR>-1234567\.123456789012<\/NUM_VALOR>/)
  const nothing = await readAsmx(app, { FechaInicio: '21/03/2026', FechaFinal: '21/03/2026' })
  assert.match(nothing, /&lt;Datos_de_INGC011_CAT_INDICADORECONOMIC \/&gt;/)
})

test('a hole of an enabled code is the error of each mirror, also before its first answer', async (t) => {
  const app = await startMirror(t)
  const early = await readSdde(app, '423/series', ['2026/03/20', '2026/03/24'])
  const days = (from: string, to: string) => `Los días del ${from} al ${to} no se han sincronizado.`
  assert.equal(early, `503 {"CodigoError":"503","Mensaje":"${days('2026-03-20', '2026-03-24')}"}`)
  await app.read({ isNewestOnly: true })
  const sdde = await readSdde(app, '423/series', ['2026/03/05', '2026/03/24'])
  assert.equal(sdde, `503 {"CodigoError":"503","Mensaje":"${days('2026-03-05', '2026-03-09')}"}`)
  const range = { FechaInicio: '05/03/2026', FechaFinal: '24/03/2026' }
  const sentence = 'The days from 2026-03-05 to 2026-03-09 have not been synchronized.'
  assert.equal(await readAsmx(app, range), `500 ${sentence}`)
  const soap = await postSoap(app, envelope(XML_OPERATION, parameters({ Indicador: '423', ...range })))
  assert.equal(soap.status, 500)
  const fault = await soap.text()
  assert.ok(fault.includes('<faultcode>soap:Server</faultcode>') && fault.includes(sentence), fault)
  assert.match(await readSdde(app, '423/series', ['2026/03/10', '2026/03/24']), /^200 /)
})

test('a code that was never enabled is answered as before, and the log names the command', async (t) => {
  const app = await startMirror(t, { codes: [] })
  const range: [string, string] = ['2026/03/10', '2026/03/24']
  assert.equal(await readSdde(app, '423/series', range), INVALID)
  assert.equal(await readSdde(app, '423/metadata'), INVALID)
  assert.equal(await readSdde(app, 'tbp/series', range), INVALID)
  assert.match(await readAsmx(app, {}), /^200 .*&lt;Datos_de_INGC011_CAT_INDICADORECONOMIC \/&gt;/s)
  for (const shape of ['sdde', 'bccr']) {
    const line = `"shape":"${shape}","indicator":"423","advice":"cambista indicator enable 423"`
    await until(() => app.logLines.join('').includes(line))
  }
})

test('the reader of the bank reads an enabled code from the mirror: digits, unit and periodicity', async (t) => {
  const app = await startMirror(t)
  await app.read()
  const settings = { url: `${app.app.url}/SDDE/api`, token: app.key, paceMs: 0, userAgent: 'test' }
  const session = bccrIndicators.connect(settings, new AbortController().signal)
  const { listed, observations } = await session.read('423', { from: '2026-03-10', to: '2026-03-24' })
  assert.deepEqual(listed, [{ code: '423', name: TBP.name }])
  assert.deepEqual(
    observations.map(({ day, value }) => [day, value]),
    [
      ['2026-03-19', '4.10000000'],
      ['2026-03-20', '-0.25000000'],
      ['2026-03-22', '0.00000000'],
      ['2026-03-23', '-1234567.123456789012'],
    ],
  )
  const facts = { name: TBP.name, unit: 'porcentaje anual', periodicity: 'diaria' }
  assert.deepEqual(await session.readFacts('423'), facts)
})

test('a code that is enabled on a running server is answered at once, and under another tag', async (t) => {
  const app = await startMirror(t, { codes: [] })
  const query = parameters({ Indicador: '423', FechaInicio: '20/03/2026' })
  const before = (await getAsmx(app, XML_OPERATION, query)).headers.get('etag')
  await app.enable(['423'], '2026-03-10')
  await app.read()
  const response = await getAsmx(app, XML_OPERATION, query)
  const etag = response.headers.get('etag')
  assert.match(await response.text(), /NUM_VALOR&gt;-0\.25000000/)
  assert.ok(etag && before && etag !== before)
  const again = await fetch(response.url, { headers: { 'if-none-match': etag } })
  assert.equal(again.status, 304)
})

test('a corrected value and a disabled code: the mirrors answer what is stored', async (t) => {
  const app = await startMirror(t)
  await app.read()
  const range: [string, string] = ['2026/03/19', '2026/03/19']
  assert.match(await readSdde(app, '423/series', range), /4\.10000000\}/)
  app.clock.now = new Date('2026-03-25T12:30:00Z')
  app.values['423'] = (day) => (day === '2026-03-19' ? '4.15' : DIGITS[day])
  await app.sync()
  app.clock.now = new Date('2026-03-25T12:45:00Z')
  assert.equal((await app.read())?.updated, 1)
  assert.match(await readSdde(app, '423/series', range), /4\.15000000\}/)
  assert.match(await readAsmx(app, { FechaInicio: '19/03/2026', FechaFinal: '19/03/2026' }), /4\.15000000/)
  const past = '/api/v1/indicators/423/latest?on=2026-03-19&as_of=2026-03-25T00:00:00Z'
  assert.equal((await app.json<{ value: string }>(past)).value, '4.1')
  await app.disable('423')
  assert.match(await readSdde(app, '423/series', range), /4\.15000000\}/)
})
