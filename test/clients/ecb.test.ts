// Programs that know only the ECB's files read the bank's rates from them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interceptCertificate, KEY, leadHere, openForClients, runProgram, TODAY, worth } from './support.ts'

const ORIGIN = 'https://www.ecb.europa.eu'
const HOST = 'www.ecb.europa.eu'
const SUNDAY = '2026-03-22'

const app = await openForClients({
  backfillFrom: '2025-12-01',
  listen: { compat: { open: 'any', serveRounded: false } },
})

for (const [name, now] of [
  ['a weekday', undefined],
  ['a Sunday', `${SUNDAY}T16:00:00Z`],
] as const) {
  test(`Finance::Quote, led here by LWP's proxy, reads ECB's daily file on ${name}`, async (t) => {
    const savedTime = app.clock.now
    if (now) app.clock.now = new Date(now)
    try {
      const on = now ? SUNDAY : TODAY
      const { env, asked } = await leadHere(t, app, [HOST], await interceptCertificate(t, [HOST]))
      for (const [from, to] of [
        ['USD', 'CRC'],
        ['EUR', 'CRC'],
        ['CRC', 'USD'],
      ] as const) {
        const [read] = await runProgram<[number]>('finance-quote.pl', ['ECB', from, to, ''], env)
        const query = new URLSearchParams({ amount: '1', from, to, on })
        const { rate } = await app.json<{ rate: string }>(`/api/v1/convert?${query}`)
        assert.ok(Math.abs(read / Number(rate) - 1) < 1e-9, `${from}/${to} ${read} is not ${rate}`)
      }
      assert.deepEqual([...asked], [ORIGIN])
    } finally {
      app.clock.now = savedTime
    }
  })
}

for (const file of ['daily', 'hist-90d', 'hist']) {
  test(`the PHP of the ECB's page reads eurofxref-${file}.xml line by line`, async () => {
    const url = `${app.app.url}/k/${KEY}/stats/eurofxref/eurofxref-${file}.xml`
    const days = await runProgram<Record<string, Record<string, string>>>('ecb-lines.php', [url])
    const listed = Object.keys(days)
    assert.deepEqual(listed, listed.toSorted().toReversed())
    assert.equal(listed[0], TODAY)
    if (file !== 'daily') assert.ok(listed.length >= 90 && listed.includes(SUNDAY), `${listed.length} days`)
    for (const [code, rate] of Object.entries(days[TODAY] ?? {}))
      assert.equal(Number(rate), await worth(app, 'EUR', code), code)
    assert.ok(Object.keys(days[TODAY] ?? {}).length > 40)
  })
}

test('npm ecb-euro-exchange-rates, led here by NODE_USE_ENV_PROXY, reads the three XML files', async (t) => {
  const { env, asked } = await leadHere(t, app, [HOST], await interceptCertificate(t, [HOST]))
  const fetching = { ...env, NODE_USE_ENV_PROXY: '1' }
  for (const file of ['daily', '90d', 'historic']) {
    const days = await runProgram<{ time: string; rates: Record<string, number> }[]>(
      'ecb-euro-exchange-rates.mjs',
      [file],
      fetching,
    )
    const [newest] = days
    assert.equal(newest?.time, TODAY)
    assert.equal(newest?.rates.CRC, await worth(app, 'EUR', 'CRC'))
    assert.equal(newest?.rates.USD, await worth(app, 'EUR', 'USD'))
    assert.ok(file === 'daily' ? days.length === 1 : days.length >= 90 && days.some(isSunday), file)
  }
  assert.deepEqual([...asked], [ORIGIN])
})

function isSunday({ time }: { time: string }): boolean {
  return time === SUNDAY
}

/** Rate of a unit on a day, by /convert. */
async function dayRate(from: string, to: string, on: string): Promise<number> {
  const query = new URLSearchParams({ amount: '1', from, to, on })
  return Number((await app.json<{ rate: string }>(`/api/v1/convert?${query}`)).rate)
}

function near(value: number, expected: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(value / expected - 1) < tolerance, `${what}: ${value} is not ${expected}`)
}

/** Days of each file: the newest, a Sunday and a weekday of the 90 days, and an older one. */
const DAYS = [TODAY, SUNDAY, '2026-03-18', '2025-12-14']

test("Tryton's reader, of Debian, led here by a proxy, has the rates of each day", async (t) => {
  const { env, asked } = await leadHere(t, app, [HOST], await interceptCertificate(t, [HOST]))
  const read = (currency: string, day: string) =>
    runProgram<Record<string, string>>('tryton-ecb.py', [currency, day], env)
  for (const day of DAYS) {
    const euro = await read('EUR', day)
    near(Number(euro.CRC) / Number(euro.USD), await dayRate('USD', 'CRC', day), 1e-9, day)
    const dollar = await read('USD', day) // with four decimals
    near(Number(dollar.CRC), await dayRate('USD', 'CRC', day), 1e-6, day)
    assert.equal((await read('CRC', day)).USD, (1 / (await dayRate('USD', 'CRC', day))).toFixed(4))
  }
  assert.equal(await read('EUR', '2026-03-25'), 'not available', 'tomorrow')
  assert.deepEqual([...asked], [ORIGIN])
})

test('a reader with the rules of OCA, led here by a proxy, has the rates of each day', async (t) => {
  const { env, asked } = await leadHere(t, app, [HOST], await interceptCertificate(t, [HOST]))
  const read = (from: string, to: string) =>
    runProgram<Record<string, Record<string, string>>>(
      'oca-ecb.py',
      [TODAY, from, to, 'CRC', 'USD', 'JPY'],
      env,
    )
  const days = await read(DAYS[2] ?? '', TODAY)
  assert.deepEqual(Object.keys(days).length, 7)
  for (const [from, to] of [
    [TODAY, TODAY],
    [SUNDAY, SUNDAY],
    ['2025-12-14', '2025-12-15'],
  ] as const)
    Object.assign(days, await read(from, to))
  for (const day of DAYS) {
    const { USD, JPY, EUR } = days[day] ?? {}
    near(1 / Number(USD), await dayRate('USD', 'CRC', day), 1e-6, `USD ${day}`)
    near(1 / Number(JPY), await dayRate('JPY', 'CRC', day), 1e-6, `JPY ${day}`)
    near(1 / Number(EUR), await dayRate('EUR', 'CRC', day), 1e-6, `EUR ${day}`)
  }
  assert.deepEqual([...asked], [ORIGIN])
})

test('a reader with the rules of florianv/exchanger, led here by a proxy, has the rates of each day', async (t) => {
  const { env, asked } = await leadHere(t, app, [HOST], await interceptCertificate(t, [HOST]))
  const read = (day: string, quote: string) =>
    runProgram<{ day: string; rate: number }>('exchanger-ecb.php', [TODAY, day, quote], env)
  for (const day of DAYS) {
    const [colones, dollars] = [await read(day, 'CRC'), await read(day, 'USD')]
    assert.deepEqual([colones.day, dollars.day], [day, day])
    near(colones.rate / dollars.rate, await dayRate('USD', 'CRC', day), 1e-9, day)
  }
  assert.deepEqual([...asked], [ORIGIN])
})
