// A key or a string value that is read byte by byte: all of it is checked, of its beginning as much is kept as is wanted.

import { notJson } from './error.ts'
import { createShortTexts } from './short-texts.ts'
import { TOO_LONG } from './value.ts'

export type JsonText = {
  /** Begins a text, after its opening quote, of which so many bytes, as written, are to be kept. */
  start(keep: number): void
  /** Reads to its end or the chunk's; answers the place after what it read. `before`: where the chunk begins. */
  read(chunk: Buffer, from: number, before: number): number
  /** Whether the last read met the closing quote. */
  ended(): boolean
  /** The text, unescaped. */
  value(): string | typeof TOO_LONG
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const IS_PLAIN = new Uint8Array(256).fill(1)
IS_PLAIN.fill(0, 0, 0x20)
IS_PLAIN[QUOTE] = 0
IS_PLAIN[BACKSLASH] = 0

const SHORT = new Set(Buffer.from('"\\/bfnrt'))
const HEXADECIMAL = new Set(Buffer.from('0123456789abcdefABCDEF'))

// What the next byte is part of: plain text, an escape that has just begun, or so many digits of \u0041.
const PLAIN = 0
const ESCAPE = 5
const ALL_DIGITS = 4

export function createJsonText(): JsonText {
  const textOf = createShortTexts()
  let kept: Buffer = Buffer.allocUnsafe(64)
  let source = kept // the chunk, for a text that no edge of a chunk cuts: it need not be copied
  let begin = 0
  let size = 0
  let keep = 0
  let tooLong = false
  let pending = PLAIN
  let escapes = false
  let ended = false

  const append = (chunk: Buffer, from: number, to: number) => {
    const length = to - from
    if (size + length > keep) tooLong = true
    if (tooLong) return
    if (size + length > kept.length) kept = Buffer.concat([kept], Math.min(2 * (size + length), keep))
    chunk.copy(kept, size, from, to)
    size += length
  }

  const appendLast = (chunk: Buffer, from: number, to: number) => {
    if (size === 0 && to - from <= keep) {
      source = chunk
      begin = from
      size = to - from
    } else {
      append(chunk, from, to)
      source = kept
    }
  }

  const afterEscaped = (byte: number, at: number): number => {
    if (pending === ESCAPE && byte === 0x75) return ALL_DIGITS
    if (pending === ESCAPE ? SHORT.has(byte) : HEXADECIMAL.has(byte))
      return pending === ESCAPE ? PLAIN : pending - 1
    throw notJson('bad escape in a string', at)
  }

  return {
    start(most) {
      keep = most
      size = 0
      begin = 0
      tooLong = false
      pending = PLAIN
      escapes = false
      ended = false
    },
    read(chunk, from, before) {
      let at = from
      while (true) {
        if (pending === PLAIN) at = afterPlain(chunk, at)
        if (at === chunk.length) break
        const byte = chunk[at] as number
        if (pending !== PLAIN) pending = afterEscaped(byte, before + at)
        else if (byte === BACKSLASH) {
          pending = ESCAPE
          escapes = true
        } else if (byte === QUOTE) {
          appendLast(chunk, from, at)
          ended = true
          return at + 1
        } else throw notJson('control character in a string', before + at)
        at++
      }
      append(chunk, from, at)
      return at
    },
    ended: () => ended,
    value() {
      if (tooLong) return TOO_LONG
      const written = textOf(source, begin, begin + size)
      return escapes ? JSON.parse(`"${written}"`) : written
    },
  }
}

/** The place of the first byte that is not plain, or the chunk's end. */
function afterPlain(chunk: Buffer, from: number): number {
  const { length } = chunk
  let at = from
  while (at < length && IS_PLAIN[chunk[at] as number] === 1) at++
  return at
}
