// Wrong rates must never be answered silently. Every kind of answer is compared with a model after each of a random
// sequence of syncs (decisions#day, #tables, #history and #conversion). To repeat a sequence with its story:
// CAMBISTA_SEED=17 node --test
// --test-name-pattern="seed 17" test/faults/rates-model.test.ts. CAMBISTA_TORTURE=long tries a thousand.

import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { Window } from '../../src/providers/provider.ts'
import { updateSeriesEnabled } from '../../src/store/rates/series.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { addDays, dayNumber, type IsoDate } from '../../src/values/dates.ts'
import { EUR, JPY, XDR } from '../support/rates/memory-bank.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import type { Question } from '../support/rates/rates-answers.ts'
import {
  compare,
  type Happening,
  Mismatch,
  openRatesWorld,
  type RatesWorld,
  restart,
  runSync,
} from '../support/rates/rates-world.ts'
import { FIRST_DAY } from '../support/rates/seeded-bank.ts'
import { SEED } from '../support/seed.ts'
import { scaled } from './scale.ts'

/** The same seeds in each run, and those that follow the seed of the run. */
const FIXED = Array.from({ length: scaled({ short: 25, long: 100 }) }, (_, seed) => seed)
const FRESH = Array.from({ length: scaled({ short: 1, long: 900 }) }, (_, at) => SEED + at)

const CURRENCIES = ['USD', 'CRC', 'EUR', 'JPY', 'XDR']
const PAIRS = [
  ['USD', 'CRC'],
  ['EUR', 'USD'],
  ['USD', 'JPY'],
  ['XDR', 'USD'],
] as const
const PARITIES = [EUR, JPY, XDR]
const AMOUNTS = ['1', '100', '0.01', '1234.5678', '7']

// Without simulated power cuts, a file system in memory saves disk time.
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

for (const seed of new Set([...FIXED, ...FRESH])) {
  test(`each answer about rates matches the model (seed ${seed})`, (t) => runSequence(t, seed))
}

async function runSequence(t: TestContext, seed: number): Promise<void> {
  const random = createRandom(seed)
  const today = addDays(FIRST_DAY, random.int(60, 200))
  const firstDay = addDays(today, -random.int(5, 100))
  const world = await openRatesWorld(t, { random, now: randomInstant(today, random), backfillFrom: firstDay })
  world.story.push(`seed ${seed}, backfill from ${firstDay}`)
  try {
    for (let step = 0; step < 6; step++) {
      await changeAndSync(world, step === 0 && random.chance(0.7))
      await compareAnswers(world)
    }
  } catch (error) {
    if (error instanceof Mismatch) throw new Error(`seed ${seed}: ${error.message}`)
    throw new Error(`seed ${seed}:\n${world.story.join('\n')}`, { cause: error })
  }
}

/** Advances the clock, changes something and syncs; if `isHealthy`, without faults. */
async function changeAndSync(world: RatesWorld, isHealthy: boolean): Promise<void> {
  const { random, clock, bank, story } = world
  const days = random.chance(0.6) ? random.int(0, 2) : random.int(2, 25)
  const next = randomInstant(addDays(clock.today(), days), random)
  if (new Date(next) > clock.now) clock.now = new Date(next)
  if (random.chance(0.35)) world.token = !world.token
  if (!isHealthy && random.chance(0.25)) await restartServer(world)
  bank.failing = isHealthy || random.chance(0.6) ? 0 : random.next() / 2
  bank.silent = isHealthy || random.chance(0.8) ? 0 : random.next() / 3
  bank.broken =
    !isHealthy && random.chance(0.25) ? random.item(['317', '318', '318', '520', EUR, JPY]) : undefined
  for (const code of ['317', '318', ...PARITIES]) {
    if (!isHealthy && random.chance(PARITIES.includes(code) ? 0.2 : 0.05)) toggle(bank.hidden, code)
  }
  const range = !isHealthy && random.chance(0.45) ? randomRange(clock.today(), random) : undefined
  story.push(
    `${clock.now.toISOString()} (${clock.today()}) sync ${range ? `--from ${range.from} --to ${range.to}` : ''}, ${world.token ? 'token' : 'no token'}, broken ${bank.broken ?? '-'}, hidden ${[...bank.hidden].join() || '-'}`,
  )
  const isEventful = !isHealthy && random.chance(0.5)
  await runSync(world, range, {
    happening: () => (isEventful ? randomHappening(world) : undefined),
    look: () => randomQuestions(world, 3),
  })
}

