// Optional sources that answer one byte a second: their time-out, and the scheduled sync of the bank beside them.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type TestContext, test } from 'node:test'
import { startBank } from '../../../src/demo/bank.ts'
import { banguat } from '../../../src/providers/banguat/banguat.ts'
import { banxico } from '../../../src/providers/banxico/banxico.ts'
import { bccr } from '../../../src/providers/bccr/bccr.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import { ecb } from '../../../src/providers/ecb/ecb.ts'
import { trm } from '../../../src/providers/trm/trm.ts'
import { selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { enableProvider } from '../../../src/sync/catalogue.ts'
import { openSchedulers } from '../../../src/sync/schedulers.ts'
import { openDesk } from '../../support/rates/memory-bank.ts'
import { startBanguat } from '../../support/sources/banguat.ts'
import { startReplay } from '../../support/sources/replay.ts'
import { retryWhenStalled } from '../../support/stalls.ts'
import { until } from '../../support/terminal.ts'

const WINDOW = { from: '2026-03-02', to: '2026-03-06' }
const PACE_MS = 40

for (const provider of [ecb, banguat, trm, banxico]) {
  test(`${provider.code}: an answer of one byte a second ends with the time-out, which names the source`, async (t) => {
    await retryWhenStalled(100, async () => {
      const source = await startReplay(
        t,
        () => new Date('2026-03-10T12:00:00Z'),
        () => ({ body: 'x'.repeat(50) }),
      )
      source.fault = () => 'trickle'
      const settings = { url: source.url, token: 'a'.repeat(64), paceMs: 0, userAgent: 'cambista/test' }
      const tuning = { timeoutMs: 250, sleep: async () => undefined }
      const session = provider.connect(settings, new AbortController().signal, tuning)
      const [group] = provider.groups
      const ask = { table: group?.table ?? '', indicator: group?.indicators?.[0], window: WINDOW }
      const name = provider === trm ? 'TRM' : provider.code
      await assert.rejects(session.read(ask), {
        ...{ name: 'FetchFailure', fact: { code: 'timeout', host: '127.0.0.1' } },
        message: `${name}: the answer was cut short (no complete answer in time)`,
      })
      assert.equal(source.requests.length, 4)
    })
  })
}

/** Times of the requests to a source. The source itself may receive one late, and the next one at once. */
function recordStarts(t: TestContext, url: string): number[] {
  const starts: number[] = []
  const onCreate = (message: unknown) => {
    const { request } = message as { request: { origin: string } }
    if (request.origin === new URL(url).origin) starts.push(performance.now())
  }
  subscribe('undici:request:create', onCreate)
  t.after(() => unsubscribe('undici:request:create', onCreate))
  return starts
}

/** Runs the schedulers from 10:00 UTC to the scheduled sync of the bank at 11:00. */
async function runScheduled(t: TestContext, { isSlow }: { isSlow: boolean }) {
  const options = { catalogue: bccrCatalogue, backfillFrom: '2026-03-20', now: '2026-03-24T10:00:00Z' }
  const { db, clock, bank: memory, deps } = await openDesk(t, options)
  const bank = await startBank({ token: 'token', today: clock.today })
  t.after(() => bank.close())
  const starts = recordStarts(t, bank.url)
  const source = await startBanguat(t, clock.read)
  source.fault = () => 'trickle'
  deps.settings = ({ code }) => {
    const shared = { token: 'token', userAgent: 'cambista/test' }
    return code === 'bccr'
      ? { ...shared, url: bank.url, paceMs: PACE_MS }
      : { ...shared, url: source.url, paceMs: 0 }
  }
  const provider = { ...memory.provider, connect: bccr.connect }
  if (isSlow) await enableProvider(db, banguat, clock.read)
  const schedulers = openSchedulers(deps, isSlow ? [provider, banguat] : [provider], {
    enabled: true,
    syncCron: ({ settings }) => settings.schedule.fallback,
  })
  t.after(() => schedulers.close())
  schedulers.start()
  const selectAll = () => selectRuns(db, { limit: 50 })
  const bankRuns = async () => (await selectAll()).filter(({ provider_id: id }) => id === 1)
  const isFinished = async (count: number) =>
    (await bankRuns()).filter(({ finished_at: end }) => end).length === count
  await until(() => isFinished(1))
  if (isSlow) await until(() => source.requests.length === 1)
  const first = bank.requests.length
  clock.now = new Date('2026-03-24T11:00:00Z') // 05:00 in Costa Rica
  await until(() => {
    t.mock.timers.tick(1000) // again: the scheduler may still be ending the first run
    return isFinished(2)
  })
  const [run] = await bankRuns()
  assert.equal(starts.length, bank.requests.length)
  const [start = 0, ...others] = starts.slice(first)
  // The mean: a process that waits may send one request late, and the next one in time.
  const meanGap = ((others.at(-1) ?? start) - start) / others.length
  return {
    run: [run?.trigger, run?.status, run?.message, run?.started_at],
    requests: bank.requests.slice(first).map(({ path, query }) => ({ path, query })),
    meanGap,
    other: (await selectAll()).find(({ provider_id: id }) => id !== 1),
  }
}

test('a source of one byte a second changes neither the scheduled sync of the bank nor its pace', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const alone = await runScheduled(t, { isSlow: false })
  const beside = await runScheduled(t, { isSlow: true })
  assert.deepEqual(beside.run, ['scheduler', 'ok', null, '2026-03-24T11:00:00.000Z'])
  assert.deepEqual(alone.run, beside.run)
  assert.ok(alone.requests.length > 1)
  assert.deepEqual(beside.requests, alone.requests)
  for (const { meanGap } of [alone, beside])
    assert.ok(meanGap > PACE_MS * 0.75, `${meanGap} ms between two requests`)
  assert.deepEqual(
    [beside.other?.status, beside.other?.message],
    ['error', 'interrupted: gave way to a sync of a required provider'],
  )
})
