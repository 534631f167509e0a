// "No gaps by construction", against a bank and an operator made of a seed. To see one seed again:
// CAMBISTA_SEED=17 node --test test/unit/sync/windows/no-gaps.test.ts; CAMBISTA_TORTURE=long tries hundreds of new ones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import type { Window } from '../../../../src/providers/provider.ts'
import { selectCoverage } from '../../../../src/store/rates/coverage.ts'
import { selectRatesOfSeries } from '../../../../src/store/rates/rates.ts'
import { selectSeries, updateSeriesEnabled } from '../../../../src/store/rates/series.ts'
import type { CoverageKind } from '../../../../src/store/tables.ts'
import { REREAD_DAYS } from '../../../../src/sync/windows/plan.ts'
import { addDays, type IsoDate } from '../../../../src/values/dates.ts'
import { findInterval, type Interval } from '../../../../src/values/intervals.ts'
import { scaled } from '../../../faults/scale.ts'
import { type Desk, listDays, openDesk } from '../../../support/rates/memory-bank.ts'
import {
  CODES,
  createRandom,
  createRandomBank,
  FLOOR,
  type Random,
  type RandomBank,
} from '../../../support/rates/random-bank.ts'
import { SEED } from '../../../support/seed.ts'
import { postgres } from '../../../support/temporary.ts'

/** The same seeds in each run, and those that follow the seed of the run. */
const FIXED = Array.from({ length: scaled({ short: 8, long: 100 }) }, (_, seed) => seed)
const FRESH = Array.from({ length: scaled({ short: 2, long: 300 }) }, (_, at) => SEED + at)
const FEEDS = bccr.groups.map((group) => ({
  ...group,
  chunkDays: group.table === '1' ? 120 : 40,
  startsOn: group.startsOn && FLOOR,
}))

type World = Desk & { real: RandomBank; random: Random; story: string[] }
type Covered = Map<string, readonly Interval[]>

for (const seed of new Set([...FIXED, ...FRESH])) {
  test(`no day is stepped over, whatever bank, clock and operator do (seed ${seed})`, async (t) => {
    const desk = await openDesk(t, { backfillFrom: FLOOR, groups: FEEDS })
    if (!postgres) await sql`pragma synchronous = off`.execute(desk.db) // no power is cut here, and it halves the time
    const random = createRandom(seed)
    const real = createRandomBank(desk.bank, random, addDays(FLOOR, random.int(0, 700)))
    const world: World = { ...desk, real, random, story: [] }
    try {
      for (let run = 0; run < 7; run++) await simulateDays(world)
      await recover(world)
    } catch (error) {
      throw new Error(`seed ${seed}: ${world.story.join('\n')}`, { cause: error })
    }
  })
}

/** Some days pass, something happens, and a run is made. */
async function simulateDays(world: World): Promise<void> {
  const { random, real, bank, clock, story } = world
  real.today = addDays(real.today, random.chance(0.7) ? random.int(0, 5) : random.int(5, 60))
  const wrong = random.chance(0.25) ? random.int(-60, 20) : random.chance(0.1) ? 3700 : 0
  clock.now = new Date(`${addDays(real.today, wrong)}T15:00:00Z`)
  real.failing = random.chance(0.6) ? 0 : random.next() / 2
  real.silent = random.chance(0.5) ? 0 : random.next() / 2
  real.crashing = random.chance(0.9) ? 0 : 0.05
  if (random.chance(0.3)) bank.supportsSingleSeries = !bank.supportsSingleSeries
  for (const code of CODES) {
    if (random.chance(0.12)) toggle(real.hidden, code)
    if (random.chance(0.08)) toggle(real.enabled, code)
  }
  const range = random.chance(0.25) ? randomRange(random, clock.today()) : undefined
  story.push(
    `${real.today} (clock ${clock.today()}) ${range ? `${range.from}..${range.to}` : 'all'} failing ${real.failing.toFixed(2)} silent ${real.silent.toFixed(2)} hidden ${[...real.hidden]} enabled ${[...real.enabled]}`,
  )
  await runAndCheck(world, range)
}

