// Logs requests for data that are not stored, once a day each, so that the operator learns of them.

import type { Log } from '../../runtime/log.ts'
import { type Clock, currentDay, type IsoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'

export type UnservedLog = {
  /** Logs an unknown indicator or currency. Text that is no code is not logged. */
  indicator(shape: string, code: string): void
  /** Logs values that are stored rounded. */
  rounded(count: number): void
  /**
   * Logs days of a range that were not synchronized, or with `isRounded` are stored rounded. `isRefused`: the request
   * failed; else a currency is left out.
   */
  days(shape: string, days: Interval, how: { isRefused: boolean; isRounded?: boolean | undefined }): void
  /** Logs days with one side only, for a reader that needs both. */
  oneSided(shape: string, count: number): void
}

const MAX_LINES_PER_DAY = 200
// If an address lacks an & or a slash, a key may be in the place of a code. Keys must not be logged.
const CODE = /^(?:[A-Z]{3}|(?:cuadro )?\d{1,10})$/
const ROUNDED_ADVICE =
  "the bank's token makes them exact (--bccr-token-file), --serve-rounded answers them as they are"
const MIRRORS = ['bccr', 'sdde'] // their codes are those of the bank
const INDICATOR = /^[1-9]\d{0,9}$/

export function createUnservedLog(log: Log, clock: Clock): UnservedLog {
  let day: IsoDate | undefined
  let loggedKeys = new Set<string>()
  const isNew = (code: string) => {
    const today = currentDay(clock)
    if (day !== today) loggedKeys = new Set()
    day = today
    if (loggedKeys.has(code) || loggedKeys.size >= MAX_LINES_PER_DAY) return false
    loggedKeys.add(code)
    return true
  }
  return {
    indicator(shape, code) {
      if (!CODE.test(code) || !isNew(`${shape} ${code}`)) return
      const isEnableable = MIRRORS.includes(shape) && INDICATOR.test(code)
      const advice = isEnableable ? { advice: `cambista indicator enable ${code}` } : {}
      log.info('asked for what is not held', { shape, indicator: code, ...advice })
    },
    days(shape, { from, to }, { isRefused, isRounded = false }) {
      if (!isNew(`${shape} ${isRounded ? 'rounded ' : ''}${isRefused ? 'refused' : 'left out'}`)) return
      const advice = isRounded ? ROUNDED_ADVICE : `cambista sync --from ${from} --to ${to}`
      log.warn(isRounded ? 'rounded values are not served' : 'asked for days that were not synchronized', {
        ...{ shape, from, to, answer: isRefused ? 'an error' : 'without a currency', advice },
      })
    },
    oneSided(shape, count) {
      if (isNew(`${shape} one-sided`)) log.info('days with one side are left out', { shape, days: count })
    },
    rounded(count) {
      if (!isNew('rounded')) return
      log.warn('rounded values are not served', { values: count, advice: ROUNDED_ADVICE })
    },
  }
}
