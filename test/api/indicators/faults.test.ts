// Faults of the bank in a run over indicators. Each has its message; rates, their runs and health do not change
// (decisions#indicators).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BankFault, BankRequest } from '../../../src/demo/bank.ts'
import { startIndicatorApp, TBP } from '../../support/rates/indicator-app.ts'

const TODAY = '2026-03-24'
const TPM = { code: '3541', name: 'Tasa de política monetaria neta' }
const PATHS = [
  'health',
  'series',
  'rates',
  'rates/latest',
  'sync/runs',
  'export',
  'history?base=USD&quote=CRC',
]

const series = (code: string, name: string, value: string) =>
  JSON.stringify({
    ...{ estado: true, mensaje: 'Consulta exitosa' },
    datos: [
      {
        ...{ codigoIndicador: code, nombreIndicador: name },
        series: [{ fecha: TODAY, valorDatoPorPeriodo: value }],
      },
    ],
  })

const isSeries = ({ path }: BankRequest, code: string) =>
  path.includes(`/indicadoresEconomicos/${code}/series`)

const FAULTS: [fault: string, answer: BankFault, message: RegExp, state: string][] = [
  ['a refused code', { status: 400, body: '' }, /^423: .*HTTP 400/, 'new'],
  ['a missing code', { status: 404, body: '' }, /^423: .*HTTP 404/, 'new'],
  [
    'an answer of another code',
    { status: 200, body: series('424', 'Otra', '1') },
    /^423: the answer is of 424, not of 423$/,
    'new',
  ],
  [
    'a wrong name',
    { status: 200, body: series('423', 'Otra tasa', '4.5') },
    /^423: the bank calls it "Otra tasa", the list "Tasa básica pasiva calculada por el BCCR": its code may have/,
    'active',
  ],
  [
    'a text as value',
    { status: 200, body: series('423', TBP.name, '1,234.5') },
    /^423: "1,234\.5" of 423 on 2026-03-24 is not a decimal: /,
    'new',
  ],
]

for (const [name, fault, message, state] of FAULTS) {
  test(`${name} is a problem of the run of indicators alone`, async (t) => {
    const app = await startIndicatorApp(t, [TBP, TPM])
    app.values[TPM.code] = (day) => (day <= TODAY ? '3.25' : undefined)
    await app.sync()
    const read = () => Promise.all(PATHS.map(async (path) => (await app.get(`/api/v1/${path}`)).text()))
    const before = await read()
    await app.enable([TBP.code, TPM.code], TODAY)
    app.bank.faults = (request) => (isSeries(request, TBP.code) ? fault : undefined)
    const run = await app.read()
    assert.equal(run?.status, 'parcial')
    assert.match(run?.message ?? '', message)
    assert.deepEqual(await read(), before)
    const { value } = await app.json<{ value: string }>(`/api/v1/indicators/${TPM.code}/latest`)
    assert.equal(value, '3.25', 'the next indicator is read')
    const status = await app.json<{ status: string; indicators: { enabled: { state: string }[] } }>(
      '/api/v1/status',
    )
    assert.deepEqual([status.status, status.indicators.enabled[0]?.state], ['ok', state])
    assert.equal((await app.json<{ status: string }>('/api/v1/health')).status, 'ok')
  })
}

test('a token that expires in the middle of a run ends it, and the rates do not know', async (t) => {
  const app = await startIndicatorApp(t, [TBP, TPM])
  for (const { code } of [TBP, TPM]) app.values[code] = (day) => (day <= TODAY ? '3.25' : undefined)
  await app.sync()
  const read = () => Promise.all(PATHS.map(async (path) => (await app.get(`/api/v1/${path}`)).text()))
  const before = await read()
  await app.enable([TBP.code, TPM.code], TODAY)
  app.bank.faults = (request) => (isSeries(request, TPM.code) ? { status: 401, body: '' } : undefined)
  const run = await app.read()
  assert.equal(run?.status, 'parcial')
  assert.match(
    run?.message ?? '',
    /^the token was refused, so the indicators wait for another one: .*HTTP 401/,
  )
  assert.deepEqual(await read(), before)
  const { value } = await app.json<{ value: string }>(`/api/v1/indicators/${TBP.code}/latest`)
  assert.equal(value, '3.25', 'the window before is stored')
  const status = await app.json<{ status: string; indicators: { enabled: { state: string }[] } }>(
    '/api/v1/status',
  )
  const states = status.indicators.enabled.map((one) => one.state)
  assert.deepEqual([status.status, states], ['ok', ['waiting', 'waiting']])
  assert.equal(await app.read(), undefined, 'the refused token is not sent again')
})
