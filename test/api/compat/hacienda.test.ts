import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, openShapes, readJson, startTestApp, TODAY } from './support.ts'

const app = await openShapes()
const { compra, venta } = await app.json<{ compra: string; venta: string }>('/api/v1/rates/latest')
const { rate: dolares } = await app.json<{ rate: string }>('/api/v1/convert?amount=1&from=EUR&to=USD')

/** Multiplies two decimals exactly and rounds to two places, half up. */
function toColones(euro: string, dollar: string): number {
  const places = (text: string) => text.split('.')[1]?.length ?? 0
  const digits = (text: string) => BigInt(text.replace('.', ''))
  const scale = 10n ** BigInt(places(euro) + places(dollar) - 2)
  return Number((2n * digits(euro) * digits(dollar) + scale) / (2n * scale)) / 100
}

const colones = toColones(dolares, venta)
const DOLLAR = `{"venta":{"fecha":"${TODAY}","valor":${venta}},"compra":{"fecha":"${TODAY}","valor":${compra}}}`
const EURO = `{"fecha":"${TODAY}","dolares":${dolares},"colones":${colones}}`

for (const [path, body] of [
  ['/indicadores/tc', `{"dolar":${DOLLAR},"euro":${EURO}}`],
  ['/indicadores/tc/dolar', DOLLAR],
  ['/indicadores/tc/dolar/', DOLLAR],
  ['/indicadores/tc/euro', EURO],
  ['/compat/hacienda/indicadores/tc/dolar?whatever=1', DOLLAR],
  [`/indicadores/tc/dolar?fecha=${TODAY}`, DOLLAR],
  ['/indicadores/tc/dolar?fecha=2030-01-01', DOLLAR],
] as const) {
  test(`${path} has the bytes of today`, async () => assert.deepEqual(await ask(app, path), [200, body]))
}

test('dates are accepted in the form of 2020, or with their zone', async () => {
  const old = `{"dolar":${DOLLAR.replaceAll(TODAY, `${TODAY} 00:00:00`)},"euro":${EURO.replace(TODAY, `${TODAY}T00:00:00-06:00`)}}`
  assert.deepEqual(await ask(app, '/indicadores/tc?fechas=2020'), [200, old])
  assert.deepEqual(await ask(app, '/compat/hacienda-2020/indicadores/tc'), [200, old])
  const iso = DOLLAR.replaceAll(TODAY, `${TODAY}T00:00:00-06:00`)
  assert.deepEqual(await ask(app, '/indicadores/tc/dolar?fechas=iso'), [200, iso])
})

test('the history has an object for each calendar day, compra beside venta', async () => {
  const path = '/indicadores/tc/dolar/historico/?d=2026-03-20&h=2026-03-24'
  const days = await readJson<{ fecha: string; compra: number; venta: number }[]>(app, path)
  const dates = [20, 21, 22, 23, 24].map((day) => `2026-03-${day} 00:00:00`)
  assert.deepEqual(
    days.map(({ fecha }) => fecha),
    dates,
  )
  for (const { fecha, compra, venta } of days) {
    const on = fecha.slice(0, 10)
    const own = await app.json<{ compra: string; venta: string }>(`/api/v1/rates/latest?on=${on}`)
    assert.deepEqual([compra, venta], [Number(own.compra), Number(own.venta)])
  }
  assert.deepEqual(Object.keys(days[0] ?? {}), ['fecha', 'compra', 'venta'])
  assert.deepEqual(await ask(app, '/indicadores/tc/dolar/historico?d=1980-01-01&h=1980-02-01'), [200, '[]'])
  assert.deepEqual(await ask(app, '/indicadores/tc/dolar/historico?d=2026-03-24&h=2026-03-20'), [200, '[]'])
})

for (const query of [
  '',
  '?d=2026-03-01',
  '?h=2026-03-01',
  '?D=2026-03-01&H=2026-03-02',
  '?d=1/3/2026&h=2026-03-02',
]) {
  test(`a history of ${query || 'nothing'} is a bad request`, async () => {
    const path = `/indicadores/tc/dolar/historico${query}`
    assert.deepEqual(await ask(app, path), [400, '{"code":400,"status":"Bad request"}'])
  })
}

test('other paths of the host are a 404 in the form of Hacienda', async () => {
  for (const path of ['/fe/ae?identificacion=1', '/indicadores/tc/yen', '/indicadores/tc/dolar/x']) {
    assert.deepEqual(await ask(app, path), [404, '{"code":404,"status":"Not found"}'], path)
  }
})

test('websites may read every answer, and errors are not cached', async () => {
  const { headers } = await fetch(`${app.app.url}/indicadores/tc`)
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(headers.get('content-type'), 'application/json')
  const wrong = await fetch(`${app.app.url}/indicadores/tc?fecha=x`)
  assert.deepEqual([wrong.status, wrong.headers.get('cache-control')], [400, 'no-store'])
})

test('historico leaves out a day with one side only, and the log counts such days once', async (t) => {
  const oneSided = await startTestApp(t, {
    bank: {
      value: (code, day) => {
        if (code !== '317' && code !== '318') return undefined
        return code === '317' && (day === '2026-03-10' || day === '2026-03-12') ? null : '500'
      },
    },
    listen: { compat: { open: 'any', serveRounded: false } },
  })
  await oneSided.sync()
  const path = '/indicadores/tc/dolar/historico?d=2026-03-09&h=2026-03-13'
  for (let times = 0; times < 2; times += 1) {
    const rows = await readJson<{ fecha: string }[]>(oneSided, path)
    assert.deepEqual(
      rows.map(({ fecha }) => fecha.slice(0, 10)),
      ['2026-03-09', '2026-03-11', '2026-03-13'],
    )
  }
  const lines = oneSided.logLines.filter((line) => line.includes('days with one side are left out'))
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /"days":2/)
})
