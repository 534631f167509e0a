// Parses JSON of a provider. Numbers become their source text, so that no published digit goes through a float
// (upstream 1).

import { setImmediate as nextTurn } from 'node:timers/promises'
import { FetchFailure } from './provider.ts'

const MOST_VALUES = 200_000 // the largest answer known has 20,000; a parsed value costs up to 500 bytes
const MOST_LEVELS = 100 // the answers known have seven
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*(?:[,\]}]|$))/y // not a key
const NOT_JSON = 'the answer is not JSON'
const [QUOTE, BACKSLASH, COMMA, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2c, 0x2d, 0x30, 0x39]
const [BRACKET, END_BRACKET, BRACE, END_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Returns the document with every number as its source text: `496.44000000` is `'496.44000000'`.
 * @throws FetchFailure when the text is not JSON, nests too deep, or holds too many values
 */
export function parseSourceJson(text: string): unknown {
  return parsePlain(quoteNumbers(text))
}

/** `parseSourceJson` for answers that take over ten milliseconds: yields to the event loop between its steps. */
export async function parseLargeJson(text: string): Promise<unknown> {
  await nextTurn()
  const quoted = quoteNumbers(text)
  await nextTurn()
  const document = parsePlain(quoted)
  await nextTurn()
  return document
}

function parsePlain(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The message of JSON.parse quotes the body, which may contain a secret.
    throw new FetchFailure(NOT_JSON)
  }
}

/**
 * Puts the numbers of a text in quotes; invalid JSON stays invalid. A reviver of JSON.parse would block the event loop five
 * times as long. Values are counted before parsing: 8 MiB of `{},` would become a gigabyte of objects.
 */
function quoteNumbers(text: string): string {
  let quoted = ''
  let copyEnd = 0
  let values = 0
  let level = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA) values++
    else if (code === BRACKET || code === BRACE) {
      values++
      level++
      if (level > MOST_LEVELS) throw new FetchFailure('the answer nests too deep')
    } else if (code === END_BRACKET || code === END_BRACE) level--
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at
      if (!NUMBER.test(text)) throw new FetchFailure(NOT_JSON)
      quoted += `${text.slice(copyEnd, at)}"${text.slice(at, NUMBER.lastIndex)}"`
      copyEnd = NUMBER.lastIndex
      at = copyEnd - 1
    }
    if (values > MOST_VALUES) throw new FetchFailure('the answer holds too many values')
  }
  return quoted + text.slice(copyEnd)
}

/** Returns the index of the closing quote of the string that begins at `begin`. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let at = end
    while (text.charCodeAt(at - 1) === BACKSLASH) at--
    if ((end - at) % 2 === 0) return end
  }
  return text.length
}

/** Returns a string without the white space around it, '' for null and undefined, and JSON for other values. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  if (value === undefined || value === null) return ''
  return JSON.stringify(value)
}

/** Returns the items of a list that may be absent or null. */
export function listItems(value: unknown, what: string): unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw new FetchFailure(`${what} is not a list`)
}

/** Returns a line of at most `length` characters for a message. */
export function excerpt(text: string, length = 300): string {
  return text
    .slice(0, 20 * length)
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, length)
}
