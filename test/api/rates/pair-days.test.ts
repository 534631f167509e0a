// The day of a pair (decisions#shapes). Two answers that name one day, base, quote and side have one rate, in any API,
// file and tool. Over random syncs such a rate changes only by a correction. `npm run test:long` runs more.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { addDays, earliest, type IsoDate, latest } from '../../../src/values/dates.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { startTestApp } from '../../support/app.ts'
import { assertProperty, fc } from '../../support/fast-check.ts'
import type { Pair } from '../../support/rates/compat-requests.ts'
import { AUD, createMemoryBank, EUR, JPY, type MemoryBank, XDR } from '../../support/rates/memory-bank.ts'
import {
  type Door,
  type NamedRate,
  readDay,
  readFiles,
  readPublished,
  readRange,
} from '../../support/rates/named-rates.ts'
import { findLegs, type PairLeg, type PairSeries, readPairSeries } from '../../support/rates/pair-answers.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { fixedClock, type TestClock } from '../../support/temporary.ts'
import { connect } from '../mcp/support.ts'

const WORLDS = scaled({ short: 4, long: 150 })
/** Names of the answers in named-rates.ts. */
const WAYS = 42
const FIRST_DAY = '2025-12-01' // the ECB's file of 90 days needs them all
const RANGE_BEGIN = '2026-02-09'
const BEGIN = '2026-03-02'
const DOLLAR = ['317', '318']
const CODES = [...DOLLAR, AUD, EUR, JPY, XDR]
const CURRENCIES = ['USD', 'CRC', 'EUR', 'JPY', 'AUD', 'XDR']
const MIDDLE: Record<string, number> = { 317: 500, 318: 510, [AUD]: 0.7, [EUR]: 1.2, [JPY]: 150, [XDR]: 1.4 }

type Pairing = Pick<Pair, 'base' | 'quote' | 'side'>
/** Days and hours that pass, then a sync of all missing days or of a window, without some series. */
type Step = {
  days: number
  hour: number
  failing: string[]
  window: { ago: number; length: number } | undefined
  corrections: { code: string; ago: number }[]
  pairs: Pairing[]
  ago: [number, number]
}
type World = Door & { clock: TestClock; bank: MemoryBank; corrections: Set<string> }
/** Rates that answers have named so far, and those that were corrected since, by day and pair. */
type Memory = { rates: Map<string, NamedRate>; corrected: Map<string, NamedRate> }

const pairing = fc
  .tuple(
    fc.shuffledSubarray(CURRENCIES, { minLength: 2, maxLength: 2 }),
    fc.constantFrom('compra' as const, 'venta' as const),
  )
  .map(([[base = '', quote = ''], side]): Pairing => ({ base, quote, side }))
const step: fc.Arbitrary<Step> = fc.record({
  days: fc.integer({ min: 0, max: 4 }),
  hour: fc.integer({ min: 1, max: 23 }),
  failing: fc.subarray(CODES, { maxLength: 4 }),
  window: fc.option(fc.record({ ago: fc.nat(20), length: fc.nat(12) }), { nil: undefined }),
  corrections: fc.array(fc.record({ code: fc.constantFrom(...CODES), ago: fc.nat(6) }), { maxLength: 2 }),
  pairs: fc.array(pairing, { minLength: 2, maxLength: 2 }),
  ago: fc.tuple(fc.nat(4), fc.nat(25)),
})
const worlds = fc.record({ seed: fc.nat(), steps: fc.array(step, { minLength: 4, maxLength: 5 }) })

const names = new Set<string>()
const counts = { rates: 0, repeated: 0, olderDays: 0, legsOfTwoDays: 0, unknownLegs: 0, corrected: 0 }

