// Reads JSON of a foreign source. A number becomes the text that the source wrote, so that no published digit
// goes through a float (upstream 1).

import { FetchFailure } from './provider.ts'

export type JsonRecord = Record<string, unknown>

/**
 * The document, with every number as its own text: `496.44000000` is `'496.44000000'`.
 * @throws FetchFailure when the text is not JSON, or nests deeper than the engine follows
 */
export function parseJson(text: string): unknown {
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
