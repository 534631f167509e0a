// Formats of option values: validation and parsing.

import type { AlsoListen } from '../../http/server.ts'
import { cronState } from '../../runtime/schedule.ts'
import { isIsoDate } from '../../values/dates.ts'

export type Format<T> = {
  /** Returns the error of a text, in words that follow the option's name; undefined if valid. */
  validate: (text: string) => string | undefined
  /** Parses a valid text. */
  parse: (text: string) => T
  /** Allowed words, for the completion. */
  choices?: readonly string[]
}

export const anything = textFormat(() => undefined)

export const nonEmpty = textFormat((text) => (text === '' ? 'must not be empty' : undefined))

export const day = textFormat((text) =>
  isIsoDate(text) ? undefined : 'must be a calendar day written YYYY-MM-DD',
)

export const cron = textFormat((text) => {
  const state = cronState(text)
  if (state === 'fine') return undefined
  const fields = 'minute, hour, day of the month, month, day of the week'
  const detail = state === 'never' ? 'that comes true some day: it never comes true' : `(${fields})`
  return `must be a cron pattern such as "0 5 * * *" ${detail}`
})

export const httpUrl = textFormat(
  (text) =>
    /^https?:\/\/[^/?#@\\]+([/?#]|$)/.test(text) && URL.canParse(text)
      ? undefined
      : 'must be an http or https URL without user and password', // requests ignore user and password, and messages would show them
)

const LISTEN_URL = /^(https?):\/\/(\[[\da-f:.]+\]|[^\s/?#@\\:[\],]+):(\d{1,5})$/i
const HIGHEST_PORT = 65_535

/** Address and port to listen on, with or without TLS. */
export const listenUrl: Format<AlsoListen> = {
  validate(text) {
    const [, , , port] = LISTEN_URL.exec(text) ?? []
    if (port !== undefined && Number(port) <= HIGHEST_PORT) return undefined
    return 'must be http://ADDRESS:PORT or https://ADDRESS:PORT without a path, such as https://0.0.0.0:443'
  },
  parse(text) {
    const [, scheme, host = '', port] = LISTEN_URL.exec(text) ?? []
    const isTls = scheme?.toLowerCase() === 'https'
    return { scheme: isTls ? 'https' : 'http', host: address.parse(host), port: Number(port) }
  },
}

/** Address to listen on. IPv6 may have brackets as in a URL, `[::1]`. */
export const address: Format<string> = {
  validate: nonEmpty.validate,
  parse: (text) => text.replace(/^\[(.*)\]$/, '$1'),
}

const CURRENCY = /^[a-z]{3}$/i

/** Currency code, in capitals. */
export const currency: Format<string> = {
  validate: (text) =>
    CURRENCY.test(text) ? undefined : 'must be a currency code of three letters, such as CRC',
  parse: (text) => text.toUpperCase(),
}

/** Currency codes separated by commas, each once. */
export const currencies: Format<string[]> = {
  validate: (text) =>
    text.split(',').every((code) => CURRENCY.test(code.trim()))
      ? undefined
      : 'must be currency codes of three letters, with commas between, such as USD,EUR',
  parse: (text) => [...new Set(text.split(',').map((code) => code.trim().toUpperCase()))],
}

export function textFormat(validate: Format<string>['validate']): Format<string> {
  return { validate, parse: (text) => text }
}

export function choice<const Word extends string>(...choices: Word[]): Format<Word> {
  return {
    choices,
    validate: (text) =>
      choices.some((word) => word === text) ? undefined : `must be one of ${choices.join(', ')}`,
    parse: (text) => text as Word,
  }
}

/** Format of a list of these words, separated by commas. */
export function choiceList<const Word extends string>(...choices: Word[]): Format<Word[]> {
  const splitWords = (text: string) => text.split(',').map((word) => word.trim())
  return {
    choices,
    validate: (text) =>
      splitWords(text).every((word) => choices.some((one) => one === word))
        ? undefined
        : `must be of ${choices.join(', ')}, with commas between`,
    parse: (text) => splitWords(text) as Word[],
  }
}

export function integer(low: number, high: number): Format<number> {
  return {
    validate: (text) =>
      /^\d+$/.test(text) && Number(text) >= low && Number(text) <= high
        ? undefined
        : `must be an integer from ${low} to ${high}`,
    parse: Number,
  }
}

const TIME = /^(\d{1,6})([smhd])$/
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }
const LONGEST_MS = 366 * 86_400_000

/** Duration such as `24h`, in milliseconds. */
export const time: Format<number> = {
  validate: (text) =>
    parseMs(text) <= LONGEST_MS
      ? undefined
      : 'must be a number of seconds, minutes, hours or days, such as 90s, 30m, 24h or 7d, or 0; at most 366d',
  parse: parseMs,
}

/** Returns NaN for an invalid text. */
function parseMs(text: string): number {
  const [, digits, unit = ''] = TIME.exec(text) ?? []
  if (digits === undefined) return text === '0' ? 0 : Number.NaN
  return Number(digits) * (SECONDS[unit] ?? 0) * 1000
}
