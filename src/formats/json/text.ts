// Reads a key or a string value byte by byte. Validates each byte, and stores the first ones up to a limit.

import { notJson } from './error.ts'
import { TOO_LONG } from './value.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const IS_PLAIN = new Uint8Array(256).fill(1)
IS_PLAIN.fill(0, 0, 0x20)
IS_PLAIN[QUOTE] = 0
IS_PLAIN[BACKSLASH] = 0

const SHORT = new Set(Buffer.from('"\\/bfnrt'))
const HEXADECIMAL = new Set(Buffer.from('0123456789abcdefABCDEF'))

// Kinds of pending bytes: plain text, the rest of an escape, or 4 to 1 digits of \u0041.
const PLAIN = 0
const ESCAPE = 5
const ALL_DIGITS = 4

export function createJsonText(): JsonText {
  return new JsonText()
}

class JsonText {
  readonly #decodeText = createShortTexts()
  #buffer: Buffer = Buffer.allocUnsafe(64)
  #source = this.#buffer // the chunk itself, without a copy, for a text within a chunk
  #start = 0
  #size = 0
  #maxBytes = 0
  #tooLong = false
  #pending = PLAIN
  #escapes = false
  #isClosed = false

  /** Begins a text after its opening quote; at most `maxBytes` of its source are stored. */
  start(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#size = 0
    this.#start = 0
    this.#tooLong = false
    this.#pending = PLAIN
    this.#escapes = false
    this.#isClosed = false
  }

  /** Reads to the end of the text or chunk; returns the index after it. `before`: bytes of earlier chunks. */
  read(chunk: Buffer, from: number, before: number): number {
    let at = from
    while (true) {
      if (this.#pending === PLAIN) at = afterPlain(chunk, at)
      if (at === chunk.length) break
      const byte = chunk[at] as number
      if (this.#pending !== PLAIN) this.#pending = afterEscaped(this.#pending, byte, before + at)
      else if (byte === BACKSLASH) {
        this.#pending = ESCAPE
        this.#escapes = true
      } else if (byte === QUOTE) {
        this.#appendLast(chunk, from, at)
        this.#isClosed = true
        return at + 1
      } else throw notJson('control character in a string', before + at)
      at++
    }
    this.#append(chunk, from, at)
    return at
  }

  /** Returns true when the last read met the closing quote. */
  isClosed(): boolean {
    return this.#isClosed
  }

  /** Returns the text, unescaped. */
  value(): string | typeof TOO_LONG {
    if (this.#tooLong) return TOO_LONG
    const text = this.#decodeText(this.#source, this.#start, this.#start + this.#size)
    return this.#escapes ? JSON.parse(`"${text}"`) : text
  }

  #append(chunk: Buffer, from: number, to: number) {
    const size = this.#size + to - from
    if (size > this.#maxBytes) this.#tooLong = true
    if (this.#tooLong) return
    if (size > this.#buffer.length)
      this.#buffer = Buffer.concat([this.#buffer], Math.min(2 * size, this.#maxBytes))
    chunk.copy(this.#buffer, this.#size, from, to)
    this.#size = size
  }

  #appendLast(chunk: Buffer, from: number, to: number) {
    if (this.#size === 0 && to - from <= this.#maxBytes) {
      this.#source = chunk
      this.#start = from
      this.#size = to - from
    } else {
      this.#append(chunk, from, to)
      this.#source = this.#buffer
    }
  }
}

/** Returns the next kind of pending bytes, after a byte of an escape. */
function afterEscaped(pending: number, byte: number, at: number): number {
  if (pending === ESCAPE && byte === 0x75) return ALL_DIGITS
  if (pending === ESCAPE ? SHORT.has(byte) : HEXADECIMAL.has(byte))
    return pending === ESCAPE ? PLAIN : pending - 1
  throw notJson('bad escape in a string', at)
}

/** Returns the index of the first byte that is not plain, or the end of the chunk. */
function afterPlain(chunk: Buffer, from: number): number {
  const { length } = chunk
  let at = from
  while (at < length && IS_PLAIN[chunk[at] as number] === 1) at++
  return at
}

const LONGEST = 24 // bytes; a day has 10
const CACHE_SIZE = 512

/**
 * Creates a cache of short texts that repeat, such as names of fields. A hit takes a third of the time of decoding and no
 * further memory. Returns a decoder of the UTF-8 from `from` to before `to`.
 */
function createShortTexts(): (bytes: Buffer, from: number, to: number) => string {
  const cache: string[] = new Array(CACHE_SIZE).fill('')
  return (bytes, from, to) => {
    const length = to - from
    if (length > LONGEST) return bytes.toString('utf8', from, to)
    let hash = length
    for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
    const slot = (hash ^ (hash >>> 9)) & (CACHE_SIZE - 1)
    const cachedText = cache[slot] as string
    if (cachedText.length === length && isSame(cachedText, bytes, from)) return cachedText
    const text = bytes.toString('utf8', from, to)
    if (text.length === length) cache[slot] = text // ASCII: as many characters as bytes
    return text
  }
}

function isSame(text: string, bytes: Buffer, from: number): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) !== bytes[from + at]) return false
  return true
}
