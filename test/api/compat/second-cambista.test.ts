// A server whose bank is another server: it is synchronized from the SDDE mirror of the first, over HTTP. Its
// days are those of the first and no others, whatever the first lacks. To repeat one seed: CAMBISTA_SEED=17.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { selectCoverage } from '../../../src/store/rates/coverage.ts'
import { selectSeries } from '../../../src/store/rates/series.ts'
import type { SyncTrigger } from '../../../src/store/tables.ts'
import { addDays, currentDay, type IsoDate } from '../../../src/values/dates.ts'
import { difference, findGaps, type Interval, subtractInterval } from '../../../src/values/intervals.ts'
import { scaled } from '../../faults/scale.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { listDays } from '../../support/rates/memory-bank.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { fixedClock, type TestClock } from '../../support/temporary.ts'
import { asOtherProcess } from '../support.ts'

const DOLLAR = ['317', '318']
const PARITIES = ['333', '325', '328', '326']
const MOST_DRAWS = 100

/** A value in place of the bank's, null for none; undefined: the usual value. */
type Publication = (code: string, day: IsoDate) => string | null | undefined

type Pair = {
  first: TestApp
  second: TestApp
  clock: TestClock
  /** The first day that the second server requests. */
  floor: IsoDate
}

/**
 * Starts both servers. The first has an island of days apart from the rest, and nothing before it; the second
 * requests more. The clock begins yesterday, for the answers of the first are dated by the machine's clock.
 */
async function startPair(t: TestContext, publication: (yesterday: IsoDate) => Publication): Promise<Pair> {
  const yesterday = addDays(
    currentDay(() => new Date()),
    -1,
  )
  const clock = fixedClock(`${yesterday}T16:00:00Z`)
  const ago = (days: number) => addDays(yesterday, -days)
  const first = await startTestApp(t, {
    clock,
    backfillFrom: ago(200),
    bank: { value: publication(yesterday) },
    listen: { compat: { open: undefined, serveRounded: false } },
  })
  await first.sync({ from: ago(400), to: ago(300) })
  await first.sync()
  const floor = ago(450)
  const second = await startTestApp(t, {
    clock,
    backfillFrom: floor,
    sources: { bccr: () => ({ url: `${first.app.url}/SDDE/api`, token: first.key }) },
  })
  return { first, second, clock, floor }
}

async function run(app: TestApp, trigger: SyncTrigger): Promise<{ status: string; message: string | null }> {
  const [end] = await app.app.sync({ trigger, range: undefined, signal: new AbortController().signal })
  assert.ok(end)
  assert.doesNotMatch(end.run.message ?? '', /HTTP 5/, 'a hole is not a failure of the source')
  return end.run
}

/** Covered days by code, within an interval. */
async function readCoverage(app: TestApp, within: Interval): Promise<Map<string, readonly Interval[]>> {
  return asOtherProcess(app, async (db) => {
    const coverage = await selectCoverage(db)
    const outside = findGaps([within], { from: '1900-01-01', to: '2999-12-31' })
    return new Map(
      (await selectSeries(db)).map(({ id, external_code: code }) => [
        code,
        outside.reduce<Interval[]>(subtractInterval, [...(coverage.get(id) ?? [])]),
      ]),
    )
  })
}

type Rate = { external_code: string; rate_date: string; value: string }

async function readRates(app: TestApp, day: IsoDate, exact: boolean): Promise<Map<string, string>> {
  const rates = await app.json<Rate[]>(`/api/v1/rates?on=${day}&exact=${exact}`)
  return new Map(rates.map((one) => [one.external_code, `${one.rate_date} ${one.value}`]))
}

/**
 * Covered days of both, up to today. After the newest covered day of the first, its mirror answers that
 * nothing was published (decisions#mirror). The second counts those days as covered.
 */
async function bothCoverages({ first, second, floor, clock }: Pair) {
  const within = { from: floor, to: clock.today() }
  const theirs = await readCoverage(first, within)
  const mine = new Map(
    [...(await readCoverage(second, within))].map(([code, covered]) => {
      const end = theirs.get(code)?.at(-1)?.to ?? floor
      return [code, subtractInterval(covered, { from: addDays(end, 1), to: '2999-12-31' })]
    }),
  )
  return { mine, theirs }
}

/** Returns true unless the coverage of the series ends before the day. */
function isWithinCoverage(coverage: Map<string, readonly Interval[]>, code: string, day: IsoDate): boolean {
  return (coverage.get(code)?.at(-1)?.to ?? '') >= day
}

/** Each of the last 50 days, and one of five before them. */
function sampleDays({ floor, clock }: Pair): IsoDate[] {
  const days = listDays(floor, clock.today())
  return days.filter((_, at) => at % 5 === 0 || at > days.length - 50)
}

