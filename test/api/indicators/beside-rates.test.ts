// The rates do not know of indicators: every answer is byte for byte that of a store without them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enableIndicators } from '../../../src/domain/indicators/enable.ts'
import { bccrIndicators } from '../../../src/providers/bccr/indicators/session.ts'
import { atomically } from '../../../src/store/engine.ts'
import { selectIndicators } from '../../../src/store/indicators/indicators.ts'
import { closeIndicatorRun, insertIndicatorRun } from '../../../src/store/indicators/run-records.ts'
import { type IndicatorApp, startIndicatorApp } from '../../support/rates/indicator-app.ts'
import { openDesk, XDR } from '../../support/rates/memory-bank.ts'
import { ENDPOINTS } from '../support.ts'

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

async function answers(app: IndicatorApp): Promise<Map<string, string>> {
  const bodies = new Map<string, string>()
  for (const path of PATHS) {
    const answer = await app.get(path)
    bodies.set(path, `${answer.status} ${await answer.text()}`)
  }
  return bodies
}

test('with 100 indicators and 30 runs every answer of the rates is that of a store without them', async (t) => {
  const indicators = [...new Set(CODES)].map((code) => ({ code, name: `Indicador ${code}` }))
  const compat = { open: undefined, serveRounded: true }
  const options = { now: '2026-03-24T11:00:00Z', listen: { compat } } // 05:00: no history
  const plain = await startIndicatorApp(t, indicators, options)
  const full = await startIndicatorApp(t, indicators, options)
  for (const { code } of indicators) {
    const value = (day: string) =>
      day <= TODAY && (!MONTHLY.includes(code) || day.endsWith('01')) ? '4.5' : undefined
    for (const app of [plain, full]) app.values[code] = value
  }
  await full.enable(CODES)
  assert.equal((await full.write(selectIndicators)).length, 100)
  await plain.sync()
  const requests = full.bank.requests.length
  await full.sync()
  assert.equal(full.bank.requests.length - requests, plain.bank.requests.length, 'the run asks as often')
  const run = await full.read()
  assert.ok((run?.inserted ?? 0) > 1000, `${run?.inserted} values`)
  const facts = { provider_id: 1, trigger: 'scheduler', date_from: null, date_to: null } as const
  const counts = { inserted: 0, updated: 0, unchanged: 0, history: 0 }
  for (let count = 1; count < 30; count += 1) {
    await full.write(async (db) => {
      const at = full.clock.read().toISOString()
      const id = await insertIndicatorRun(db, { ...facts, started_at: at })
      const end = { status: 'error', message: 'down', finished_at: at, token_hash: null } as const
      await closeIndicatorRun(db, id, { ...counts, ...end })
    })
  }
  assert.equal((await full.json<unknown[]>('/api/v1/indicators/runs?limit=200')).length, 30)
  const [expected, actual] = [await answers(plain), await answers(full)]
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
