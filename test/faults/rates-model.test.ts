// Never a quiet wrong rate: random sequences of syncs, and after each every kind of answer compared with what a model
// of the decisions says (decisions 2.6 to 2.9). One sequence again, with its story:
// CAMBISTA_SEED=17 node --test test/faults/rates-model.test.ts; CAMBISTA_TORTURE=long tries a thousand.

import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { addDays, dayOf, type IsoDate } from '../../src/dates.ts'
import type { Window } from '../../src/providers/provider.ts'
import { updateSeriesEnabled } from '../../src/store/rates/series.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { EUR, JPY, XDR } from '../support/rates/memory-bank.ts'
import { type Random, randomOf } from '../support/rates/random-bank.ts'
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
import { LONG, SEED, scaled } from './scale.ts'

/** The same hundred each time, and in the long version new ones; or only the one that is asked for. */
const ALONE = process.env.CAMBISTA_SEED !== undefined && !LONG
const FIXED = ALONE ? [] : Array.from({ length: 100 }, (_, seed) => seed)
const FRESH = Array.from({ length: ALONE ? 1 : scaled({ short: 0, long: 900 }) }, (_, at) => SEED + at)

const CURRENCIES = ['USD', 'CRC', 'EUR', 'JPY', 'XDR']
const PAIRS = [
  ['USD', 'CRC'],
  ['EUR', 'USD'],
  ['USD', 'JPY'],
  ['XDR', 'USD'],
] as const
const PARITIES = [EUR, JPY, XDR]
const AMOUNTS = ['1', '100', '0.01', '1234.5678', '7']

// No power is cut here: where there is a file system in memory, the time of a disk is saved.
if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'

for (const seed of new Set([...FIXED, ...FRESH])) {
  test(`each answer is the one that was known (seed ${seed})`, (t) => live(t, seed))
}

async function live(t: TestContext, seed: number): Promise<void> {
  const random = randomOf(seed)
  const today = addDays(FIRST_DAY, random.int(60, 200))
  const backfillFrom = addDays(today, -random.int(5, 100))
  const world = await openRatesWorld(t, { random, now: hourOf(today, random), backfillFrom })
  world.story.push(`seed ${seed}, backfill from ${backfillFrom}`)
  try {
    for (let step = 0; step < 6; step++) {
      await pass(world, step === 0 && random.chance(0.7))
      await check(world)
    }
  } catch (error) {
    if (error instanceof Mismatch) throw new Error(`seed ${seed}: ${error.message}`)
    throw new Error(`seed ${seed}:\n${world.story.join('\n')}`, { cause: error })
  }
}

/** Time goes by, something changes, a run is made; perhaps one of which nothing goes wrong. */
async function pass(world: RatesWorld, well: boolean): Promise<void> {
  const { random, clock, bank, story } = world
  const days = random.chance(0.6) ? random.int(0, 2) : random.int(2, 25)
  const next = hourOf(addDays(clock.today(), days), random)
  if (new Date(next) > clock.now) clock.now = new Date(next)
  if (random.chance(0.35)) world.token = !world.token
  if (!well && random.chance(0.25)) await change(world)
  bank.failing = well || random.chance(0.6) ? 0 : random.next() / 2
  bank.silent = well || random.chance(0.8) ? 0 : random.next() / 3
  bank.broken =
    !well && random.chance(0.25) ? pick(random, ['317', '318', '318', '520', EUR, JPY]) : undefined
  for (const code of ['317', '318', ...PARITIES]) {
    if (!well && random.chance(PARITIES.includes(code) ? 0.2 : 0.05)) toggle(bank.hidden, code)
  }
  const range = !well && random.chance(0.45) ? rangeUntil(clock.today(), random) : undefined
  story.push(
    `${clock.now.toISOString()} (${clock.today()}) sync ${range ? `--from ${range.from} --to ${range.to}` : ''}, ${world.token ? 'token' : 'no token'}, broken ${bank.broken ?? '-'}, hidden ${[...bank.hidden].join() || '-'}`,
  )
  const eventful = !well && random.chance(0.5)
  await runSync(world, range, {
    happening: () => (eventful ? happeningAt(world) : undefined),
    look: () => questionsOf(world, 3),
  })
}