test('answers that name one day of a pair have one rate, and a sync changes it only by a correction', async (t) => {
  // The limit of a test is shorter than the search for a smaller world.
  const property = fc.asyncProperty(fc.noShrink(worlds), ({ seed, steps }) => checkWorld(seed, steps))
  await assertProperty(property, WORLDS, () => names.size === WAYS && !Object.values(counts).includes(0))
  assert.equal(names.size, WAYS, [...names].join(', '))
  for (const [name, count] of Object.entries(counts)) {
    figure(t, name, count)
    assert.ok(count > 0, name)
  }
})

async function checkWorld(seed: number, steps: readonly Step[]): Promise<void> {
  const ends: (() => unknown)[] = []
  const scope = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext
  try {
    const world = await openWorld(scope, seed)
    await world.app.sync()
    const memory: Memory = { rates: new Map(), corrected: new Map() }
    let store = await readPairSeries(world.app)
    for (const one of steps) {
      await changeWorld(world, one)
      const before = store
      store = await readPairSeries(world.app)
      forgetCorrected(memory, before, store)
      compareRates(memory, store, await readRates(world, one, store))
    }
  } finally {
    for (const end of ends) await end()
  }
}

async function openWorld(scope: TestContext, seed: number): Promise<World> {
  const clock = fixedClock(`${BEGIN}T16:00:00Z`)
  const bank = createMemoryBank(clock)
  const random = createRandom(seed)
  const corrections = new Set<string>()
  for (const code of CODES) {
    const values = new Map<IsoDate, string | undefined>()
    const value = (day: IsoDate) => {
      const isWeekend = [0, 6].includes(new Date(day).getUTCDay())
      if (DOLLAR.includes(code) ? random.chance(0.15) : isWeekend || random.chance(0.1)) return undefined
      return ((MIDDLE[code] ?? 1) * (1 + (random.next() - 0.5) / 50)).toFixed(DOLLAR.includes(code) ? 2 : 4)
    }
    for (let day = FIRST_DAY; day < '2026-04-01'; day = addDays(day, 1)) values.set(day, value(day))
    bank.publish[code] = (day) => {
      const published =
        day > addDays(clock.today(), DOLLAR.includes(code) ? 1 : 0) ? undefined : values.get(day)
      return published && corrections.has(`${code} ${day}`)
        ? (Number(published) * 1.01).toFixed(4)
        : published
    }
  }
  const app = await startTestApp(scope, {
    ...{ clock, backfillFrom: FIRST_DAY, providers: [bank.provider] },
    listen: { compat: { open: 'any', serveRounded: false } },
  })
  return { app, client: await connect(scope, 'legacy', { app }), clock, bank, corrections }
}

/** Advances the clock, corrects values at the bank, and syncs while it fails for some series. */
async function changeWorld(world: World, { days, hour, failing, window, corrections }: Step): Promise<void> {
  const { app, clock, bank } = world
  const next = Date.parse(`${addDays(clock.today(), days)}T06:00:00Z`) + hour * 3_600_000
  clock.now = new Date(Math.max(next, clock.now.getTime()))
  for (const { code, ago } of corrections) world.corrections.add(`${code} ${addDays(clock.today(), -ago)}`)
  bank.fault = ({ indicator }, usual) => {
    if (indicator !== undefined && failing.includes(indicator)) throw new FetchFailure('HTTP 500')
    const { listed, observations } = usual()
    const isAnswered = ({ code }: { code: string }) => !failing.includes(code)
    return { listed: listed.filter(isAnswered), observations: observations.filter(isAnswered) }
  }
  if (!window) return void (await app.sync())
  const from = addDays(clock.today(), -window.ago)
  await app.sync({ from, to: earliest(addDays(from, window.length), addDays(clock.today(), 1)) })
}

async function readRates(
  world: World,
  { pairs, ago }: Step,
  store: readonly PairSeries[],
): Promise<NamedRate[]> {
  const today = world.clock.today()
  const days = ago.map((count) => addDays(today, -count))
  const rates: NamedRate[] = []
  for (const pair of pairs) {
    for (const day of days) {
      const ofDay = await readDay(world, pair, day)
      countDay(store, pair, day, ofDay)
      rates.push(...ofDay)
      rates.push(...(await readRange(world, pair, { from: day, to: today })))
    }
    rates.push(...(await readRange(world, pair, { from: RANGE_BEGIN, to: today })))
  }
  const [recent = today, older = today] = days
  rates.push(...(await readPublished(world, recent, { from: older, to: today })))
  rates.push(...(await readFiles(world, pairs[0]?.side ?? 'venta')))
  return rates
}

