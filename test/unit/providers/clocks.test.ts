// Freshness of optional sources over a year of holidays, hour by hour in their own zones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { benchmarkSide, dueDay, staleness } from '../../../src/domain/rates/freshness.ts'
import { banguat } from '../../../src/providers/banguat/banguat.ts'
import { banxico } from '../../../src/providers/banxico/banxico.ts'
import { ecb } from '../../../src/providers/ecb/ecb.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { trm } from '../../../src/providers/trm/trm.ts'
import { addDays, currentDay, currentTime, dayNumber, type IsoDate } from '../../../src/values/dates.ts'

const PROVIDERS: readonly Provider[] = [ecb, banguat, trm, banxico]
const HOUR_MS = 3_600_000
const YEAR = { from: Date.parse('2026-01-10T00:00:00Z'), to: Date.parse('2027-01-10T00:00:00Z') }

// Days without publication beside weekends: of TARGET, and of Mexican banks with Semana Santa.
const TARGET = ['2026-04-03', '2026-04-06', '2026-05-01', '2026-12-25', '2026-12-26', '2027-01-01']
const MEXICO = [
  ...['2026-02-02', '2026-03-16', '2026-04-02', '2026-04-03', '2026-05-01', '2026-09-16', '2026-11-02'],
  ...['2026-11-16', '2026-12-12', '2026-12-25', '2027-01-01'],
]
const HOLIDAYS: Record<string, readonly string[]> = { ecb: TARGET, banxico: MEXICO }

function isPublicationDay({ code, publication }: Provider, day: IsoDate): boolean {
  if (publication.days === 'every day') return true
  const weekday = (dayNumber(day) + 4) % 7
  return weekday !== 0 && weekday !== 6 && !HOLIDAYS[code]?.includes(day)
}

/** Returns the newest day that is published at an instant, without the last `missed` publications. */
function newestDay(provider: Provider, now: Date, missed: number): IsoDate {
  const clock = () => now
  let day = currentDay(clock, provider.timeZone)
  if (currentTime(clock, provider.timeZone) < provider.publication.time) day = addDays(day, -1)
  for (let remaining = missed; ; day = addDays(day, -1)) {
    if (!isPublicationDay(provider, day)) continue
    if (remaining === 0) return day
    remaining -= 1
  }
}

function isStale(provider: Provider, now: Date, missed: number): boolean {
  const clock = () => now
  const newest = newestDay(provider, now, missed)
  const side = benchmarkSide('referencia', newest, currentDay(clock, provider.timeZone))
  return staleness(provider, side, dueDay(provider, clock)) !== undefined
}

for (const provider of PROVIDERS) {
  test(`${provider.code}: it is never stale while its newest publication is stored`, () => {
    for (let at = YEAR.from; at < YEAR.to; at += HOUR_MS) {
      const now = new Date(at)
      assert.equal(isStale(provider, now, 0), false, now.toISOString())
    }
  })

  test(`${provider.code}: it is stale when as many publications as its days of tolerance, and one more, are missed`, () => {
    for (let at = YEAR.from; at < YEAR.to; at += HOUR_MS) {
      const now = new Date(at)
      assert.equal(isStale(provider, now, provider.benchmark.staleDays + 1), true, now.toISOString())
    }
  })
}

test('the day of the European Central Bank is due at 17:00 in Frankfurt, in summer and winter', () => {
  const due = (instant: string) => dueDay(ecb, () => new Date(instant))
  assert.deepEqual(
    ['2026-03-27T15:59:00Z', '2026-03-27T16:00:00Z', '2026-03-30T14:59:00Z', '2026-03-30T15:00:00Z'].map(due),
    ['2026-03-26', '2026-03-27', '2026-03-27', '2026-03-30'],
  )
})

test('optional sources have the ids 2 to 5, which never change', () => {
  const ids = PROVIDERS.map(({ id, code }) => `${id} ${code}`)
  assert.deepEqual(ids, ['2 ecb', '3 banguat', '4 trm', '5 banxico'])
})