/** Everything is well again: within a few runs nothing is missing. */
async function recover(world: World): Promise<void> {
  const { real, bank, clock, story } = world
  Object.assign(real, { failing: 0, silent: 0, crashing: 0 })
  real.hidden.clear()
  for (const code of CODES) real.enabled.add(code)
  bank.supportsSingleSeries = true
  for (let run = 0; run < 3; run++) {
    real.today = addDays(real.today, 1)
    clock.now = new Date(`${real.today}T15:00:00Z`)
    story.push(`${real.today} all is well`)
    await runAndCheck(world, undefined)
  }
  const covered = await loadCoverage(world)
  const storedRates = await loadRates(world)
  for (const code of CODES) {
    const { from = '' } = covered.get(code)?.[0] ?? {}
    const { to = '' } = covered.get(code)?.at(-1) ?? {}
    const past = listDays(FLOOR, addDays(real.today, -REREAD_DAYS))
    const hasValues = past.some((day) => real.lastValue(code, day) !== undefined)
    assert.ok(!hasValues || (from <= FLOOR && to >= addDays(real.today, -210)), `${code}: ${from} to ${to}`)
    for (const day of past) {
      assert.equal(
        storedRates.get(code)?.get(day),
        real.lastValue(code, day),
        `${code} on ${day}, in the end`,
      )
    }
  }
}

async function runAndCheck(world: World, range: Window | undefined): Promise<void> {
  const { real, db, clock, sync } = world
  for (const series of await selectSeries(db)) {
    await updateSeriesEnabled(db, series.id, real.enabled.has(series.external_code), clock.now.getTime())
  }
  real.answered.length = 0
  const before = await loadCoverage(world)
  const run = await sync(range && { range })
  assert.ok(run.finished_at)
  const after = await loadCoverage(world)
  const final = await loadCoverage(world, 'final')
  const storedRates = await loadRates(world)
  for (const code of CODES) {
    checkCovered(world, code, before.get(code) ?? [], after.get(code) ?? [])
    for (const [day, value] of real.given.get(code) ?? []) {
      assert.equal(storedRates.get(code)?.get(day), value, `${code} on ${day}, as it was answered`)
    }
    for (const { from, to } of final.get(code) ?? []) {
      for (const day of listDays(from, to)) {
        assert.equal(storedRates.get(code)?.get(day), real.lastValue(code, day), `${code} on ${day}, final`)
      }
    }
  }
}

/** Checks that each covered day was answered by this or an earlier run, and that no covered day is lost. */
function checkCovered(
  { real }: World,
  code: string,
  before: readonly Interval[],
  after: readonly Interval[],
): void {
  const windows = real.answered.filter((one) => one.code === code)
  for (const { from, to } of before) {
    assert.ok(findInterval(after, from)?.to ?? '' >= to, `${code}: ${from} to ${to} is not covered any more`)
  }
  for (const { from, to } of after) {
    for (const day of listDays(from, to)) {
      const read = windows.some((window) => day >= window.from && day <= window.to)
      assert.ok(findInterval(before, day) || read, `${code}: ${day} was never answered`)
      const hasBegun = day <= real.today || real.given.get(code)?.has(day)
      assert.ok(hasBegun, `${code}: ${day} had not begun`)
    }
  }
}

async function loadCoverage({ db }: World, kind: CoverageKind = 'answered'): Promise<Covered> {
  const coverage = await selectCoverage(db, kind)
  const covered: Covered = new Map()
  for (const { id, external_code } of await selectSeries(db)) {
    const coveredDays = coverage.get(id)
    if (coveredDays) covered.set(external_code, coveredDays)
  }
  return covered
}

async function loadRates({ db }: World): Promise<Map<string, Map<IsoDate, string>>> {
  const storedRates = new Map<string, Map<IsoDate, string>>()
  for (const { id, external_code } of await selectSeries(db)) {
    const rows = await selectRatesOfSeries(db, id)
    storedRates.set(external_code, new Map(rows.map(({ rate_date, value }) => [rate_date, value])))
  }
  return storedRates
}

function randomRange(random: Random, today: IsoDate): Window {
  const to = addDays(today, 1 - random.int(0, 300))
  return { from: addDays(to, -random.int(0, 200)), to }
}

function toggle(set: Set<string>, code: string): void {
  if (!set.delete(code)) set.add(code)
}
