// Formats of option values: validation and parsing.

import type { AlsoListen } from '../../http/server.ts'
import { cronState } from '../../runtime/schedule.ts'
import { isIsoDate } from '../../values/dates.ts'

/** Text of the help by its name, with values in place of `{name}`. */
export type NamedText = { name: string; values?: Record<string, string> }

export type Format<T> = {
  /** Returns the error of a text, in words that follow the option's name, a string in English; undefined if valid. */
  validate: (text: string) => string | NamedText | undefined
  /** Parses a valid text. */
  parse: (text: string) => T
  /** Allowed words, for the completion. */
  choices?: readonly string[]
}

export const anything = textFormat(() => undefined)

export const nonEmpty = textFormat((text) => (text === '' ? { name: 'format.empty' } : undefined))

export const day = textFormat((text) => (isIsoDate(text) ? undefined : { name: 'format.day' }))

export const cron = textFormat((text) => {
  const state = cronState(text)
  if (state === 'fine') return undefined
  return { name: state === 'never' ? 'format.cron.never' : 'format.cron' }
})

export const httpUrl = textFormat(
  (text) =>
    /^https?:\/\/[^/?#@\\]+([/?#]|$)/.test(text) && URL.canParse(text) ? undefined : { name: 'format.url' }, // requests ignore user and password, and messages would show them
)

/** Address of the page, to which a slash is added. */
export const pageAddress: Format<string> = {
  validate: (text) => (/[?#]/.test(text) ? { name: 'format.page-url' } : httpUrl.validate(text)),
  parse: (text) => new URL(text).href.replace(/\/?$/, '/'),
}

const LISTEN_URL = /^(https?):\/\/(\[[\da-f:.]+\]|[^\s/?#@\\:[\],]+):(\d{1,5})$/i
const HIGHEST_PORT = 65_535

/** Address and port to listen on, with or without TLS. */
export const listenUrl: Format<AlsoListen> = {
  validate(text) {
    const [, , , port] = LISTEN_URL.exec(text) ?? []
    if (port !== undefined && Number(port) <= HIGHEST_PORT) return undefined
    return { name: 'format.listen' }
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
  validate: (text) => (CURRENCY.test(text) ? undefined : { name: 'format.currency' }),
  parse: (text) => text.toUpperCase(),
}

/** Currency codes separated by commas, each once. */
export const currencies: Format<string[]> = {
  validate: (text) =>
    text.split(',').every((code) => CURRENCY.test(code.trim())) ? undefined : { name: 'format.currencies' },
  parse: (text) => [...new Set(text.split(',').map((code) => code.trim().toUpperCase()))],
}

export function textFormat(validate: Format<string>['validate']): Format<string> {
  return { validate, parse: (text) => text }
}

export function choice<const Word extends string>(...choices: Word[]): Format<Word> {
  return {
    choices,
    validate: (text) =>
      choices.some((word) => word === text)
        ? undefined
        : { name: 'format.choice', values: { choices: choices.join(', ') } },
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
        : { name: 'format.choices', values: { choices: choices.join(', ') } },
    parse: (text) => splitWords(text) as Word[],
  }
}

export function integer(low: number, high: number): Format<number> {
  return {
    validate: (text) =>
      /^\d+$/.test(text) && Number(text) >= low && Number(text) <= high
        ? undefined
        : { name: 'format.integer', values: { low: String(low), high: String(high) } },
    parse: Number,
  }
}

const TIME = /^(\d{1,6})([smhd])$/
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }
const LONGEST_MS = 366 * 86_400_000

/** Duration such as `24h`, in milliseconds. */
export const time: Format<number> = {
  validate: (text) => (parseMs(text) <= LONGEST_MS ? undefined : { name: 'format.time' }),
  parse: parseMs,
}

/** Returns NaN for an invalid text. */
function parseMs(text: string): number {
  const [, digits, unit = ''] = TIME.exec(text) ?? []
  if (digits === undefined) return text === '0' ? 0 : Number.NaN
  return Number(digits) * (SECONDS[unit] ?? 0) * 1000
}
