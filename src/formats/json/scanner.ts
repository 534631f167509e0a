// Parses JSON (RFC 8259, strictly) from pieces of any size in bounded memory, and reports it as events. Parts that the
// listener skips are validated, but neither stored nor reported: they may have any size and depth. The library
// stream-json reads at most 500 MB/s, a fifth of sha256's speed. Also, it accepts invalid UTF-8 and keys of any length.

import { notJson, unexpected } from './error.ts'
import { createJsonNesting, type JsonNesting } from './nesting.ts'
import { createStreamedString, type StreamedString } from './stream.ts'
import { createJsonText } from './text.ts'
import type { JsonScalar, TOO_LONG } from './value.ts'
import { createJsonWord, startsWord } from './word.ts'

export type JsonListener = {
  /** Returns false to skip the contents. */
  open(kind: 'object' | 'array'): boolean
  close(kind: 'object' | 'array', empty: boolean): void
  /** A key of more than 1024 bytes is TOO_LONG. */
  key(name: string | typeof TOO_LONG): void
  value(value: JsonScalar): void
  /** Returns how many bytes of the plain value that begins are stored at most; 0 skips it. */
  maxBytes(): number
  /** Returns true to receive the string value that begins as pieces and an endOfPieces instead of a value. */
  wantsPieces(): boolean
  /** Receives an unescaped part of a string value. Returns true if it has only base64 characters, CR and LF. */
  piece(bytes: Buffer): boolean
  endOfPieces(): void
  /** Returns true to pause; called after a plain value, an object, an array. */
  isBusy(): boolean
}

/** Allocator for deep nesting; it may throw. */
export type JsonMemory = { take(bytes: number): Uint8Array; free(bytes: Uint8Array): void }

const HEAP: JsonMemory = { take: (bytes) => new Uint8Array(bytes), free: () => {} }
const KEY_BYTES = 1024
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

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
const IS_SPACE = new Uint8Array(256)
for (const byte of Buffer.from(' \t\r\n')) IS_SPACE[byte] = 1
const NOT_SKIPPED = 0

export function createJsonScanner(listener: JsonListener, memory = HEAP): JsonScanner {
  return new JsonScanner(listener, memory)
}

export class JsonScanner {
  readonly #listener: JsonListener
  readonly #nesting: JsonNesting
  readonly #text = createJsonText()
  readonly #word = createJsonWord()
  readonly #pieces: StreamedString
  #state = VALUE
  #before = 0 // bytes of earlier chunks
  #markBytes = 0 // bytes of a byte order mark
  #skippedDepth = NOT_SKIPPED // depth of the outermost skipped object or array
  #maxBytes = 0 // limit for the current value
  #isPaused = false

  constructor(listener: JsonListener, memory: JsonMemory) {
    this.#listener = listener
    this.#nesting = createJsonNesting(memory.take, memory.free)
    this.#pieces = createStreamedString((bytes) => listener.piece(bytes))
  }

