// The TRM of Colombia through a whole server: days of a range, and digits as captured.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { trm } from '../../../src/providers/trm/trm.ts'
import { startTestApp } from '../../support/app.ts'
import { enableProviders } from '../../support/sources/enable.ts'
import { startTrm } from '../../support/sources/trm.ts'
import { fixedClock } from '../../support/temporary.ts'

type Json = Record<string, unknown>
type Points = { points: { rate_date: string; value: string }[] }

// 19:00 in Bogotá: the value of the next day is there.
const FRIDAY = '2026-03-21T00:00:00Z'
const MONDAY = '2026-03-24T00:00:00Z'

async function start(t: TestContext) {
  const clock = fixedClock(FRIDAY)
  const source = await startTrm(t, clock.read)
  const app = await startTestApp(t, {
    clock,
    backfillFrom: '2026-03-16',
    providers: [bccr, trm],
    sources: { trm: () => ({ url: source.url, token: undefined }) },
  })
  await enableProviders(app, [trm])
  const sync = async () => {
    const ends = await app.app.sync({
      trigger: 'cli',
      range: undefined,
      signal: new AbortController().signal,
    })
    return ends.map(({ run, current }) => [run.provider_id, run.status, run.message, current])
  }
  const points = async () => {
    const [series] = await app.json<Json[]>('/api/v1/series?provider=trm')
    const path = `/api/v1/series/${series?.id}/history?from=2026-03-16&to=2026-03-31`
    return (await app.json<Points>(path)).points.map(({ rate_date, value }) => `${rate_date} ${value}`)
  }
  return { ...app, source, sync, points }
}

test('the TRM of Friday is stored up to Saturday, and on Monday the rest of its range', async (t) => {
  const { sync, points, clock, json } = await start(t)
  assert.deepEqual(await sync(), [
    [1, 'ok', null, true],
    [4, 'ok', null, true],
  ])
  const week = ['2026-03-17 3691.9', '2026-03-18 3689.97', '2026-03-19 3704.17', '2026-03-20 3692.48']
  assert.deepEqual(await points(), [...week, '2026-03-21 3704.87'])
  clock.now = new Date(MONDAY)
  assert.deepEqual((await sync()).at(-1), [4, 'ok', null, true])
  const weekend = ['2026-03-21', '2026-03-22', '2026-03-23', '2026-03-24'].map((day) => `${day} 3704.87`)
  assert.deepEqual(await points(), [...week, ...weekend])
  assert.deepEqual(await json<Json>('/api/v1/rates/latest?provider=trm&base=USD&quote=COP&on=2026-03-22'), {
    ...{ provider: 'trm', pair: 'USD/COP', rate_date: '2026-03-22' },
    ...{ compra: null, venta: null, referencia: '3704.87' },
  })
})

test('a conversion names the source, and each source has its own rate', async (t) => {
  const { sync, json } = await start(t)
  await sync()
  const convert = (provider: string) =>
    json<Json>(`/api/v1/convert?amount=1&from=USD&to=COP&provider=${provider}&on=2026-03-19`)
  const [ours, bank] = [await convert('trm'), await convert('bccr')]
  assert.deepEqual([ours.rate, ours.provider, ours.rate_date], ['3704.17', 'trm', '2026-03-19'])
  assert.equal(bank.provider, 'bccr')
  assert.notEqual(bank.rate, ours.rate)
})

test('the TRM is fresh in the evening before its day, and stale on the third missed day', async (t) => {
  const { sync, json, clock } = await start(t)
  await sync()
  clock.now = new Date('2026-03-23T20:00:00Z')
  const fresh = async () => {
    const { providers } = await json<{ providers: { code: string; fresh: boolean }[] }>('/api/v1/status')
    return providers.find(({ code }) => code === 'trm')?.fresh
  }
  assert.equal(await fresh(), true)
  clock.now = new Date('2026-03-24T20:00:00Z')
  assert.equal(await fresh(), false)
})
