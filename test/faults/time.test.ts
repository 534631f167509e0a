// Clocks that jump and machines that sleep, in random order: the scheduler against the wall clock.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../src/runtime/log.ts'
import { createScheduler } from '../../src/sync/scheduler.ts'
import { openDesk } from '../support/rates/memory-bank.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { fixedClock } from '../support/temporary.ts'
import { figure, scaled } from './scale.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const DAWN = 11 * HOUR // 05:00 in Costa Rica, in UTC

test('the scheduler syncs once, soon after each dawn, whatever the clock does', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const seeds = scaled({ short: 20, long: 500 })
  figure(t, 'seeds', `${SEED} to ${SEED + seeds - 1}`)
  let runs = 0
  for (let seed = SEED; seed < SEED + seeds; seed++) {
    try {
      runs += await runEvents(t, createRandom(seed))
    } catch (error) {
      throw new Error(`CAMBISTA_SEED=${seed}`, { cause: error })
    }
  }
  figure(t, 'syncs', runs)
})

/** A scheduler of the dawn that has never synced, and the count of its runs. */
function createCountingScheduler(clock: ReturnType<typeof fixedClock>) {
  let runs = 0
  const scheduler = createScheduler({
    provider: 'bccr',
    cron: '0 5 * * *',
    timeZone: 'America/Costa_Rica',
    clock: clock.read,
    log: createLog({ level: 'error', format: 'json', write: () => undefined }),
    run: async () => {
      runs++
      return undefined
    },
    facts: {
      enabled: true,
      lastRun: undefined,
      starts: [],
      hasRates: false,
      current: false,
      due: "today's dollar",
      tokenHash: null,
    },
  })
  return { scheduler, runs: () => runs }
}

/** Forty events of a clock. Returns the number of syncs. */
async function runEvents(t: TestContext, random: Random): Promise<number> {
  const clock = fixedClock(new Date(Date.UTC(2023, 11, 20 + random.int(0, 900), 12)).toISOString())
  const { scheduler, runs } = createCountingScheduler(clock)
  scheduler.start()
  const advance = async (ms: number) => {
    clock.now = new Date(clock.now.getTime() + ms)
    const before = runs()
    t.mock.timers.tick(SECOND)
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(runs() - before <= 1)
    return runs() - before
  }
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(runs(), 1) // the store is empty
  for (let event = 0; event < 40; event++) {
    const kind = random.int(0, 4)
    const from = clock.now.getTime()
    if (kind === 0) {
      const sleepMs = random.int(1, 10 * DAY)
      assert.equal(
        await advance(sleepMs),
        countDawns(from, from + sleepMs) > 0 ? 1 : 0,
        'one sync after a sleep',
      )
      assert.equal(await advance(SECOND), 0, 'and not another')
    } else if (kind === 1) {
      assert.equal(await advance(-random.int(HOUR, 2 * DAY)), 0, 'a clock that is set back starts no sync')
    } else if (kind === 2) {
      await advance(365 * DAY)
      assert.equal(await advance(-365 * DAY), 0)
    } else if (kind === 3) {
      let back = 0
      for (let nudge = 0; nudge < 10; nudge++) {
        const ms = random.int(1, 3 * SECOND)
        assert.equal(await advance(-ms), 0)
        back += ms
      }
      assert.equal(await advance(back), 0, 'a dawn that has passed starts no second sync')
    } else {
      let syncs = 0
      for (let elapsed = 0; elapsed < DAY; elapsed += 10 * MINUTE) syncs += await advance(10 * MINUTE)
      assert.equal(syncs, 1, `a day from ${new Date(from).toISOString()} has one sync`)
    }
    const next = scheduler.nextRun()?.getTime() ?? 0
    assert.ok(next > clock.now.getTime() && next <= clock.now.getTime() + DAY + MINUTE, 'within a day')
  }
  await scheduler.close()
  return runs()
}

/** Number of dawns after `from` and up to `to`. */
function countDawns(from: number, to: number): number {
  return Math.floor((to - DAWN) / DAY) - Math.floor((from - DAWN) / DAY)
}