  /**
   * Reads a chunk to its end, or until the listener is busy. Returns the index for `from` of the next call with this
   * chunk. The bytes must be valid UTF-8. @throws AppError 'bad-request' for invalid JSON
   */
  push(chunk: Buffer, from = 0): number {
    let at = from
    this.#isPaused = false
    while (at < chunk.length && !this.#isPaused) {
      if (this.#state < IN_KEY) {
        at = afterSpace(chunk, at)
        if (at < chunk.length) this.#step(chunk[at] as number, this.#before + at)
        if (this.#state !== IN_WORD && at < chunk.length) at++ // else it is the first byte of the word
      } else if (this.#state === IN_WORD) at = this.#readWord(chunk, at)
      else if (this.#state === IN_PIECES) at = this.#readPieces(chunk, at)
      else at = this.#readText(chunk, at)
    }
    if (at === chunk.length) this.#before += chunk.length
    return at
  }

  /** Throws if the text may not end here. */
  end(): void {
    if (this.#state === IN_WORD) this.#endWord(this.#before)
    if (this.#before === this.#markBytes) throw notJson('nothing but the end', this.#before)
    if (this.#state !== DONE) throw notJson('unexpected end', this.#before)
  }

  /** Processes a byte between the values, other than white space. */
  #step(byte: number, at: number) {
    const state = this.#state
    if (at === this.#markBytes && byte === BYTE_ORDER_MARK[at]) this.#markBytes++
    else if (state === VALUE) this.#startValue(byte, at)
    else if (state === VALUE_OR_END) byte === 0x5d ? this.#close() : this.#startValue(byte, at)
    else if ((state === KEY || state === KEY_OR_END) && byte === QUOTE) this.#startKey()
    else if (state === KEY_OR_END && byte === 0x7d) this.#close()
    else if (state === COLON && byte === 0x3a) this.#state = VALUE
    else if (state === AFTER_VALUE && byte === (this.#nesting.inObject() ? 0x7d : 0x5d)) this.#close()
    else if (state === AFTER_VALUE && byte === 0x2c) this.#state = this.#nesting.inObject() ? KEY : VALUE
    else throw unexpected(byte, at)
  }

  #startValue(byte: number, at: number) {
    if (byte === 0x7b) this.#open('object')
    else if (byte === 0x5b) this.#open('array')
    else if (byte === QUOTE) this.#startString()
    else if (startsWord(byte)) {
      this.#state = IN_WORD
      this.#word.start(this.#limitValue())
    } else throw unexpected(byte, at)
  }

  #open(kind: 'object' | 'array') {
    this.#nesting.push(kind === 'object')
    this.#state = kind === 'object' ? KEY_OR_END : VALUE_OR_END
    if (this.#skippedDepth === NOT_SKIPPED && !this.#listener.open(kind))
      this.#skippedDepth = this.#nesting.depth()
  }

  #close() {
    const empty = this.#state !== AFTER_VALUE
    const kind = this.#nesting.inObject() ? 'object' : 'array'
    if (this.#skippedDepth === this.#nesting.depth()) this.#skippedDepth = NOT_SKIPPED
    this.#nesting.pop()
    this.#endValue()
    if (this.#skippedDepth !== NOT_SKIPPED) return
    this.#listener.close(kind, empty)
    this.#isPaused = this.#listener.isBusy()
  }

  #startString() {
    const isStreamed = this.#skippedDepth === NOT_SKIPPED && this.#listener.wantsPieces()
    this.#state = isStreamed ? IN_PIECES : IN_STRING
    if (!isStreamed) this.#text.start(this.#limitValue())
  }

  #limitValue() {
    this.#maxBytes = this.#skippedDepth === NOT_SKIPPED ? this.#listener.maxBytes() : 0
    return this.#maxBytes
  }

  #startKey() {
    this.#state = IN_KEY
    this.#text.start(this.#skippedDepth === NOT_SKIPPED ? KEY_BYTES : 0)
  }

  #readText(chunk: Buffer, from: number) {
    const at = this.#text.read(chunk, from, this.#before)
    if (!this.#text.isClosed()) return at
    if (this.#state === IN_KEY) {
      this.#state = COLON
      if (this.#skippedDepth === NOT_SKIPPED) this.#listener.key(this.#text.value())
    } else {
      this.#endValue()
      if (this.#maxBytes > 0) this.#report(this.#text.value())
    }
    return at
  }

  #readWord(chunk: Buffer, from: number) {
    const at = this.#word.read(chunk, from)
    if (at < chunk.length) this.#endWord(this.#before + at)
    return at
  }

  #endWord(at: number) {
    const word = this.#word
    if (!word.isValue()) throw notJson(`"${word.beginning()}" is no value`, at - word.length())
    this.#endValue()
    if (this.#maxBytes > 0) this.#report(word.value())
  }

  #readPieces(chunk: Buffer, from: number) {
    const at = this.#pieces.read(chunk, from, this.#before)
    if (this.#pieces.isClosed()) {
      this.#endValue()
      this.#listener.endOfPieces()
    }
    return at
  }

  #endValue() {
    this.#state = this.#nesting.depth() === 0 ? DONE : AFTER_VALUE
  }

  #report(value: JsonScalar) {
    this.#listener.value(value)
    this.#isPaused = this.#listener.isBusy()
  }
}

/** Returns the index of the first byte that is not white space, or the end of the chunk. */
function afterSpace(chunk: Buffer, from: number): number {
  let at = from
  while (at < chunk.length && IS_SPACE[chunk[at] as number] === 1) at++
  return at
}
