// The bank's own API, as programs use it: series, tables, and its form of errors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/terminal.ts'
import { addKey, openAsmx, URL_KEY } from './asmx.ts'

const app = await openAsmx()
const API = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const DAYS = 'fechaInicio=2026/03/22&fechaFin=2026/03/24&idioma=ES'
const NO_DATA = '{"estado":true,"mensaje":"No existen datos para las fechas suministradas.","datos":[]}'
const INVALID = '{"CodigoError":"400","Mensaje":"Parámetros de entrada inválidos."}'

function ask(path: string, headers: Record<string, string> = { authorization: `Bearer ${URL_KEY}` }) {
  return fetch(app.app.url + path, { headers })
}

async function read(path: string): Promise<string> {
  const response = await ask(path)
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
  return `${response.status} ${await response.text()}`
}

test('an indicator has eight decimals, as the bank writes them, up to today', async () => {
  const venta = `200 {"estado":true,"mensaje":"Consulta exitosa","datos":[{"codigoIndicador":"318","nombreIndicador":"Tipo cambio venta","series":[{"fecha":"2026-03-22","valorDatoPorPeriodo":658.99000000},{"fecha":"2026-03-23","valorDatoPorPeriodo":620.18000000},{"fecha":"2026-03-24","valorDatoPorPeriodo":451.00000000}]}]}`
  const slashes = DAYS.replaceAll(/(\d)\//g, '$1%2F')
  for (const path of [
    `${API}/indicadoresEconomicos/318/series?${DAYS}`,
    `${API}/indicadoresEconomicos/318/series/?${slashes}`,
    `${API.slice('/SDDE'.length)}/indicadoresEconomicos/318/series?${DAYS.replace('ES', 'en')}`,
    `/compat/sdde${API.replace('GE', 'Ge')}/indicadoreseconomicos/318/Series?FECHAINICIO=2026/3/22&fechafin=2026/03/30`,
  ]) {
    assert.equal(await read(path), venta, path)
  }
  const euro = await read(
    `${API}/indicadoresEconomicos/333/series?fechaInicio=2026/03/20&fechaFin=2026/03/20`,
  )
  assert.match(euro, /"series":\[\{"fecha":"2026-03-20","valorDatoPorPeriodo":1\.08765432\}\]/)
})

test('decimals beyond the eighth are not cut', async (t) => {
  const long = await openAsmx({ bank: { value: () => '501.0876543210987' } })
  t.after(() => long.app.close())
  const response = await fetch(`${long.app.url}${API}/indicadoresEconomicos/318/series?${DAYS}`, {
    headers: { authorization: `Bearer ${URL_KEY}` },
  })
  assert.match(await response.text(), /"valorDatoPorPeriodo":501\.0876543210987\}/)
})

test('no data is an empty answer; an indicator that is not stored is an error, and logged', async () => {
  for (const days of [
    '1900/01/01&fechaFin=1982/12/31',
    '2026/03/25&fechaFin=2026/03/25',
    '2026/03/24&fechaFin=2026/03/22',
  ])
    for (const path of ['indicadoresEconomicos/318', 'cuadro/1'])
      assert.equal(await read(`${API}/${path}/series?fechaInicio=${days}`), `200 ${NO_DATA}`)
  assert.equal(await read(`${API}/indicadoresEconomicos/3541/series?${DAYS}`), `400 ${INVALID}`)
  const noted = () => app.logLines.some((line) => /"shape":"sdde","indicator":"3541"/.test(line))
  await until(() => noted())
})

