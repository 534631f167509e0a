// SOAP libraries that read the WSDL, and a package for the bank's old web service, call the compat API.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { ASMX, addKey } from '../api/compat/asmx.ts'
import { startIndicatorApp, TBP } from '../support/rates/indicator-app.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { KEY, leadHere, openForClients, run, runProgram, TODAY, worth } from './support.ts'

const app = await openForClients()
const address = app.app.url + ASMX
const DAY = TODAY.split('-').reverse().join('/')
const venta = await worth(app, 'USD', 'CRC')
const compra = await worth(app, 'USD', 'CRC', 'compra')
const words = ['318', DAY, KEY]

for (const [version, binding] of [
  ['1.1', 'wsindicadoreseconomicosSoap'],
  ['1.2', 'wsindicadoreseconomicosSoap12'],
] as const) {
  test(`zeep reads venta by both operations of SOAP ${version}`, async () => {
    const read = await runProgram('soap.py', [address, binding, ...words])
    assert.deepEqual(read, { xml: venta, set: [venta] })
  })

  test(`PHP's SoapClient reads venta by both operations of SOAP ${version}`, async () => {
    const read = await runProgram('soap.php', [address, version, ...words])
    assert.deepEqual(read, { xml: venta, set: [venta] })
  })
}

test('npm soap reads venta and compra', async () => {
  assert.equal(await runProgram('soap.mjs', [address, ...words]), venta)
  assert.equal(await runProgram('soap.mjs', [address, '317', DAY, KEY]), compra)
})

test('zeep, PHP and npm soap read negative values, zero and long values of an enabled indicator', async (t) => {
  const compat = { open: undefined, serveRounded: false }
  const desk = await startIndicatorApp(t, [TBP], { listen: { compat } })
  const values: Record<string, string> = {
    '2026-03-20': '-0.25',
    '2026-03-22': '0.00000000',
    '2026-03-23': '-1234.123456789012',
  }
  desk.values['423'] = (day) => values[day]
  await desk.sync()
  await desk.enable(['423'], '2026-03-01')
  await desk.read()
  await addKey(desk, { secret: KEY, kind: 'url' })
  const service = desk.app.url + ASMX
  for (const [day, value] of Object.entries(values)) {
    const query = ['423', day.split('-').reverse().join('/'), KEY]
    const both = { xml: Number(value), set: [Number(value)] }
    assert.deepEqual(
      await runProgram('soap.py', [service, 'wsindicadoreseconomicosSoap12', ...query]),
      both,
      `zeep, ${day}`,
    )
    assert.deepEqual(await runProgram('soap.php', [service, '1.1', ...query]), both, `PHP, ${day}`)
    assert.equal(await runProgram('soap.mjs', [service, ...query]), Number(value), `npm soap, ${day}`)
  }
})

test('npm indicadores-economicos-bccr, led here by https_proxy, reads compra and venta', async (t) => {
  const { env, overTls, asked } = await leadHere(t, app, ['gee.bccr.fi.cr'])
  const proxied = { ...env, https_proxy: overTls }
  assert.deepEqual(await runProgram('indicadores-economicos-bccr.mjs', [DAY, KEY], proxied), {
    compra,
    venta,
  })
  assert.deepEqual([...asked], ['https://gee.bccr.fi.cr'])
})

test(".NET's DataSet reads days and numbers, as Mono has it", async (t) => {
  const program = join(temporaryDirectory(t), 'dataset.exe')
  const source = join(import.meta.dirname, 'programs/dataset.cs')
  await run('mcs', ['-r:System.Data.dll', '-r:System.Xml.dll', `-out:${program}`, source])
  const query = new URLSearchParams({
    Indicador: '318',
    FechaInicio: DAY,
    FechaFinal: DAY,
    Nombre: 'cambista',
  })
  for (const [name, value] of [
    ['SubNiveles', 'N'],
    ['CorreoElectronico', 'a@b.cr'],
    ['Token', KEY],
  ] as const) {
    query.set(name, value)
  }
  const read = await run('mono', [program, `${address}/ObtenerIndicadoresEconomicos?${query}`])
  assert.equal(read, `318 ${TODAY} ${venta.toFixed(8)} Decimal\n`)
})