function happeningAt({ random }: RatesWorld): Happening {
  if (!random.chance(0.25)) return undefined
  return pick(random, ['midnight', 'refused token', 'kill', 'kill', 'stop', 'defect', 'look', 'look', 'look'])
}

/** The program is started again, perhaps with another series enabled. */
async function change(world: RatesWorld): Promise<void> {
  const { random, story } = world
  await restart(world, world.dataDir, async () => {
    story.push('restart')
    if (random.chance(0.7)) return
    const known = world.models.map(({ series }) => series)
    const id = random.int(1, Math.min(...known.map(({ length }) => length)))
    const enabled = !known[0]?.[id - 1]?.enabled
    story.push(`series ${id} ${enabled ? 'enabled' : 'disabled'}`)
    const db = openDatabase(world.dataDir)
    await updateSeriesEnabled(db, id, enabled, Date.now())
    await db.destroy()
    for (const series of known) Object.assign(series[id - 1] ?? {}, { enabled })
  })
}

/** Everything that is stored, then answers on days of every kind. */
async function check(world: RatesWorld): Promise<void> {
  const whole = { from: addDays(FIRST_DAY, -60), to: addDays(world.clock.today(), 3) }
  const histories = [1, 2, 3, 4, 5].map((id): Question => ({ kind: 'history', id, ...whole }))
  await compare(world, histories)
  await compare(world, questionsOf(world, 6))
}

function questionsOf(world: RatesWorld, days: number): Question[] {
  const { random } = world
  return daysOf(world, days).flatMap((on): Question[] => {
    const [base, quote] = pick(random, PAIRS)
    const from = addDays(on, -random.int(0, 20))
    const [one, other] = [pick(random, CURRENCIES), pick(random, CURRENCIES)]
    // A currency into itself needs a rate of nothing, so that it says nothing of what is stored.
    const [source, target] = one === other ? ['EUR', 'CRC'] : [one, other]
    return [
      { kind: 'latest', base: 'USD', quote: 'CRC', on },
      { kind: 'latest', base, quote, on },
      { kind: 'rates', on, exact: random.chance(0.25) },
      { kind: 'history', id: random.int(1, 5), from, to: on },
      {
        kind: 'convert',
        amount: pick(random, AMOUNTS),
        from: source,
        to: target,
        type: pick(random, ['venta', 'compra', 'venta', 'compra', 'venta', 'compra', 'referencia']),
        on,
        details: random.chance(0.5),
      },
    ]
  })
}

/** Today and tomorrow, the shores of what is covered, any day there may be a value for, and the end of time. */
function daysOf({ random, clock, models }: RatesWorld, count: number): IsoDate[] {
  const today = clock.today()
  const series = models[0]?.series ?? []
  const shores = series.flatMap(({ covered }) =>
    [...covered].filter((day) => !covered.has(addDays(day, 1)) || !covered.has(addDays(day, -1))),
  )
  const first = series.flatMap(({ values }) => [...values.keys()]).toSorted()[0] ?? FIRST_DAY
  const span = dayOf(today) - dayOf(first) + 3
  const days = [today, addDays(today, 1)]
  while (days.length < count) {
    const kind = random.next()
    if (kind < 0.45 && shores.length > 0) days.push(addDays(pick(random, shores), random.int(-1, 4)))
    else if (kind < 0.6) days.push(addDays(today, random.int(-8, 2)))
    else if (kind < 0.95) days.push(addDays(first, random.int(-2, span)))
    else days.push('2999-12-31')
  }
  return days
}

function rangeUntil(today: IsoDate, random: Random): Window {
  const to = addDays(today, 1 - (random.chance(0.3) ? 0 : random.int(0, 150)))
  return { from: addDays(to, -random.int(0, random.chance(0.7) ? 10 : 60)), to }
}

/** An instant of a day in Costa Rica. */
function hourOf(day: IsoDate, random: Random): string {
  const midnight = Date.parse(`${day}T06:00:00Z`)
  return new Date(midnight + random.int(0, 24 * 60 - 1) * 60_000).toISOString()
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.int(0, from.length - 1)] as T
}

function toggle(set: Set<string>, code: string): void {
  if (!set.delete(code)) set.add(code)
}
