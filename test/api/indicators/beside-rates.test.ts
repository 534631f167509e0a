// The rates do not know of indicators: every answer is byte for byte that of a store without them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enableIndicators } from '../../../src/domain/indicators/enable.ts'
import { bccrIndicators } from '../../../src/providers/bccr/indicators/indicator-source.ts'
import { atomically } from '../../../src/store/engine.ts'
import { selectIndicators } from '../../../src/store/indicators/indicators.ts'
import { type IndicatorApp, startIndicatorApp } from '../../support/rates/indicator-app.ts'
import { openDesk, XDR } from '../../support/rates/memory-bank.ts'
import { envelope, parameters, postForm, postSoap, SET_OPERATION, XML_OPERATION } from '../compat/asmx.ts'
import { readAllPaths } from '../openapi/description.ts'
import { UNSENT } from '../openapi/examples.ts'
import { sendExample } from '../openapi/requests.ts'
import { ENDPOINTS } from '../support.ts'

const RUNS = 30
const TODAY = '2026-03-24'
const MONTHLY = ['98405', '87703']
/** Interest rates, MONEX, monthly indices and counters. */
const CODES = bccrIndicators
  .named()
  .map(({ code }) => code)
  .slice(0, 100)
const PATHS = [
  ...ENDPOINTS.filter((path) => !path.endsWith('/status')),
  ...[
    '/api/v1/series?details=true',
    '/api/v1/rates?on=2026-03-20',
    '/api/v1/rates.csv',
    '/api/v1/rates.ndjson',
  ],
  ...[
    '/api/v1/export',
    '/api/v1/export.ndjson',
    '/api/v1/series/2/history.csv',
    '/api/v1/history.csv?base=USD&quote=CRC',
  ],
  ...['/api/v1/rates/latest?base=USD&quote=CRC', '/api/v1/convert?amount=2&from=EUR&to=CRC&details=true'],
  ...['/compat/frankfurter/v1/latest?base=USD&symbols=CRC', '/compat/frankfurter/v2/rates?base=USD'],
  ...['/compat/frankfurter/v1/currencies', '/compat/hacienda/indicadores/tc/dolar'],
  ...['/compat/oxr/api/latest.json', '/compat/oxr/api/currencies.json', '/compat/valor?de=EUR&a=CRC'],
  '/compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoresEconomicos/318/series?fechaInicio=2026/03/02&fechaFin=2026/03/03&idioma=ES',
  '/compat/sdde/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/cuadro/520/series?fechaInicio=2026/03/02&fechaFin=2026/03/03&idioma=ES',
]

/** Operations of the description that answer rates: the contract, batch and statement, export, every shape. */
const OF_RATES = /^\/(compat\/|api\/v1\/)/
const OF_OTHERS = /^\/api\/v1\/(indicators|ventanilla|status|documents|session|companies|owners|agents)\b/

/** Requests all answers of the rates: status, body, and the headers about the data. */
async function answers(app: IndicatorApp): Promise<Map<string, string>> {
  const bodies = new Map<string, string>()
  for (const path of PATHS) {
    const answer = await app.get(path)
    bodies.set(path, `${answer.status} ${dataHeaders(answer.headers)} ${await answer.text()}`)
  }
  const document = await readAllPaths(app.app.url)
  for (const [path, operations] of Object.entries(document.paths)) {
    if (!OF_RATES.test(path) || OF_OTHERS.test(path)) continue
    for (const [method, operation] of Object.entries(operations)) {
      if (operation.operationId in UNSENT || operation['x-codeSamples']) continue
      const { id, status, headers, text } = await sendExample(app, { path, method, operation })
      bodies.set(`${id}: ${method} ${path}`, `${status} ${dataHeaders(headers)} ${text}`)
    }
  }
  const query = parameters({ Indicador: '318', FechaInicio: '01/03/2026' })
  for (const operation of [XML_OPERATION, SET_OPERATION]) {
    const form = await postForm(app, operation, query)
    bodies.set(`form of ${operation}`, `${form.status} ${await form.text()}`)
    const soap = await postSoap(app, envelope(operation, query))
    bodies.set(`SOAP of ${operation}`, `${soap.status} ${await soap.text()}`)
  }
  return bodies
}

function dataHeaders(headers: Headers): string {
  const names = ['content-type', 'x-holes', 'x-left-out', 'x-rounded-to', 'x-ends-at', 'x-future']
  return names.map((name) => headers.get(name) ?? '-').join(' ')
}

test('with 100 indicators and 30 runs every answer of the rates is that of a store without them', async (t) => {
  const indicators = [...new Set(CODES)].map((code) => ({ code, name: `Indicador ${code}` }))
  const compat = { open: 'any', serveRounded: true } as const
  const options = { now: '2026-03-24T11:00:00Z', listen: { compat } } // 05:00: no history
  const plain = await startIndicatorApp(t, indicators, options)
  const full = await startIndicatorApp(t, indicators, options)
  for (const { code } of indicators) {
    const value = (day: string) =>
      day <= TODAY && (!MONTHLY.includes(code) || day.endsWith('01')) ? '4.5' : undefined
    for (const app of [plain, full]) app.values[code] = value
  }
  const turns = Array.from({ length: RUNS }, (_, turn) =>
    CODES.slice((turn * CODES.length) / RUNS, ((turn + 1) * CODES.length) / RUNS),
  )
  await full.enable(turns[0] ?? [])
  await plain.sync()
  const requests = full.bank.requests.length
  await full.sync()
  assert.equal(full.bank.requests.length - requests, plain.bank.requests.length, 'the run asks as often')
  let inserted = 0
  for (const codes of turns) {
    await full.enable(codes)
    inserted += (await full.read())?.inserted ?? 0
  }
  assert.equal((await full.write(selectIndicators)).length, 100)
  assert.ok(inserted > 1000, `${inserted} values`)
  assert.equal((await full.json<unknown[]>('/api/v1/indicators/runs?limit=200')).length, RUNS)
  const [expected, actual] = [await answers(plain), await answers(full)]
  assert.ok(expected.size > 110, `${expected.size} answers`)
  for (const [path, body] of expected) {
    assert.match(body, /^200 /, path)
    assert.equal(actual.get(path), body, path)
  }
})

test('a series that is learned later has the id that it has in a store without indicators', async (t) => {
  const ids: number[] = []
  for (const codes of [[], ['329', '423', XDR]]) {
    const desk = await openDesk(t, { backfillFrom: '2026-03-20' })
    desk.bank.listed.delete(XDR)
    await desk.sync()
    const owner = { id: 1, code: 'bccr', source: bccrIndicators, rateCodes: new Set<string>() }
    const now = desk.clock.read()
    await atomically(desk.db, (trx) => enableIndicators(trx, owner, codes, { from: undefined, now }))
    desk.bank.listed.set(XDR, 'Derechos Especiales de Giro')
    await desk.sync()
    ids.push(await desk.idOf('XDR'))
  }
  assert.equal(ids[0], ids[1])
})