test('a wrong request is a 400 in the form of the bank', async () => {
  for (const query of [
    '',
    '?fechaInicio=2026/03/22',
    '?fechaInicio=22/03/2026&fechaFin=24/03/2026',
    '?fechaInicio=2026/02/30&fechaFin=2026/03/24',
    '?fechaInicio=%zz&fechaFin=2026/03/24',
  ]) {
    assert.equal(await read(`${API}/indicadoresEconomicos/318/series${query}`), `400 ${INVALID}`, query)
  }
  for (const path of [
    'indicadoresEconomicos/318x',
    'indicadoresEconomicos/%20',
    'cuadro/2',
    'cuadro/toString',
  ])
    assert.equal(await read(`${API}/${path}/series?${DAYS}`), `400 ${INVALID}`, path)
  assert.match(await read(`${API}/nada`), /^404 \{"CodigoError":"404","Mensaje":"[^"]+"\}$/)
})

test('a table has its title, and each of its indicators', async () => {
  const text = await read(`${API}/cuadro/1/series?${DAYS}`)
  const table = JSON.parse(text.slice(4))
  assert.equal(table.datos.length, 1)
  const { titulo, periodicidad, indicadores } = table.datos[0]
  assert.match(titulo, /^Tipo cambio de compra y de venta/)
  assert.equal(periodicidad, 'Diaria')
  assert.deepEqual(
    indicadores.map((one: { codigoIndicador: string }) => one.codigoIndicador),
    ['317', '318'],
  )
  const parities = JSON.parse((await read(`${API}/cuadro/520/series?${DAYS}`)).slice(4))
  const euro = parities.datos[0].indicadores.find(
    (one: { codigoIndicador: string }) => one.codigoIndicador === '333',
  )
  assert.deepEqual(euro, {
    codigoIndicador: '333',
    nombreIndicador: 'Euro',
    series: [{ fecha: '2026-03-23', valorDatoPorPeriodo: 1.1 }],
  })
  assert.ok(parities.datos[0].indicadores.length >= 44)
})

test('a description has name, periodicity, unit, first and last day, in the fields of the bank and ours', async () => {
  const euro = {
    ...{ codigoIndicador: '333', nombreIndicador: 'Euro', codIndicador: 333, nombre: 'Euro' },
    ...{ periodicidad: 'Diaria', unidadDeMedida: 'USD por EUR', unidad: 'USD por EUR' },
    ...{ primerDato: '2026-03-20', ultimoDatoSerie: '2026-03-23', ultimaPublicacion: '2026-03-23' },
    ...{ fechaInicio: '2026-03-20', fechaFin: '2026-03-23' },
  }
  const one = JSON.parse((await read(`${API}/indicadoresEconomicos/333/metadata?idioma=ES`)).slice(4))
  assert.deepEqual(one, { estado: true, mensaje: 'Consulta exitosa', datos: [euro] })
  const table = JSON.parse((await read(`${API}/cuadro/520/metadata`)).slice(4))
  assert.deepEqual(
    table.datos[0].indicadores.find((one: { codigoIndicador: string }) => one.codigoIndicador === '333'),
    euro,
  )
})

test('no key, a wrong key or one of the old service is a 401 in the form of the bank', async () => {
  await addKey(app, { secret: 'AB12CD34EF', kind: 'bank', network: '127.0.0.0/8' })
  const path = `${API}/indicadoresEconomicos/318/series?${DAYS}`
  for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-api-key': 'AB12CD34EF' }]) {
    const response = await ask(path, headers as Record<string, string>)
    assert.equal(response.status, 401)
    assert.equal(response.headers.get('www-authenticate'), 'Bearer')
    assert.match(await response.text(), /^\{"CodigoError":"401","Mensaje":"[^"]+"\}$/)
  }
  assert.equal((await ask(`/k/${URL_KEY}${path}`, {})).status, 200)
})

test('an answer has an ETag, and its client gets 304', async () => {
  const path = `${API}/indicadoresEconomicos/318/series?${DAYS}`
  const headers = { authorization: `Bearer ${URL_KEY}`, 'content-type': 'application/json' }
  const etag = (await ask(path, headers)).headers.get('etag') ?? ''
  assert.equal((await ask(path, { ...headers, 'if-none-match': etag })).status, 304)
})

test('rounded parities are reported as missing, unless rounded values are served', async () => {
  const days = 'fechaInicio=2026/03/20&fechaFin=2026/03/24'
  for (const [serveRounded, roundedTo, text] of [
    [false, null, /del 2026-03-20 al 2026-03-24 no se han sincronizado con todos sus decimales/],
    [true, '2', /"valorDatoPorPeriodo":1\.09\}/],
  ] as const) {
    const site = await openAsmx({ token: null, listen: { compat: { open: 'any', serveRounded } } })
    for (const path of ['indicadoresEconomicos/333', 'cuadro/520']) {
      const response = await fetch(`${site.app.url}${API}/${path}/series?${days}`)
      assert.equal(response.headers.get('x-rounded-to'), roundedTo)
      assert.match(await response.text(), text)
    }
    const dollar = await fetch(`${site.app.url}${API}/indicadoresEconomicos/318/series?${days}`)
    assert.match(await dollar.text(), /658\.99/)
    const lines = site.logLines.join('').split('\n')
    const warnings = lines.filter((line) => line.includes('"shape":"sdde"'))
    assert.equal(warnings.length, serveRounded ? 0 : 1)
    for (const line of warnings) assert.match(line, /"rounded values are not served".*--serve-rounded/)
  }
})
