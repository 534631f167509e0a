// What programs ask for and is not held, in the log once a day each: so that the operator learns what is missed.

import { type Clock, type IsoDate, todayIn } from '../../dates.ts'
import type { Interval } from '../../intervals.ts'
import type { Log } from '../../log.ts'

export type Missed = {
  /** An indicator or a currency that nothing is stored of. What is no code is not noted. */
  indicator(shape: string, what: string): void
  /** Values that are stored rounded. */
  rounded(count: number): void
  /** Days of a range that were not synchronized; `isRefused`: the range is, else a currency is left out. */
  days(shape: string, days: Interval, isRefused: boolean): void
  /** Days of a range of which one side was published, where a reader needs both. */
  oneSided(shape: string, count: number): void
}

const MOST_A_DAY = 200
// Where an address lacks an & or a slash, a key stands in the place of a code: it must not get into the log.
const CODE = /^(?:[A-Z]{3}|(?:cuadro )?\d{1,10})$/

export function createMissed(log: Log, clock: Clock): Missed {
  let day: IsoDate | undefined
  let told = new Set<string>()
  const isNew = (what: string) => {
    const today = todayIn(clock)
    if (day !== today) told = new Set()
    day = today
    if (told.has(what) || told.size >= MOST_A_DAY) return false
    told.add(what)
    return true
  }
  return {
    indicator(shape, what) {
      if (!CODE.test(what) || !isNew(`${shape} ${what}`)) return
      log.info('asked for what is not held', { shape, indicator: what })
    },
    days(shape, { from, to }, isRefused) {
      if (!isNew(`${shape} ${isRefused ? 'refused' : 'left out'}`)) return
      const advice = `cambista sync --from ${from} --to ${to}`
      const event = 'asked for days that were not synchronized'
      log.warn(event, { shape, from, to, answer: isRefused ? 'an error' : 'without a currency', advice })
    },
    oneSided(shape, count) {
      if (isNew(`${shape} one-sided`)) log.info('days with one side are left out', { shape, days: count })
    },
    rounded(count) {
      if (!isNew('rounded')) return
      const advice =
        "the bank's token makes them exact (--bccr-token-file), --serve-rounded answers them as they are"
      log.warn('rounded values are not served', { values: count, advice })
    },
  }
}
