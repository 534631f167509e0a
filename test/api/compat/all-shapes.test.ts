// The compat APIs of Costa Rica answer as our own API does, for any day and indicator. The others have their
// own files: frankfurter-*, keyed, valor.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaled } from '../../faults/scale.ts'
import { fc } from '../../support/fast-check.ts'
import { ask, openShapes, readJson } from './support.ts'

type Rate = { external_code: string; rate_date: string; value: string }

const app = await openShapes()
const ASMX = '/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/ObtenerIndicadoresEconomicosXML'
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API/indicadoresEconomicos'

const day = fc
  .integer({ min: 0, max: 81 })
  .map((n) => new Date(Date.UTC(2026, 0, 2 + n)).toISOString().slice(0, 10))

test('the old and the present service of the bank have the stored values, for any indicator and day', async () => {
  const series = await app.json<{ external_code: string }[]>('/api/v1/series')
  const code = fc.constantFrom(...series.map(({ external_code }) => external_code))
  const property = fc.asyncProperty(code, day, async (code, on) => {
    const rates = await app.json<Rate[]>(`/api/v1/rates?on=${on}&exact=true`)
    const value = rates.find(({ external_code }) => external_code === code)?.value
    const local = on.split('-').reverse().join('/')
    const query = `Indicador=${code}&FechaInicio=${local}&FechaFinal=${local}&Nombre=N&SubNiveles=N&CorreoElectronico=a@b.cr&Token=x`
    const [, xml] = await ask(app, `${ASMX}?${query}`)
    const [, told] = /NUM_VALOR&gt;([\d.]+)&lt;/.exec(xml) ?? []
    const [whole = '', decimals = ''] = value?.split('.') ?? []
    const padded = value === undefined ? undefined : `${whole}.${decimals.padEnd(8, '0')}`
    assert.equal(told, padded?.slice(0, whole.length + '.12345678'.length))
    const slashed = on.replaceAll('-', '/')
    const [, json] = await ask(
      app,
      `${SDDE}/${code}/series?fechaInicio=${slashed}&fechaFin=${slashed}&idioma=ES`,
    )
    assert.equal(/"valorDatoPorPeriodo":([\d.]+)/.exec(json)?.[1], padded)
  })
  await fc.assert(property, { numRuns: scaled({ short: 30, long: 150 }) })
})

test('Hacienda has the stored values, for any day', async () => {
  const property = fc.asyncProperty(day, async (on) => {
    const own = await app.json<{ compra: string; venta: string }>(`/api/v1/rates/latest?on=${on}`)
    const { rate } = await app.json<{ rate: string }>(`/api/v1/convert?amount=1&from=EUR&to=CRC&on=${on}`)
    type Answer = { dolar: Record<string, { valor: number }>; euro: { colones: number } }
    const { dolar, euro } = await readJson<Answer>(app, `/indicadores/tc?fecha=${on}`)
    assert.deepEqual([dolar.compra?.valor, dolar.venta?.valor], [Number(own.compra), Number(own.venta)])
    assert.ok(Math.abs(euro.colones - Number(rate)) <= 0.005 + 1e-9, 'rounded to two decimals')
  })
  await fc.assert(property, { numRuns: scaled({ short: 25, long: 100 }) })
})