function randomHappening({ random }: RatesWorld): Happening {
  if (!random.chance(0.25)) return undefined
  return random.item(['midnight', 'refused token', 'kill', 'kill', 'stop', 'defect', 'look', 'look', 'look'])
}

/** Restarts the server, perhaps with a series enabled or disabled. */
async function restartServer(world: RatesWorld): Promise<void> {
  const { random, story } = world
  await restart(world, world.dataDir, async () => {
    story.push('restart')
    if (random.chance(0.7)) return
    const seriesLists = world.models.map(({ series }) => series)
    const id = random.int(1, Math.min(...seriesLists.map(({ length }) => length)))
    const enabled = !seriesLists[0]?.[id - 1]?.enabled
    story.push(`series ${id} ${enabled ? 'enabled' : 'disabled'}`)
    const db = openDatabase(world.dataDir)
    await updateSeriesEnabled(db, id, enabled, Date.now())
    await db.destroy()
    for (const series of seriesLists) Object.assign(series[id - 1] ?? {}, { enabled })
  })
}

/** Compares all stored rates, then answers about days of every kind. */
async function compareAnswers(world: RatesWorld): Promise<void> {
  const whole = { from: addDays(FIRST_DAY, -60), to: addDays(world.clock.today(), 3) }
  const histories = [1, 2, 3, 4, 5].map((id): Question => ({ kind: 'history', id, ...whole }))
  await compare(world, histories)
  await compare(world, randomQuestions(world, 6))
}

function randomQuestions(world: RatesWorld, days: number): Question[] {
  const { random } = world
  return randomDays(world, days).flatMap((on): Question[] => {
    const [base, quote] = random.item(PAIRS)
    const from = addDays(on, -random.int(0, 20))
    const [one, other] = [random.item(CURRENCIES), random.item(CURRENCIES)]
    // A currency into itself requires no stored rate.
    const [source, target] = one === other ? ['EUR', 'CRC'] : [one, other]
    return [
      { kind: 'latest', base: 'USD', quote: 'CRC', on },
      { kind: 'latest', base, quote, on },
      { kind: 'rates', on, exact: random.chance(0.25) },
      { kind: 'history', id: random.int(1, 5), from, to: on },
      {
        kind: 'convert',
        amount: random.item(AMOUNTS),
        from: source,
        to: target,
        type: random.item(['venta', 'compra', 'venta', 'compra', 'venta', 'compra', 'referencia']),
        on,
        details: random.chance(0.5),
      },
    ]
  })
}

/** Today, tomorrow, edges of covered intervals, days near the values, and the last day. */
function randomDays({ random, clock, models }: RatesWorld, count: number): IsoDate[] {
  const today = clock.today()
  const series = models[0]?.series ?? []
  const edges = series.flatMap(({ covered }) =>
    [...covered].filter((day) => !covered.has(addDays(day, 1)) || !covered.has(addDays(day, -1))),
  )
  const first = series.flatMap(({ values }) => [...values.keys()]).toSorted()[0] ?? FIRST_DAY
  const span = dayNumber(today) - dayNumber(first) + 3
  const days = [today, addDays(today, 1)]
  while (days.length < count) {
    const kind = random.next()
    if (kind < 0.45 && edges.length > 0) days.push(addDays(random.item(edges), random.int(-1, 4)))
    else if (kind < 0.6) days.push(addDays(today, random.int(-8, 2)))
    else if (kind < 0.95) days.push(addDays(first, random.int(-2, span)))
    else days.push('2999-12-31')
  }
  return days
}

function randomRange(today: IsoDate, random: Random): Window {
  const to = addDays(today, 1 - (random.chance(0.3) ? 0 : random.int(0, 150)))
  return { from: addDays(to, -random.int(0, random.chance(0.7) ? 10 : 60)), to }
}

/** An instant of a day in Costa Rica. */
function randomInstant(day: IsoDate, random: Random): string {
  const midnight = Date.parse(`${day}T06:00:00Z`)
  return new Date(midnight + random.int(0, 24 * 60 - 1) * 60_000).toISOString()
}

function toggle(set: Set<string>, code: string): void {
  if (!set.delete(code)) set.add(code)
}
