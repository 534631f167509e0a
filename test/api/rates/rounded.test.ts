// Values of a source that rounds are marked in every answer, and never replace exact ones (decisions#rounded:
// rounded values).

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fetchAnswer, type MemoryApp, startMemoryApp } from '../../support/rates/memory-app.ts'
import { EUR, JPY } from '../../support/rates/memory-bank.ts'

const TODAY = '2026-03-24'
const EUR_ID = 4

/** Decimals to which the website rounds: the dollar's table two, the parities three. */
const DECIMALS: Record<string, number> = { 1: 2, 520: 3 }
const EXACT: Record<string, string> = { 317: '490.123', 318: '500.456', [EUR]: '1.12345', [JPY]: '150.98765' }
const ROUND: Record<string, string> = { 317: '490.12', 318: '500.46', [EUR]: '1.123', [JPY]: '150.988' }

/** Switches to the bank's website from the next run, with the given values or the rounded ones. */
function readWebsite(
  app: MemoryApp,
  other: (code: string, day: string) => string | undefined = () => undefined,
) {
  app.takeToken(2)
  publish(app, (code, day) => other(code, day) ?? ROUND[code])
  app.memory.fault = ({ table }, usual) => {
    const answer = usual()
    const decimals = DECIMALS[table]
    return { ...answer, observations: answer.observations.map((row) => ({ ...row, roundedTo: decimals })) }
  }
}

function readPublicApi(
  app: MemoryApp,
  other: (code: string, day: string) => string | undefined = () => undefined,
) {
  app.giveToken()
  publish(app, (code, day) => other(code, day) ?? EXACT[code])
  app.memory.fault = undefined
}

function publish(app: MemoryApp, value: (code: string, day: string) => string | undefined): void {
  for (const code of Object.keys(EXACT)) {
    app.memory.publish[code] = (day) => (day <= TODAY ? value(code, day) : undefined)
  }
}

async function openWebsite(t: TestContext): Promise<MemoryApp> {
  const app = await startMemoryApp(t)
  readWebsite(app)
  await app.sync()
  return app
}

const compra = (app: MemoryApp) => fetchAnswer(app, '/convert?amount=1&from=USD&to=CRC&type=compra')
const latest = (app: MemoryApp, query = '') => fetchAnswer(app, `/rates/latest${query}`)

async function euroPoints(app: MemoryApp, from: string): Promise<unknown> {
  const path = `/api/v1/series/${EUR_ID}/history?from=${from}`
  return (await app.json<{ points: unknown }>(path)).points
}

test('every answer with a rounded value has its number of decimals', async (t) => {
  const app = await openWebsite(t)
  assert.deepEqual(await latest(app), {
    provider: 'bccr',
    pair: 'USD/CRC',
    rate_date: TODAY,
    compra: '490.12',
    venta: '500.46',
    referencia: null,
    rounded_to: 2,
  })
  assert.deepEqual(await latest(app, '?base=EUR&quote=USD'), {
    provider: 'bccr',
    pair: 'EUR/USD',
    rate_date: TODAY,
    compra: null,
    venta: null,
    referencia: '1.123',
    rounded_to: 3,
  })
  for (const exact of [false, true]) {
    assert.deepEqual(await fetchAnswer(app, `/rates?base=EUR&exact=${exact}`), [
      {
        provider: 'bccr',
        series_id: EUR_ID,
        external_code: EUR,
        pair: 'EUR/USD',
        base_currency: 'EUR',
        quote_currency: 'USD',
        rate_type: 'referencia',
        rate_date: TODAY,
        value: '1.123',
        rounded_to: 3,
      },
    ])
  }
  assert.deepEqual(await euroPoints(app, '2026-03-23'), [
    { rate_date: '2026-03-23', value: '1.123', rounded_to: 3 },
    { rate_date: TODAY, value: '1.123', rounded_to: 3 },
  ])
  assert.deepEqual(await compra(app), {
    provider: 'bccr',
    rate_date: TODAY,
    rate_type: 'compra',
    from_currency: 'USD',
    to_currency: 'CRC',
    amount: '1',
    rate: '490.12',
    result: '490.12',
    path: 'USD -> CRC',
    via_pivot: false,
    rounded_to: 2,
  })
})

test('a chain has the least decimals of its legs, and each leg its own', async (t) => {
  const app = await openWebsite(t)
  const answer = (await fetchAnswer(app, '/convert?amount=1&from=CRC&to=JPY&details=true')) as {
    rounded_to: number
    legs: unknown
  }
  assert.equal(answer.rounded_to, 2)
  assert.deepEqual(answer.legs, [
    {
      series_id: 2,
      pair: 'USD/CRC',
      rate_type: 'venta',
      rate_date: TODAY,
      value: '500.46',
      inverse: true,
      rounded_to: 2,
    },
    {
      series_id: 5,
      pair: 'USD/JPY',
      rate_type: 'referencia',
      rate_date: TODAY,
      value: '150.988',
      inverse: false,
      rounded_to: 3,
    },
  ])
  const euros = (await fetchAnswer(app, '/convert?amount=1&from=EUR&to=JPY')) as { rounded_to: number }
  assert.equal(euros.rounded_to, 3)
  assert.ok(!('legs' in euros))
  const same = (await fetchAnswer(app, '/convert?amount=1&from=EUR&to=EUR')) as object
  assert.ok(!('rounded_to' in same))
})

