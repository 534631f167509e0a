// Random histories of a source: a new currency, and wrong values of a day, an answer or a run. Errors are powers of ten.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import type { SourceAnswer } from '../../../../src/providers/provider.ts'
import { addDays, dayNumber, type IsoDate } from '../../../../src/values/dates.ts'
import { fromUnits, product } from '../../../../src/values/decimal.ts'
import { scaled } from '../../../faults/scale.ts'
import { listDays, openDesk, selectCatalogue } from '../../../support/rates/memory-bank.ts'
import { createRandom, type Random } from '../../../support/rates/random-bank.ts'

const BEGIN = '2025-01-01'
const TODAY = '2026-03-24'
const RUN_DAYS = 24
const QUIET_DAYS = 8 // without errors, at the end
const END = addDays(TODAY, RUN_DAYS)
const DAY_MS = 86_400_000
const SEEDS = scaled({ short: 8, long: 400 })

/** Powers of ten, without the inverse of the new currency, which equals the old one. */
function errorFactor(random: Random, power: number): string {
  const choices = [-3, -2, -1, 1, 2, 3].filter((one) => Math.abs(one) !== power)
  return powerOfTen(choices[random.int(0, choices.length - 1)] ?? 1)
}

function powerOfTen(power: number): string {
  return power < 0 ? fromUnits(1n, -power) : `1${'0'.repeat(power)}`
}

/** Values of the source: between 450 and 650 in one of the two currencies. `power`: digits that the new one lacks. */
function trueValues(random: Random) {
  const power = random.int(1, 3)
  const isPast = random.chance(0.5)
  const age = dayNumber(TODAY) - dayNumber(BEGIN)
  const newDay = isPast
    ? addDays(BEGIN, random.int(20, age))
    : addDays(TODAY, random.int(1, RUN_DAYS - 2 * QUIET_DAYS))
  const values = new Map<IsoDate, string>()
  const isWorking = random.int(0, 1) === 1
  let units = 550_00n
  for (const day of listDays(BEGIN, END)) {
    units += BigInt(random.int(-5_00, 5_00))
    if (units < 450_00n) units = 450_00n
    if (units > 650_00n) units = 650_00n
    if (isWorking && dayNumber(day) % 7 > 4) continue
    const isOld = day < newDay
    const factor = isPast ? (isOld ? power : 0) : isOld ? 0 : -power
    values.set(day, product(fromUnits(units, 2), powerOfTen(factor)))
  }
  return { values, newDay, power }
}

function isNear(day: IsoDate, other: IsoDate, days: number): boolean {
  return Math.abs(dayNumber(day) - dayNumber(other)) <= days
}

/** Wrong values of single days: some are never corrected. None is within a week of the new currency. */
function typos(random: Random, { values, newDay, power }: ReturnType<typeof trueValues>) {
  const days = [...values.keys()].filter((day) => !isNear(day, newDay, 7))
  return Array.from({ length: 6 }, () => ({
    day: days[random.int(0, days.length - 1)] ?? BEGIN,
    factor: errorFactor(random, power),
    lastRun: random.int(0, 2) === 0 ? Number.POSITIVE_INFINITY : random.int(0, RUN_DAYS - QUIET_DAYS),
  }))
}

for (let seed = 0; seed < SEEDS; seed += 1) {
  test(`no wrong number is stored, and each true one in the end (seed ${seed})`, async (t) => {
    const random = createRandom(seed)
    const source = trueValues(random)
    const wrongDays = typos(random, source)
    const groups = bccr.groups.filter(({ table }) => table === '1')
    const desk = await openDesk(t, { backfillFrom: BEGIN, catalogue: selectCatalogue(['CRC']), groups })
    let run = 0
    let answerFactor: (request: number) => string | undefined = () => undefined
    for (const code of ['317', '318']) {
      desk.bank.publish[code] = (day) => {
        const value = day > desk.clock.today() ? undefined : source.values.get(day)
        const typo = wrongDays.find((one) => one.day === day && run <= one.lastRun)
        return value && typo ? product(value, typo.factor) : value
      }
    }
    let request = 0
    desk.bank.fault = (ask, usual): SourceAnswer | undefined => {
      const factor = answerFactor(request)
      request += 1
      if (factor === undefined) return undefined
      const observations = usual().observations.map((one) => {
        return { ...one, value: product(source.values.get(one.day) ?? one.value, factor) }
      })
      return { listed: [{ code: ask.indicator ?? '', name: '' }], observations }
    }
    let wasWrong = false
    for (run = 0; run < RUN_DAYS; run += 1) {
      const kind: number = run >= RUN_DAYS - QUIET_DAYS || wasWrong ? 9 : random.int(0, 5)
      const factor = errorFactor(random, source.power)
      const wrongRequest = random.int(0, 3)
      wasWrong = kind <= 1
      request = 0
      answerFactor = (one) => (kind === 0 || (kind === 1 && one === wrongRequest) ? factor : undefined)
      await desk.sync()
      for (const [day, value] of Object.entries(await desk.stored('CRC')))
        assert.equal(value, source.values.get(day), `run ${run}, ${day}, new currency ${source.newDay}`)
      desk.clock.now = new Date(desk.clock.now.getTime() + DAY_MS)
    }
    const rates = await desk.stored('CRC')
    const neverRight = new Set(wrongDays.filter(({ lastRun }) => lastRun >= RUN_DAYS).map(({ day }) => day))
    const lacking = [...source.values.keys()].filter(
      (day) => day < addDays(TODAY, RUN_DAYS) && rates[day] === undefined && !neverRight.has(day),
    )
    assert.deepEqual(lacking, [], `new currency ${source.newDay}, ${JSON.stringify([...neverRight])}`)
  })
}
