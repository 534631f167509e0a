// Programs that know only the ECB's files read the bank's rates from them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KEY, leadHere, openForClients, runProgram, TODAY, worth } from './support.ts'

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
      const { env, asked } = await leadHere(t, app, [HOST])
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
  const { env, asked } = await leadHere(t, app, [HOST])
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
