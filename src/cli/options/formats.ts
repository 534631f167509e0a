// What an option's text may be, and what it says.

import { isIsoDate } from '../dates.ts'
import type { AlsoListen } from '../http/server.ts'
import { cronState } from '../schedule.ts'

export type Format<T> = {
  /** What is wrong with a text, in words that follow the option's name; undefined: nothing. */
  fault: (text: string) => string | undefined
  /** What a text without a fault says. */
  read: (text: string) => T
  /** The words that it must be one of, for the completion. */
  choices?: readonly string[]
}

export const anything = textThat(() => undefined)

export const nonEmpty = textThat((text) => (text === '' ? 'must not be empty' : undefined))

export const day = textThat((text) =>
  isIsoDate(text) ? undefined : 'must be a calendar day written YYYY-MM-DD',
)

export const cron = textThat((text) => {
  const state = cronState(text)
  if (state === 'fine') return undefined
  const fields = 'minute, hour, day of the month, month, day of the week'
  const which = state === 'never' ? 'that comes true some day: it never comes true' : `(${fields})`
  return `must be a cron pattern such as "0 5 * * *" ${which}`
})

export const httpUrl = textThat(
  (text) =>
    /^https?:\/\/[^/?#@\\]+([/?#]|$)/.test(text) && URL.canParse(text)
      ? undefined
      : 'must be an http or https URL without user and password', // no request is made with them, but a message
)

const LISTEN_URL = /^(https?):\/\/(\[[\da-f:.]+\]|[^\s/?#@\\:[\],]+):(\d{1,5})$/i
const HIGHEST_PORT = 65_535

/** An address and a port to listen on, and whether with TLS. */
export const listenUrl: Format<AlsoListen> = {
  fault(text) {
    const [, , , port] = LISTEN_URL.exec(text) ?? []
    if (port !== undefined && Number(port) <= HIGHEST_PORT) return undefined
    return 'must be http://ADDRESS:PORT or https://ADDRESS:PORT without a path, such as https://0.0.0.0:443'
  },
  read(text) {
    const [, scheme, host = '', port] = LISTEN_URL.exec(text) ?? []
    const isTls = scheme?.toLowerCase() === 'https'
    return { scheme: isTls ? 'https' : 'http', host: address.read(host), port: Number(port) }
  },
}

/** An address to listen on: IPv6 may be written as in a URL, `[::1]`. */
export const address: Format<string> = {
  fault: nonEmpty.fault,
  read: (text) => text.replace(/^\[(.*)\]$/, '$1'),
}

export function textThat(fault: Format<string>['fault']): Format<string> {
  return { fault, read: (text) => text }
}

export function oneOf<const Word extends string>(...choices: Word[]): Format<Word> {
  return {
    choices,
    fault: (text) =>
      choices.some((word) => word === text) ? undefined : `must be one of ${choices.join(', ')}`,
    read: (text) => text as Word,
  }
}

/** Some of these words, with commas between. */
export function someOf<const Word extends string>(...choices: Word[]): Format<Word[]> {
  const wordsIn = (text: string) => text.split(',').map((word) => word.trim())
  return {
    choices,
    fault: (text) =>
      wordsIn(text).every((word) => choices.some((one) => one === word))
        ? undefined
        : `must be of ${choices.join(', ')}, with commas between`,
    read: (text) => wordsIn(text) as Word[],
  }
}

export function integer(low: number, high: number): Format<number> {
  return {
    fault: (text) =>
      /^\d+$/.test(text) && Number(text) >= low && Number(text) <= high
        ? undefined
        : `must be an integer from ${low} to ${high}`,
    read: Number,
  }
}

const TIME = /^(\d{1,6})([smhd])$/
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }
const LONGEST_MS = 366 * 86_400_000

/** Milliseconds, written such as `24h`. */
export const time: Format<number> = {
  fault: (text) =>
    msOf(text) <= LONGEST_MS
      ? undefined
      : 'must be a number of seconds, minutes, hours or days, such as 90s, 30m, 24h or 7d, or 0; at most 366d',
  read: msOf,
}

/** NaN: it is no time. */
function msOf(text: string): number {
  const [, digits, unit = ''] = TIME.exec(text) ?? []
  if (digits === undefined) return text === '0' ? 0 : Number.NaN
  return Number(digits) * (SECONDS[unit] ?? 0) * 1000
}
