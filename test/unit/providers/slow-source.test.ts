// Optional sources that answer one byte a second: their time-out, and the scheduled sync of the bank beside them.

import assert from 'node:assert/strict'
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
import { until } from '../../support/terminal.ts'
import { mockTimeouts } from './support.ts'

const WINDOW = { from: '2026-03-02', to: '2026-03-06' }
const PACE_MS = 3_600_000 // a pace that no stall of the machine uses up

for (const provider of [ecb, banguat, trm, banxico]) {
  test(`${provider.code}: an answer of one byte a second ends with the time-out, which names the source`, async (t) => {
    const source = await startReplay(
      t,
      () => new Date('2026-03-10T12:00:00Z'),
      () => ({ body: 'x'.repeat(500) }),
    )
    source.fault = () => 'trickle'
    const settings = { url: source.url, token: 'a'.repeat(64), paceMs: 0, userAgent: 'cambista/test' }
    const tuning = { sleep: async () => undefined }
    const connection = provider.connect(settings, new AbortController().signal, tuning)
    const [group] = provider.groups
    const ask = { table: group?.table ?? '', indicator: group?.indicators?.[0], window: WINDOW }
    const name = provider === trm ? 'TRM' : provider.code
    mockTimeouts(t, { isAtHeaders: true })
    await assert.rejects(connection.read(ask), {
      ...{ name: 'FetchFailure', fact: { code: 'timeout', host: '127.0.0.1' } },
      message: `${name}: the answer was cut short (no complete answer in time)`,
    })
    assert.equal(source.requests.length, 4)
  })
}

/** Runs the schedulers from 10:00 UTC to the scheduled sync of the bank at 11:00. */
async function runScheduled(t: TestContext, { isSlow }: { isSlow: boolean }) {
  const options = { catalogue: bccrCatalogue, backfillFrom: '2026-03-20', now: '2026-03-24T10:00:00Z' }
  const { db, clock, bank: memory, deps } = await openDesk(t, options)
  const bank = await startBank({ token: 'token', today: clock.today })
  t.after(() => bank.close())
  const source = await startBanguat(t, clock.read)
  source.fault = () => 'trickle'
  deps.settings = ({ code }) => {
    const shared = { token: 'token', userAgent: 'cambista/test' }
    return code === 'bccr'
      ? { ...shared, url: bank.url, paceMs: PACE_MS }
      : { ...shared, url: source.url, paceMs: 0 }
  }
  let waits: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)
  const connect: typeof bccr.connect = (...words) => bccr.connect(words[0], words[1], { sleep })
  const provider = { ...memory.provider, connect }
  if (isSlow) await enableProvider(db, banguat, clock.read)
  const schedulers = openSchedulers(deps, isSlow ? [provider, banguat] : [provider], {
    enabled: true,
    syncCron: ({ settings }) => settings.schedule.fallback,
  })
  t.after(() => schedulers.close())
  schedulers.start()
  const selectAll = () => selectRuns(db, { limit: 50 })
  const bankRuns = async () => (await selectAll()).filter(({ provider_id: id }) => id === 1)
  if (isSlow) await until(() => source.requests.length === 1)
  else await schedulers.idle()
  const first = bank.requests.length
  waits = []
  clock.now = new Date('2026-03-24T11:00:00Z') // 05:00 in Costa Rica
  t.mock.timers.tick(1000)
  await schedulers.idle()
  const [run] = await bankRuns()
  return {
    run: [run?.trigger, run?.status, run?.message, run?.started_at],
    requests: bank.requests.slice(first).map(({ path, query }) => ({ path, query })),
    waits,
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
  for (const { waits, requests } of [alone, beside]) {
    assert.equal(waits.length, requests.length - 1)
    assert.ok(
      waits.every((ms) => ms > PACE_MS / 2 && ms <= PACE_MS),
      String(waits),
    )
  }
  assert.deepEqual(
    [beside.other?.status, beside.other?.message],
    ['error', 'interrupted: gave way to a sync of a required provider'],
  )
})
