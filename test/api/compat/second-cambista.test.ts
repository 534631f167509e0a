// A cambista whose bank is another one: it is synchronized from the SDDE mirror of the first, over HTTP. It has what the first
// has and not a day more, whatever the first lacks. To see one seed again: CAMBISTA_SEED=17.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addDays, type IsoDate, todayIn } from '../../../src/dates.ts'
import { difference, gapsIn, type Interval, without } from '../../../src/intervals.ts'
import { selectCoverage } from '../../../src/store/rates/coverage.ts'
import { selectSeries } from '../../../src/store/rates/series.ts'
import type { SyncTrigger } from '../../../src/store/tables.ts'
import { SEED, scaled } from '../../faults/scale.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { daysFrom } from '../../support/rates/memory-bank.ts'
import { randomOf } from '../../support/rates/random-bank.ts'
import { fixedClock, type TestClock } from '../../support/temporary.ts'
import { asOtherProcess } from '../support.ts'

const DOLLAR = ['317', '318']
const PARITIES = ['333', '325', '328', '326']

/** Days since the first day, as the bank publishes them; undefined: as usual. */
type Publication = (code: string, day: IsoDate) => string | null | undefined

type Pair = {
  first: TestApp
  second: TestApp
  clock: TestClock
  /** The first day that the second requests. */
  floor: IsoDate
}

/**
 * The first has an island of days that is not joined to the rest, and nothing before it; the second wants more. The clock
 * begins yesterday, for the answers of the first are dated by that of the machine.
 */
async function startPair(t: TestContext, publication: (yesterday: IsoDate) => Publication): Promise<Pair> {
  const yesterday = addDays(
    todayIn(() => new Date()),
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

/** Covered days by code, within some days. */
async function coverageOf(app: TestApp, within: Interval): Promise<Map<string, readonly Interval[]>> {
  return asOtherProcess(app, async (db) => {
    const coverage = await selectCoverage(db)
    const outside = gapsIn([within], { from: '1900-01-01', to: '2999-12-31' })
    return new Map(
      (await selectSeries(db)).map(({ id, external_code: code }) => [
        code,
        outside.reduce<Interval[]>(without, [...(coverage.get(id) ?? [])]),
      ]),
    )
  })
}

type Rate = { external_code: string; rate_date: string; value: string }

async function ratesOn(app: TestApp, day: IsoDate, exact: boolean): Promise<Map<string, string>> {
  const rates = await app.json<Rate[]>(`/api/v1/rates?on=${day}&exact=${exact}`)
  return new Map(rates.map((one) => [one.external_code, `${one.rate_date} ${one.value}`]))
}

/**
 * Covered days of both, up to today. Of days after the newest covered day of the first the mirror says that nothing was
 * published (decisions 2.6): the second takes them for answered.
 */
async function bothCoverages({ first, second, floor, clock }: Pair) {
  const within = { from: floor, to: clock.today() }
  const theirs = await coverageOf(first, within)
  const mine = new Map(
    [...(await coverageOf(second, within))].map(([code, covered]) => {
      const end = theirs.get(code)?.at(-1)?.to ?? floor
      return [code, without(covered, { from: addDays(end, 1), to: '2999-12-31' })]
    }),
  )
  return { mine, theirs }
}

/** Each of the last fifty days, and before them one of five. */
function sampleDays({ floor, clock }: Pair): IsoDate[] {
  const days = daysFrom(floor, clock.today())
  return days.filter((_, at) => at % 5 === 0 || at > days.length - 50)
}

/** The second has no day that the first has not, and answers none that the first refuses. */
async function checkSubset(pair: Pair): Promise<void> {
  const { first, second } = pair
  const { mine, theirs } = await bothCoverages(pair)
  for (const [code, covered] of mine) {
    assert.deepEqual(difference(covered, theirs.get(code) ?? []), [], `${code}: more than the first has`)
  }
  for (const day of sampleDays(pair)) {
    const [rates, its] = [await ratesOn(second, day, false), await ratesOn(first, day, false)]
    for (const [code, rate] of rates) assert.equal(rate, its.get(code), `${code} on ${day}`)
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
    assert.deepEqual(await ratesOn(second, day, false), await ratesOn(first, day, false), day)
  }
}

async function checkToday({ first, second, clock }: Pair): Promise<void> {
  const today = await ratesOn(first, clock.today(), true)
  assert.ok(today.size > 0)
  assert.deepEqual(await ratesOn(second, clock.today(), true), today)
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

test('a second cambista goes round holes, rejected rows and one-sided days of the first', async (t) => {
  const pair = await startPair(t, (yesterday) => {
    const ago = (days: number) => addDays(yesterday, -days)
    const rejected: Record<string, IsoDate[]> = {
      317: [ago(100), ago(99), ago(98), ago(3)],
      318: [ago(100), ago(99), ago(50)],
      333: daysFrom(ago(120), ago(90)),
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
  test(`a second cambista has what the first has, whatever that lacks (seed ${seed})`, async (t) => {
    const random = randomOf(seed)
    const pair = await startPair(t, (yesterday) => {
      const texts = new Map<string, string | null>()
      for (const code of [...DOLLAR, ...PARITIES]) {
        for (let hole = random.int(0, 6); hole > 0; hole--) {
          const from = addDays(yesterday, -random.int(0, 420))
          const text = random.chance(0.6) ? '-1' : null
          for (const day of daysFrom(from, addDays(from, random.int(0, 12))))
            texts.set(`${code} ${day}`, text)
        }
      }
      return (code, day) => texts.get(`${code} ${day}`)
    })
    await liveThroughTwoDays(pair)
  })
}