test('the scheduler does not sync again if the clock goes back over the dawn', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = fixedClock('2026-03-25T10:59:59Z')
  const { scheduler, runs } = createCountingScheduler(clock)
  t.after(() => scheduler.close())
  scheduler.start()
  await new Promise((resolve) => setImmediate(resolve))
  for (let step = 0; step < 20; step++) {
    clock.now = new Date(clock.now.getTime() + (step % 2 === 0 ? 3 * SECOND : -2.9 * SECOND))
    t.mock.timers.tick(SECOND)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(runs(), 2) // at start, and at dawn
})

// Clocks of a machine with an empty battery, of a wrong setting, and on rare days.
const WRONG_CLOCKS = [
  '1970-01-01T00:00:05Z',
  '1999-12-31T23:59:59Z',
  '2036-02-29T05:59:59Z',
  '2038-01-19T03:14:08Z',
  '2100-03-01T06:00:00Z',
]
for (const wrong of WRONG_CLOCKS) {
  test(`a sync under a clock of ${wrong} does no harm, before or after correct ones`, async (t) => {
    const { clock, sync, stored, covered, bank } = await openDesk(t, {
      now: wrong,
      backfillFrom: '2026-02-01',
    })
    const right = new Date('2026-03-24T12:00:00Z')
    bank.today = '2026-03-24' // the bank's own clock is right
    const published = (day: string) =>
      day >= '2026-01-01' && day <= `${right.toISOString().slice(0, 8)}25` ? '500' : undefined
    bank.publish['317'] = published
    bank.publish['318'] = published
    for (const code of bank.listed.keys()) bank.publish[code] = (day) => published(day) && '1.1'
    bank.publish['318'] = published
    const checkCorrectClock = async () => {
      clock.now = right
      await sync()
      const run = await sync()
      assert.equal(run.message?.includes('rejected') ?? false, false, run.message ?? '')
      // Days that a clock in the past requested are covered too, and empty.
      const newest = [(await covered('CRC')) ?? []].flat().at(-1)
      assert.deepEqual(newest, { from: '2026-02-01', to: '2026-03-25' })
      assert.equal(Object.keys(await stored('CRC')).length, 53)
      assert.equal(run.current, true)
    }
    await sync()
    await checkCorrectClock()
    clock.now = new Date(wrong)
    await sync()
    assert.ok(bank.asked.length < 1000, String(bank.asked.length))
    await checkCorrectClock()
  })
}

test('day and schedule follow Costa Rica in every time zone of the machine', (t) => {
  const zones =
    'UTC America/Costa_Rica America/New_York America/Santiago Europe/Madrid Australia/Lord_Howe'.split(' ')
  zones.push('Pacific/Apia', 'Pacific/Kiritimati', 'Asia/Kathmandu', 'Africa/Casablanca', 'Antarctica/Troll')
  const allZones = Intl.supportedValuesOf('timeZone')
  const testedZones = scaled({ short: 0, long: 1 })
    ? [...new Set([...zones, ...allZones.filter((_, at) => at % 10 === 0)])]
    : zones.slice(3, 6)
  const outputs = testedZones.map((zone) => scheduleInZone(zone))
  assert.deepEqual(new Set(outputs), new Set([scheduleInZone('UTC')]))
  assert.match(outputs[0] ?? '', /2024-02-29/)
  figure(t, 'zones', testedZones.length)
})

/**
 * Output of a process in that zone for four years: the day of each 13th hour, its next and last scheduled time.
 */
function scheduleInZone(zone: string): string {
  const dates = import.meta.resolve('../../src/values/dates.ts')
  const schedule = import.meta.resolve('../../src/runtime/schedule.ts')
  const script = `
    const { currentDay } = await import('${dates}')
    const { nextTime, previousTime } = await import('${schedule}')
    const lines = []
    for (let hour = 0; hour < 4 * 8766; hour += 13) {
      const now = new Date(Date.UTC(2023, 0, 1, hour, 30))
      const [next, last] = [nextTime('0 5 * * *', now), previousTime('0 5 * * *', now)]
      if (!(next > now && next - now <= 864e5 && last <= now && now - last < 864e5)) throw new Error(now.toISOString())
      lines.push(currentDay(() => now), next.getTime(), last.getTime())
    }
    console.log(lines.join())`
  const result = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, TZ: zone },
    encoding: 'utf8',
  })
  assert.equal(result.status, 0, `${zone}: ${result.stderr}`)
  return result.stdout
}
