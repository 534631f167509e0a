import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Bank, type BankOptions, startBank } from '../../../src/demo/bank.ts'
import { wireNumber } from '../../../src/demo/bank-public.ts'
import { groupedText } from '../../../src/demo/bank-site.ts'
import { inventedValue } from '../../../src/demo/invented-rates.ts'
import { until } from '../../support/terminal.ts'

const TODAY = '2026-09-18' // a Friday
const PUBLIC = 'Bccr.GE.SDDE.Publico.Indicadores.API'
const CSRF = 'Bccr.GE.SDDE.IndicadoresSitioExterno.ServiciosUsuario.API/Token/GenereCSRF'
const TABLE =
  'Bccr.GE.SDDE.IndicadoresSitioExterno.GrupoVariables.API/CuadroGrupoVariables/ObtenerDatosCuadro'
const Origin = 'https://sdd.bccr.fi.cr'

async function open(t: TestContext, options: Partial<BankOptions> = {}): Promise<Bank> {
  const bank = await startBank({ token: 'good', today: () => TODAY, ...options })
  t.after(() => bank.close())
  return bank
}

async function get(bank: Bank, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${bank.url}/${path}`, { headers })
  return { status: response.status, body: await response.text() }
}

function series(bank: Bank, what: string, from: string, to: string, Authorization = 'Bearer good') {
  const path = `${PUBLIC}/${what}/series?fechaInicio=${from}&fechaFin=${to}&idioma=ES`
  return get(bank, path, Authorization === '' ? {} : { Authorization })
}

test('fake bank answers an indicator, including tomorrow', async (t) => {
  const { status, body } = await series(
    await open(t),
    'indicadoresEconomicos/317',
    '2026/09/18',
    '2026/09/30',
  )
  const row = (day: string) =>
    `{"fecha":"${day}","valorDatoPorPeriodo":${inventedValue('317', day)?.replace(/^\d+$/, '$&.').padEnd(12, '0')}}`
  assert.equal(status, 200)
  assert.equal(
    body,
    '{"estado":true,"mensaje":"Consulta exitosa","datos":[{"codigoIndicador":"317",' +
      `"nombreIndicador":"Tipo cambio compra","series":[${row('2026-09-18')},${row('2026-09-19')}]}]}`,
  )
})

test('fake bank answers a table up to today, and no data with a message', async (t) => {
  const bank = await open(t)
  const { datos } = JSON.parse((await series(bank, 'cuadro/520', '2026/09/17', '2026/09/30')).body)
  assert.equal(datos[0].indicadores.length, 45)
  assert.equal(datos[0].indicadores[0].series.length, 2)
  const nothing = JSON.parse((await series(bank, 'cuadro/520', '2026/09/19', '2026/09/20')).body)
  assert.deepEqual(nothing, {
    estado: true,
    mensaje: 'No existen datos para las fechas suministradas.',
    datos: [],
  })
})

const refusals: [title: string, what: string, from: string, token: string, status: number][] = [
  ['no token', 'indicadoresEconomicos/317', '2026/09/18', '', 401],
  ['a wrong token', 'indicadoresEconomicos/317', '2026/09/18', 'Bearer bad', 401],
  ['an unknown indicator', 'indicadoresEconomicos/1', '2026/09/18', 'Bearer good', 400],
  ['an unknown table', 'cuadro/2', '2026/09/18', 'Bearer good', 400],
  ['another form of dates', 'indicadoresEconomicos/317', '2026-09-18', 'Bearer good', 400],
]
for (const [title, what, from, token, status] of refusals) {
  test(`fake bank rejects ${title}`, async (t) => {
    const reply = await series(await open(t), what, from, '2026/09/30', token)
    assert.equal(reply.status, status)
    assert.equal(JSON.parse(reply.body).CodigoError, String(status))
  })
}

test('fake site requires its token and origin', async (t) => {
  const bank = await open(t)
  const csrf = (await get(bank, CSRF)).body
  const path = `${TABLE}?IdGrupoVariable=1&FechaInicio=2026-09-18T00:00:00&FechaFin=2026-09-18&CantidadSeriesAMostrar=100`
  assert.equal((await get(bank, path)).status, 500)
  assert.equal((await get(bank, path, { token_csrf: csrf })).status, 500)
  assert.equal((await get(bank, path, { token_csrf: 'x', Origin })).status, 401)
  const { columnas, indicadoresRaiz } = JSON.parse((await get(bank, path, { token_csrf: csrf, Origin })).body)
  assert.equal(columnas.length, 101)
  assert.deepEqual([columnas[1].tituloIngles, columnas[100].tituloEspanol], ['11 jun 2026', '18 set 2026'])
  assert.equal(indicadoresRaiz[0].idIndicador, 317)
  assert.equal(Object.keys(indicadoresRaiz[0].series).length, 200)
  assert.equal((await get(bank, path, { 'Token-Csrf': csrf, Origin })).status, 200)
})

test('fake bank publishes overridden values', async (t) => {
  const value = (code: string, day: string) =>
    day === '2026-09-17' ? '1.50000000' : code === '333' ? null : undefined
  const bank = await open(t, { value, codes: ['333', '777'], names: { 777: 'Luna' } })
  const { body } = await series(bank, 'cuadro/520', '2026/09/16', '2026/09/17')
  assert.ok(body.includes('{"fecha":"2026-09-16","valorDatoPorPeriodo":null}'), body)
  assert.ok(body.includes('"valorDatoPorPeriodo":1.50000000}'), body)
  assert.ok(body.includes('"codigoIndicador":"777","nombreIndicador":"Luna"'), body)
})

test('fake bank publishes null on holidays of parities, and a value of the dollar', async (t) => {
  const bank = await open(t)
  const euro = await series(bank, 'indicadoresEconomicos/333', '2026/09/15', '2026/09/15')
  assert.ok(euro.body.includes('"series":[{"fecha":"2026-09-15","valorDatoPorPeriodo":null}]'), euro.body)
  const dollar = await series(bank, 'indicadoresEconomicos/318', '2026/09/15', '2026/09/15')
  assert.match(dollar.body, /"valorDatoPorPeriodo":\d{3}\.\d{8}\}/)
})

for (const [value, text] of [
  ['496.44', '496.44000000'],
  ['451', '451.00000000'],
  ['0.12345678', '0.12345678'],
  ['0.123456789', '0.123456789'],
  ['n.d.', 'n.d.'],
] as const) {
  test(`wireNumber formats ${value} as ${text}`, () => assert.equal(wireNumber(value), text))
}

test('fake bank answers unsynchronized days like another cambista', async (t) => {
  const hole = { from: '2026-09-10', to: '2026-09-11' }
  const bank = await open(t, { unsynchronized: { 317: [hole], 333: [hole], 325: [hole] } })
  const refused = await series(bank, 'indicadoresEconomicos/317', '2026/09/11', '2026/09/18')
  assert.deepEqual(refused, {
    status: 503,
    body: '{"CodigoError":"503","Mensaje":"Los días del 2026-09-11 al 2026-09-11 no se han sincronizado."}',
  })
  const whole = await series(bank, 'indicadoresEconomicos/317', '2026/09/12', '2026/09/18')
  assert.equal(whole.status, 200)
  const path = `${PUBLIC}/cuadro/520/series?fechaInicio=2026/09/01&fechaFin=2026/09/18&idioma=ES`
  const table = await fetch(`${bank.url}/${path}`, { headers: { Authorization: 'Bearer good' } })
  assert.deepEqual(table.headers.get('x-left-out')?.split(',').sort(), ['325', '333'])
  assert.equal(JSON.parse(await table.text()).datos[0].indicadores.length, 43)
})

test('fake bank records its requests', async (t) => {
  const bank = await open(t)
  await series(bank, 'cuadro/1', '2026/09/18', '2026/09/18')
  assert.deepEqual(
    bank.requests.map(({ path, authorized, query }) => [path, authorized, query.fechaFin]),
    [[`/SDDE/api/${PUBLIC}/cuadro/1/series`, true, '2026/09/18']],
  )
})

test('fake bank closes although a request hangs', async () => {
  const bank = await startBank({ today: () => TODAY, faults: () => 'hang' })
  const hanging = assert.rejects(get(bank, CSRF))
  await until(() => bank.requests.length > 0)
  await bank.close()
  await hanging
})

for (const [value, text] of [
  ['494.345', '494.35'],
  ['494.344999', '494.34'],
  ['999.995', '1,000.00'],
  ['1234567', '1,234,567.00'],
  ['0.0019', '0.00'],
  ['0.7', '0.70'],
  ['n.d.', 'n.d.'],
] as const) {
  test(`groupedText formats ${value} as ${text}`, () => assert.equal(groupedText(value), text))
}
