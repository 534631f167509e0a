// Several providers under one server. Each is synced at its own times and retried separately, one at a time.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FetchFailure, type Provider } from '../../../src/providers/provider.ts'
import { updateProviderEnabled } from '../../../src/store/rates/providers.ts'
import { selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { openSchedulers } from '../../../src/sync/schedulers.ts'
import { pruebas } from '../../support/pruebas/pruebas.ts'
import { openDesk } from '../../support/rates/memory-bank.ts'

const MINUTE = 60_000

/** The bank on memory and another one, of which each may be down; 12:00 UTC is 06:00 and 14:00 there. */
async function openTwo(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const desk = await openDesk(t, { backfillFrom: '2026-03-20' })
  const { db, clock, bank, deps } = desk
  const down = new Set<string>()
  let reading = 0
  const watched = (provider: Provider): Provider => ({
    ...provider,
    connect(settings, signal) {
      const connection = provider.connect(settings, signal)
      return Object.assign(Object.create(connection), {
        async read(ask: Parameters<typeof connection.read>[0]) {
          assert.equal(++reading, 1, 'one at a time')
          await new Promise((resolve) => setImmediate(resolve))
          reading--
          if (down.has(provider.code)) throw new FetchFailure('down')
          return connection.read(ask)
        },
      })
    },
  })
  const other: Provider = { ...pruebas, connect: onPaper }
  const providers = [watched(bank.provider), watched(other)]
  await ensureCatalogue(db, providers, () => new Date())
  const schedulers = openSchedulers(deps, providers, {
    enabled: true,
    syncCron: ({ settings }) => settings.schedule.fallback,
  })
  t.after(() => schedulers.close())
  return {
    ...desk,
    down,
    schedulers,
    /** Starts the schedulers. The first runs of both providers have ended when it returns. */
    async start() {
      schedulers.start()
      await schedulers.idle()
    },
    /** Returns the runs since the last call, oldest first: `provider trigger`. */
    async runs() {
      const rows = (await selectRuns(db, { limit: 200 })).reverse()
      return rows
        .filter(({ trigger }) => trigger !== 'refine')
        .map((one) => {
          const code = one.provider_id === 1 ? 'bccr' : 'pruebas'
          return `${code} ${one.trigger} ${one.started_at.slice(11, 16)} ${one.status}`
        })
    },
    async setTime(instant: string) {
      clock.now = new Date(instant)
      t.mock.timers.tick(1000)
      await schedulers.idle()
    },
  }
}

/** The other bank has a value for each day up to yesterday: in Helsinki it is before four. */
function onPaper(): ReturnType<Provider['connect']> {
  return {
    async read({ window }) {
      const listed = pruebas.catalogue.map(({ externalCode = '', name }) => ({ code: externalCode, name }))
      const days = ['2026-03-20', '2026-03-23', '2026-03-24', '2026-03-25'].filter(
        (day) => day >= window.from && day <= window.to,
      )
      const observations = days.flatMap((day) =>
        listed.map(({ code }) => ({ code, day, value: '1.5', roundedTo: undefined })),
      )
      return { listed, observations }
    },
    supportsSingleSeries: false,
    exact: true,
    sourceDay: undefined,
    notices: () => [],
  }
}

test('at start each is synced, one after the other', async (t) => {
  const { start, runs } = await openTwo(t)
  await start()
  assert.deepEqual(await runs(), ['bccr startup 12:00 ok', 'pruebas startup 12:00 ok'])
})

test('each is synced at its own times, on its own days', async (t) => {
  const { start, runs, setTime } = await openTwo(t)
  await start()
  const before = (await runs()).length
  await setTime('2026-03-24T14:29:00Z')
  assert.equal((await runs()).length, before)
  await setTime('2026-03-24T14:30:00Z') // 16:30 in Helsinki
  await setTime('2026-03-25T11:00:00Z') // 05:00 in Costa Rica
  assert.deepEqual((await runs()).slice(before), ['pruebas scheduler 14:30 ok', 'bccr scheduler 11:00 ok'])
})

for (const [bad, good] of [
  ['bccr', 'pruebas'],
  ['pruebas', 'bccr'],
] as const) {
  test(`when ${bad} is down, ${bad} alone is tried again`, async (t) => {
    const { start, down, runs, setTime } = await openTwo(t)
    down.add(bad)
    await start()
    for (const time of ['12:15', '13:00', '13:15']) await setTime(`2026-03-24T${time}:00Z`)
    down.clear()
    await setTime('2026-03-24T14:15:00Z')
    const all = await runs()
    assert.deepEqual(
      all.filter((one) => one.startsWith(bad)),
      [
        `${bad} startup 12:00 error`,
        `${bad} retry 12:15 error`,
        `${bad} retry 13:15 error`,
        `${bad} retry 14:15 ok`,
      ],
    )
    assert.deepEqual(
      all.filter((one) => one.startsWith(good)),
      [`${good} startup 12:00 ok`],
    )
  })

  test(`${bad} that is down and disabled then is not tried for ever`, async (t) => {
    const { db, start, down, runs, setTime, clock, logged } = await openTwo(t)
    down.add(bad)
    await start()
    await updateProviderEnabled(db, bad, false, clock.now.getTime())
    const startMs = clock.now.getTime()
    for (let minutes = 15; minutes <= 135; minutes += 15) {
      await setTime(new Date(startMs + minutes * MINUTE).toISOString())
    }
    assert.deepEqual(
      (await runs()).filter((one) => one.startsWith(bad)),
      [`${bad} startup 12:00 error`],
    )
    const tries = logged.join('').match(/"event":"next try"/g) ?? []
    assert.equal(tries.length, 1, 'no try is planned after the one that found it disabled')
  })
}

test('closing stops what waits for its turn, too', async (t) => {
  const { schedulers, runs } = await openTwo(t)
  schedulers.start()
  await schedulers.close()
  const all = await runs()
  assert.ok(all.length <= 1, all.join())
  assert.equal(await schedulers.state(), 'stopped')
})