test('an exact value replaces the rounded one, and the mark disappears', async (t) => {
  const app = await openWebsite(t)
  // The digits of one exact value equal the rounded one: the value is exact nevertheless.
  readPublicApi(app, (code) => (code === '318' ? '500.46' : undefined))
  await app.sync()
  assert.deepEqual(await latest(app), {
    provider: 'bccr',
    pair: 'USD/CRC',
    rate_date: TODAY,
    compra: '490.123',
    venta: '500.46',
    referencia: null,
  })
  assert.deepEqual(await euroPoints(app, TODAY), [{ rate_date: TODAY, value: '1.12345' }])
  const { legs, ...rest } = (await fetchAnswer(app, '/convert?amount=1&from=EUR&to=CRC&details=true')) as {
    legs: object[]
  }
  assert.ok(!('rounded_to' in rest))
  assert.deepEqual(
    legs.map((leg) => 'rounded_to' in leg),
    [false, false],
  )
})

test('a rounded value never replaces an exact one that agrees with it', async (t) => {
  const app = await startMemoryApp(t)
  readPublicApi(app)
  await app.sync()
  readWebsite(app)
  const { run } = await app.sync()
  assert.equal(run.updated, 0)
  assert.deepEqual(await latest(app), {
    provider: 'bccr',
    pair: 'USD/CRC',
    rate_date: TODAY,
    compra: '490.123',
    venta: '500.456',
    referencia: null,
  })
  assert.deepEqual(await euroPoints(app, TODAY), [{ rate_date: TODAY, value: '1.12345' }])
})

for (const [exact, website, expected, roundedTo] of [
  ['490.125', '490.12', '490.125', undefined],
  ['490.125', '490.13', '490.125', undefined],
  ['490.1250001', '490.12', '490.12', 2],
  ['490.12', '490.12', '490.12', undefined],
  ['490.123', '490.13', '490.13', 2],
  ['490.123', '491.12', '491.12', 2],
] as const) {
  test(`${exact} followed by ${website} from the website gives ${expected}`, async (t) => {
    const app = await startMemoryApp(t)
    readPublicApi(app, (code) => (code === '317' ? exact : undefined))
    await app.sync()
    readWebsite(app, (code) => (code === '317' ? website : undefined))
    const { run } = await app.sync()
    assert.equal(run.updated > 0, roundedTo !== undefined)
    const mark = roundedTo === undefined ? {} : { rounded_to: roundedTo }
    const { rate, rounded_to } = (await compra(app)) as { rate: string; rounded_to?: number }
    assert.deepEqual([rate, rounded_to], [expected, roundedTo])
    assert.deepEqual(await latest(app), {
      provider: 'bccr',
      pair: 'USD/CRC',
      rate_date: TODAY,
      compra: expected,
      venta: '500.456',
      referencia: null,
      ...mark,
    })
  })
}

test('rounded points alone are marked', async (t) => {
  const app = await startMemoryApp(t)
  readPublicApi(app)
  await app.sync({ from: '2026-03-01', to: '2026-03-22' })
  readWebsite(app, (code, day) => (code === EUR && day === '2026-03-22' ? '1.2' : undefined))
  await app.sync({ from: '2026-03-21', to: TODAY })
  assert.deepEqual(await euroPoints(app, '2026-03-21'), [
    { rate_date: '2026-03-21', value: '1.12345' },
    { rate_date: '2026-03-22', value: '1.2', rounded_to: 3 },
    { rate_date: '2026-03-23', value: '1.123', rounded_to: 3 },
    { rate_date: TODAY, value: '1.123', rounded_to: 3 },
  ])
  const { rounded_to } = (await latest(app, '?on=2026-03-22')) as { rounded_to?: number }
  assert.equal(rounded_to, undefined)
})

test('a rounded side marks the pair, the exact side alone stays exact', async (t) => {
  const app = await openWebsite(t)
  readPublicApi(app)
  const all = app.memory.publish
  app.memory.publish = { ...all, 318: () => undefined }
  await app.sync()
  const answer = (await latest(app)) as { compra: string; venta: string; rounded_to?: number }
  assert.deepEqual([answer.compra, answer.venta, answer.rounded_to], ['490.123', '500.46', 2])
  assert.ok(!('rounded_to' in ((await compra(app)) as object)))
})
