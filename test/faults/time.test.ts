// Clocks that jump and machines that sleep, in chance order: the scheduler against what the wall says.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../src/log.ts'
import { createScheduler } from '../../src/sync/scheduler.ts'
import { openDesk } from '../support/rates/memory-bank.ts'
import { type Random, randomOf } from '../support/rates/random-bank.ts'
import { fixedClock } from '../support/temporary.ts'
import { figure, SEED, scaled } from './scale.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const DAWN = 11 * HOUR // 05:00 in Costa Rica, in UTC

test('whatever the clock does, each dawn that is reached is synced once and soon, and none is synced in a loop', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const seeds = scaled({ short: 20, long: 500 })
  figure(t, 'seeds', `${SEED} to ${SEED + seeds - 1}`)
  let runs = 0
  for (let seed = SEED; seed < SEED + seeds; seed++) {
    try {
      runs += await jumpAbout(t, randomOf(seed))
    } catch (error) {
      throw new Error(`CAMBISTA_SEED=${seed}`, { cause: error })
    }
  }
  figure(t, 'syncs', runs)
})

/** A scheduler of the dawn that has never synced, and how often it has by now. */
function countingScheduler(clock: ReturnType<typeof fixedClock>) {
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

/** Forty events of one machine's clock; how many syncs they brought. */
async function jumpAbout(t: TestContext, random: Random): Promise<number> {
  const clock = fixedClock(new Date(Date.UTC(2023, 11, 20 + random.int(0, 900), 12)).toISOString())
  const { scheduler, runs } = countingScheduler(clock)
  scheduler.start()
  const look = async (ms: number) => {
    clock.now = new Date(clock.now.getTime() + ms)
    const before = runs()
    t.mock.timers.tick(SECOND)
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(runs() - before <= 1)
    return runs() - before
  }
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(runs(), 1) // nobody has ever synced
  for (let event = 0; event < 40; event++) {
    const what = random.int(0, 4)
    const from = clock.now.getTime()
    if (what === 0) {
      const slept = random.int(1, 10 * DAY)
      assert.equal(await look(slept), dawnsBetween(from, from + slept) > 0 ? 1 : 0, 'one sync after a sleep')
      assert.equal(await look(SECOND), 0, 'and not another')
    } else if (what === 1) {
      assert.equal(await look(-random.int(HOUR, 2 * DAY)), 0, 'a clock that is set back is no reason')
    } else if (what === 2) {
      await look(365 * DAY)
      assert.equal(await look(-365 * DAY), 0)
    } else if (what === 3) {
      let back = 0
      for (let nudge = 0; nudge < 10; nudge++) {
        const ms = random.int(1, 3 * SECOND)
        assert.equal(await look(-ms), 0)
        back += ms
      }
      assert.equal(await look(back), 0, 'what was reached before is not reached again')
    } else {
      let synced = 0
      for (let passed = 0; passed < DAY; passed += 10 * MINUTE) synced += await look(10 * MINUTE)
      assert.equal(synced, 1, `a day from ${new Date(from).toISOString()} has one sync`)
    }
    const next = scheduler.status().nextRun?.getTime() ?? 0
    assert.ok(next > clock.now.getTime() && next <= clock.now.getTime() + DAY + MINUTE, 'within a day')
  }
  await scheduler.close()
  return runs()
}

/** How many times it becomes five o'clock after the first and up to the last. */
function dawnsBetween(from: number, to: number): number {
  return Math.floor((to - DAWN) / DAY) - Math.floor((from - DAWN) / DAY)
}

test('a clock that is nudged back over the dawn does not sync again', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = fixedClock('2026-03-25T10:59:59Z')
  const { scheduler, runs } = countingScheduler(clock)
  t.after(() => scheduler.close())
  scheduler.start()
  await new Promise((resolve) => setImmediate(resolve))
  for (let look = 0; look < 20; look++) {
    clock.now = new Date(clock.now.getTime() + (look % 2 === 0 ? 3 * SECOND : -2.9 * SECOND))
    t.mock.timers.tick(SECOND)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(runs(), 2) // at start, and at dawn
})

// the clock of a machine whose battery is dead, of one set wrongly, and of days that are rare
const WRONG_CLOCKS = [
  '1970-01-01T00:00:05Z',
  '1999-12-31T23:59:59Z',
  '2036-02-29T05:59:59Z',
  '2038-01-19T03:14:08Z',
  '2100-03-01T06:00:00Z',
]
for (const wrong of WRONG_CLOCKS) {
  test(`a run under a clock of ${wrong} harms nothing, neither at first nor later`, async (t) => {
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
    const sane = async () => {
      clock.now = right
      await sync()
      const run = await sync()
      assert.equal(run.message?.includes('rejected') ?? false, false, run.message ?? '')
      // What a clock of long ago has asked for is covered too, and holds nothing.
      const newest = [(await covered('CRC')) ?? []].flat().at(-1)
      assert.deepEqual(newest, { from: '2026-02-01', to: '2026-03-25' })
      assert.equal(Object.keys(await stored('CRC')).length, 53)
      assert.equal(run.current, true)
    }
    await sync()
    await sane()
    clock.now = new Date(wrong)
    await sync()
    assert.ok(bank.asked.length < 1000, String(bank.asked.length))
    await sane()
  })
}

test('the day and the schedule are those of Costa Rica in every zone of the machine', (t) => {
  const zones =
    'UTC America/Costa_Rica America/New_York America/Santiago Europe/Madrid Australia/Lord_Howe'.split(' ')
  zones.push('Pacific/Apia', 'Pacific/Kiritimati', 'Asia/Kathmandu', 'Africa/Casablanca', 'Antarctica/Troll')
  const more = Intl.supportedValuesOf('timeZone')
  const chosen = scaled({ short: 0, long: 1 })
    ? [...new Set([...zones, ...more.filter((_, at) => at % 10 === 0)])]
    : zones.slice(3, 6)
  const said = chosen.map((zone) => inZone(zone))
  assert.deepEqual(new Set(said), new Set([inZone('UTC')]))
  assert.match(said[0] ?? '', /2024-02-29/)
  figure(t, 'zones', chosen.length)
})

/** What a process of that zone says of four years: each hour's day, the next and the last time, written down. */
function inZone(zone: string): string {
  const source = join(import.meta.dirname, '../../src')
  const script = `
    const { todayIn } = await import('${source}/dates.ts')
    const { nextTime, previousTime } = await import('${source}/schedule.ts')
    const said = []
    for (let hour = 0; hour < 4 * 8766; hour += 13) {
      const now = new Date(Date.UTC(2023, 0, 1, hour, 30))
      const [next, last] = [nextTime('0 5 * * *', now), previousTime('0 5 * * *', now)]
      if (!(next > now && next - now <= 864e5 && last <= now && now - last < 864e5)) throw new Error(now.toISOString())
      said.push(todayIn(() => now), next.getTime(), last.getTime())
    }
    console.log(said.join())`
  const end = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, TZ: zone },
    encoding: 'utf8',
  })
  assert.equal(end.status, 0, `${zone}: ${end.stderr}`)
  return end.stdout
}
