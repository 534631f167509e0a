// Reads JSON (RFC 8259, strictly) from pieces of any size in bounded memory and reports what it sees as events.
// A string value that the listener wants streamed may have any length; everything else is bounded here.
// Written by hand because stream-json stops at 500 MB/s, a fifth of what sha256 does with the same bytes, and takes
// invalid UTF-8 and keys of any length.

import { notJson, unexpected } from './json-error.ts'
import { createStreamedString } from './json-stream.ts'

export type JsonScalar = string | number | boolean | null

export type JsonListener = {
  open(kind: 'object' | 'array'): void
  close(kind: 'object' | 'array', empty: boolean): void
  key(name: string): void
  value(value: JsonScalar): void
  /** Whether the string value that begins now comes as pieces and an endOfPieces instead of a value. */
  wantsPieces(): boolean
  /** Part of a string value, unescaped. True vouches that it holds only base64 characters, CR and LF. */
  piece(bytes: Buffer): boolean
  endOfPieces(): void
}

export type JsonScanner = {
  /** Throws AppError 'bad-request' at what is not JSON or over a limit. The bytes must be known to be UTF-8. */
  push(chunk: Buffer): void
  /** Throws if the text may not end here. */
  end(): void
}

const MAX_DEPTH = 64
const MAX_KEY = 1024 // bytes as written; so are the others
const MAX_STRING = 1024 * 1024
const MAX_WORD = 1000 // a number, or true, false, null
const MAX_AROUND = 8 * 1024 * 1024 // all that is not streamed

const VALUE = 0
const VALUE_OR_END = 1
const KEY = 2
const KEY_OR_END = 3
const COLON = 4
const AFTER_VALUE = 5
const DONE = 6
const IN_KEY = 7
const IN_STRING = 8
const IN_PIECES = 9
const IN_WORD = 10

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WORDS = new Map<string, JsonScalar>([
  ['true', true],
  ['false', false],
  ['null', null],
])
const STARTS_WORD = /[-0-9tfn]/
const IN_A_WORD = new Uint8Array(256)
for (const byte of Buffer.from('-+.0123456789abcdefghijklmnopqrstuvwxyzE')) IN_A_WORD[byte] = 1

export function createJsonScanner(listener: JsonListener): JsonScanner {
  let state = VALUE
  let before = 0 // bytes of the chunks before this one
  let around = 0 // bytes outside streamed strings
  const nesting: ('object' | 'array')[] = []
  let text = Buffer.allocUnsafe(256) // the key, string or word that is being read
  let size = 0
  let escapes = false // the text has a backslash
  let escaped = false // the last byte was one, and it counts
  const pieces = createStreamedString(listener.piece)

  const append = (byte: number) => {
    if (size === text.length) text = Buffer.concat([text], size * 2)
    text[size++] = byte
  }

  const afterValue = () => {
    state = nesting.length === 0 ? DONE : AFTER_VALUE
  }

  const open = (kind: 'object' | 'array', at: number) => {
    if (nesting.length === MAX_DEPTH) throw notJson(`nested deeper than ${MAX_DEPTH} levels`, at)
    nesting.push(kind)
    state = kind === 'object' ? KEY_OR_END : VALUE_OR_END
    listener.open(kind)
  }

  const close = () => {
    const empty = state !== AFTER_VALUE
    const kind = nesting.pop()
    if (kind !== undefined) listener.close(kind, empty)
    afterValue()
  }

  const startText = (next: number) => {
    state = next
    size = 0
    escapes = false
    escaped = false
  }

  const startValue = (byte: number, at: number) => {
    if (byte === 0x7b) return open('object', at)
    if (byte === 0x5b) return open('array', at)
    if (byte === QUOTE) return startText(listener.wantsPieces() ? IN_PIECES : IN_STRING)
    if (!STARTS_WORD.test(String.fromCharCode(byte))) throw unexpected(byte, at)
    startText(IN_WORD)
    append(byte)
  }

  /** One byte between the values: what may stand there depends on the state alone. */
  const step = (byte: number, at: number) => {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return
    if (state === VALUE) return startValue(byte, at)
    if (state === VALUE_OR_END) return byte === 0x5d ? close() : startValue(byte, at)
    if ((state === KEY || state === KEY_OR_END) && byte === QUOTE) return startText(IN_KEY)
    if (state === KEY_OR_END && byte === 0x7d) return close()
    if (state === COLON && byte === 0x3a) {
      state = VALUE
      return
    }
    if (state === AFTER_VALUE) {
      const inObject = nesting.at(-1) === 'object'
      if (byte === (inObject ? 0x7d : 0x5d)) return close()
      if (byte === 0x2c) {
        state = inObject ? KEY : VALUE
        return
      }
    }
    throw unexpected(byte, at)
  }

  const readText = (chunk: Buffer, from: number): number => {
    const limit = state === IN_KEY ? MAX_KEY : MAX_STRING
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (byte === QUOTE && !escaped) {
        endText(before + at)
        return at + 1
      }
      if (byte < 0x20) throw notJson('control character in a string', before + at)
      escaped = byte === BACKSLASH && !escaped
      escapes ||= escaped
      if (size === limit) {
        throw notJson(`a ${state === IN_KEY ? 'key' : 'string'} is longer than ${limit} bytes`, before + at)
      }
      append(byte)
    }
    return chunk.length
  }

  const endText = (at: number) => {
    const written = text.toString('utf8', 0, size)
    const value = escapes ? unescapeText(written, at) : written
    if (state === IN_KEY) {
      state = COLON
      listener.key(value)
    } else {
      afterValue()
      listener.value(value)
    }
  }

  const readWord = (chunk: Buffer, from: number): number => {
    let at = from
    for (; at < chunk.length && IN_A_WORD[chunk[at] as number] === 1; at++) {
      if (size === MAX_WORD) throw notJson(`a number is longer than ${MAX_WORD} bytes`, before + at)
      append(chunk[at] as number)
    }
    if (at < chunk.length) endWord(before + at)
    return at
  }

  const endWord = (at: number) => {
    const word = text.toString('latin1', 0, size)
    const value = WORDS.get(word) ?? (NUMBER.test(word) ? Number(word) : null)
    if (value === null && word !== 'null') throw notJson(`"${word.slice(0, 20)}" is no value`, at - size)
    afterValue()
    listener.value(value)
  }

  const readPieces = (chunk: Buffer, from: number): number => {
    const at = pieces.read(chunk, from, before)
    around -= at - from
    if (pieces.ended()) {
      afterValue()
      listener.endOfPieces()
    }
    return at
  }

  return {
    push(chunk) {
      let at = 0
      while (at < chunk.length) {
        if (state === IN_PIECES) at = readPieces(chunk, at)
        else if (state === IN_WORD) at = readWord(chunk, at)
        else if (state === IN_KEY || state === IN_STRING) at = readText(chunk, at)
        else step(chunk[at] as number, before + at++)
      }
      before += chunk.length
      around += chunk.length
      if (around > MAX_AROUND) throw notJson(`more than ${MAX_AROUND} bytes beside the content`, before)
    },
    end() {
      if (state === IN_WORD) endWord(before)
      if (before === 0) throw notJson('nothing but the end', 0)
      if (state !== DONE) throw notJson('unexpected end', before)
    },
  }
}

function unescapeText(written: string, at: number): string {
  try {
    return JSON.parse(`"${written}"`)
  } catch {
    throw notJson('bad escape in the string that ends', at)
  }
}