/** Counts rows of an earlier day. `unknownLegs`: /convert mixes in a value of a later day than that of the row. */
function countDay(
  store: readonly PairSeries[],
  pair: Pairing,
  day: IsoDate,
  rates: readonly NamedRate[],
): void {
  const row = rates.find(({ name }) => name === 'Frankfurter v2')
  if (!row) return
  const legs = findLegs(store, { ...pair, type: pair.side }) ?? []
  if (row.day < day) counts.olderDays += 1
  if (new Set(legs.map((leg) => lastValueDay(leg, row.day))).size > 1) counts.legsOfTwoDays += 1
  if (legs.some((leg) => lastValueDay(leg, day) > row.day)) counts.unknownLegs += 1
}

/** Compares rates of one time with each other, then with earlier ones. */
function compareRates(memory: Memory, store: readonly PairSeries[], rates: readonly NamedRate[]): void {
  counts.rates += rates.length
  for (const { name } of rates) names.add(name)
  const settled = new Map<string, NamedRate>()
  const unsettled = new Map<string, NamedRate>()
  for (const rate of rates) {
    const key = rateKey(rate)
    const other = settled.get(key) ?? unsettled.get(key) ?? rate
    assert.equal(rate.rate, other.rate, `${key}: ${rate.name}, ${other.name}`)
    const isSettled = !rate.continues || rateLegs(store, rate).every((leg) => isKnown(leg, rate.day))
    if (isSettled) settled.set(key, rate)
    else unsettled.set(key, rate)
  }
  for (const [key, rate] of settled) {
    const earlier = memory.rates.get(key)
    if (earlier) {
      counts.repeated += 1
      assert.equal(rate.rate, earlier.rate, `${key}: ${rate.name}, before the sync ${earlier.name}`)
    }
    if (memory.corrected.has(key) && memory.corrected.get(key)?.rate !== rate.rate) counts.corrected += 1
    memory.corrected.delete(key)
    memory.rates.set(key, rate)
  }
}

/** Forgets rates over a value that changed, or that came for a day that had been answered without one. */
function forgetCorrected(memory: Memory, before: readonly PairSeries[], after: readonly PairSeries[]): void {
  const changedDays = after.map((series, at) => {
    const { values, covered } = before[at] ?? series
    const isAnswered = (day: IsoDate) => values.has(day) || covered.has(day)
    const days = [...new Set([...values.keys(), ...series.values.keys()])].filter(isAnswered)
    return days.filter((day) => values.get(day)?.value !== series.values.get(day)?.value)
  })
  for (const [key, rate] of memory.rates) {
    const isCorrected = rateLegs(before, rate).some((leg) => {
      const first = lastValueDay(leg, rate.day)
      return changedDays[before.indexOf(leg.series)]?.some((day) => day >= first && day <= rate.day)
    })
    if (!isCorrected) continue
    memory.corrected.set(key, rate)
    memory.rates.delete(key)
  }
}

function rateKey({ day, base, quote, side }: NamedRate): string {
  return `${day} ${base}/${quote} ${side}`
}

function rateLegs(store: readonly PairSeries[], { base, quote, side }: NamedRate): PairLeg[] {
  return findLegs(store, { base, quote, type: side }) ?? []
}

function lastValueDay({ series }: PairLeg, day: IsoDate): IsoDate {
  return [...series.values.keys()].filter((one) => one <= day).reduce(latest, '')
}

/** True if a leg has a value of the day, or is covered to the day or later. */
function isKnown({ series }: PairLeg, day: IsoDate): boolean {
  return series.values.has(day) || [...series.covered].reduce(latest, '') >= day
}
