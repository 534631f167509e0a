// Reads JSON of a foreign source. A number becomes the text that the source wrote, so that no published digit
// goes through a float (upstream 1).

import { FetchFailure } from './provider.ts'

export type JsonRecord = Record<string, unknown>

const MOST_VALUES = 200_000 // the largest answer known has 20,000; a parsed value costs up to 500 bytes
const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b]

/**
 * The document, with every number as its own text: `496.44000000` is `'496.44000000'`.
 * @throws FetchFailure when the text is not JSON, nests deeper than the engine follows, or holds too many values
 */
export function parseJson(text: string): unknown {
  if (mayHoldMoreThan(MOST_VALUES, text)) throw new FetchFailure('the answer holds too many values')
  try {
    return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? (context?.source ?? String(value)) : value,
    )
  } catch (error) {
    // The engine's own message quotes the body, which is not for every eye.
    throw new FetchFailure(
      error instanceof RangeError ? 'the answer nests too deep' : 'the answer is not JSON',
    )
  }
}

/** Counted before they are made: 8 MiB of `{},` would become a gigabyte of objects. */
function mayHoldMoreThan(most: number, text: string): boolean {
  let count = 0
  for (let at = 0; at < text.length && count <= most; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA || code === BRACKET || code === BRACE) count++
  }
  return count > most
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A scalar's own text without the white space around it; absent and null are empty, the rest is shown as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  if (value === undefined || value === null) return ''
  return JSON.stringify(value)
}

/** The items of a list that may be absent or null. */
export function listOf(value: unknown, what: string): unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw new FetchFailure(`${what} is not a list`)
}

/** One line of at most `length` characters for a message. */
export function excerptOf(text: string, length = 300): string {
  return text
    .slice(0, 20 * length)
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, length)
}