/** Checks that every day and answer of the second exists in the first. */
async function checkSubset(pair: Pair): Promise<void> {
  const { first, second } = pair
  const { mine, theirs } = await bothCoverages(pair)
  for (const [code, covered] of mine) {
    assert.deepEqual(difference(covered, theirs.get(code) ?? []), [], `${code}: more than the first has`)
  }
  for (const day of sampleDays(pair)) {
    const [rates, its] = [await readRates(second, day, false), await readRates(first, day, false)]
    for (const [code, rate] of rates) {
      if (isWithinCoverage(theirs, code, day)) assert.equal(rate, its.get(code), `${code} on ${day}`)
    }
    if (!['317', '318'].every((code) => isWithinCoverage(theirs, code, day))) continue
    const path = `/api/v1/rates/latest?base=USD&quote=CRC&on=${day}`
    if ((await second.get(path)).status !== 200) continue
    assert.equal((await first.get(path)).status, 200, `the dollar on ${day}`)
  }
}

async function checkEqual(pair: Pair): Promise<void> {
  const { first, second } = pair
  const { mine, theirs } = await bothCoverages(pair)
  assert.deepEqual(mine, theirs)
  for (const day of sampleDays(pair)) {
    const [rates, its] = [await readRates(second, day, false), await readRates(first, day, false)]
    const codes = new Set([...rates.keys(), ...its.keys()])
    for (const code of codes) {
      if (isWithinCoverage(theirs, code, day))
        assert.equal(rates.get(code), its.get(code), `${code} on ${day}`)
    }
  }
}

async function checkToday({ first, second, clock }: Pair): Promise<void> {
  const today = await readRates(first, clock.today(), true)
  assert.ok(today.size > 0)
  assert.deepEqual(await readRates(second, clock.today(), true), today)
}

async function liveThroughTwoDays(pair: Pair): Promise<void> {
  await run(pair.second, 'startup')
  await checkToday(pair)
  await checkSubset(pair)
  await run(pair.second, 'cli')
  await checkEqual(pair)
  pair.clock.now = new Date(pair.clock.now.getTime() + 86_400_000)
  await run(pair.first, 'scheduler')
  await run(pair.second, 'scheduler')
  await checkToday(pair)
  await checkSubset(pair)
  await run(pair.second, 'cli')
  await checkEqual(pair)
}

/** Texts in place of the bank's values. On both days that are compared the dollar has a value; parities may be late. */
function randomTexts(random: Random, yesterday: IsoDate): Map<string, string | null> {
  for (let draw = 0; draw < MOST_DRAWS; draw += 1) {
    const texts = new Map<string, string | null>()
    for (const code of [...DOLLAR, ...PARITIES]) {
      for (let hole = random.int(0, 6); hole > 0; hole--) {
        const from = addDays(yesterday, -random.int(0, 420))
        const text = random.chance(0.6) ? '-1' : null
        for (const day of listDays(from, addDays(from, random.int(0, 12)))) texts.set(`${code} ${day}`, text)
      }
    }
    const hasDollar = (day: IsoDate) => DOLLAR.some((code) => !texts.has(`${code} ${day}`))
    if (hasDollar(yesterday) && hasDollar(addDays(yesterday, 1))) return texts
  }
  throw new Error(`${MOST_DRAWS} draws have no dollar on the two days`)
}

test('a second server skips holes, rejected rows and one-sided days of the first', async (t) => {
  const pair = await startPair(t, (yesterday) => {
    const ago = (days: number) => addDays(yesterday, -days)
    const rejected: Record<string, IsoDate[]> = {
      317: [ago(100), ago(99), ago(98), ago(3)],
      318: [ago(100), ago(99), ago(50)],
      333: listDays(ago(120), ago(90)),
      325: [ago(2), ago(350)],
    }
    const oneSided: Record<string, IsoDate[]> = { 317: [ago(20)], 318: [ago(10), ago(9), ago(330)] }
    return (code, day) =>
      rejected[code]?.includes(day) ? '-1' : oneSided[code]?.includes(day) ? null : undefined
  })
  await liveThroughTwoDays(pair)
  const { message } = await run(pair.second, 'cli')
  assert.match(message ?? '', /^the source has not synchronized /)
})

for (const seed of [...Array(scaled({ short: 1, long: 20 })).keys()].map((at) => SEED + at)) {
  test(`a second server has the days of the first, whatever that lacks (seed ${seed})`, async (t) => {
    const random = createRandom(seed)
    const pair = await startPair(t, (yesterday) => {
      const texts = randomTexts(random, yesterday)
      return (code, day) => texts.get(`${code} ${day}`)
    })
    await liveThroughTwoDays(pair)
  })
}
