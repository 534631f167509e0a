// Parses JSON (RFC 8259, strictly) from pieces of any size in bounded memory, and reports it as events. Parts that the
// listener skips are validated, but neither stored nor reported: they may have any size and depth. The library
// stream-json reads at most 500 MB/s, a fifth of sha256's speed. Also, it accepts invalid UTF-8 and keys of any length.

import { notJson, unexpected } from './error.ts'
import { createJsonNesting } from './nesting.ts'
import { createStreamedString } from './stream.ts'
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

export type JsonScanner = {
  /**
   * Reads a chunk to its end, or until the listener is busy. Returns the index for `from` of the next call with this
   * chunk. The bytes must be valid UTF-8. @throws AppError 'bad-request' for invalid JSON
   */
  push(chunk: Buffer, from?: number): number
  /** Throws if the text may not end here. */
  end(): void
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
  let state = VALUE
  let before = 0 // bytes of earlier chunks
  let markBytes = 0 // bytes of a byte order mark
  let skippedDepth = NOT_SKIPPED // depth of the outermost skipped object or array
  let maxBytes = 0 // limit for the current value
  let isPaused = false
  const nesting = createJsonNesting(memory.take, memory.free)
  const text = createJsonText()
  const word = createJsonWord()
  const pieces = createStreamedString(listener.piece)

  const afterValue = () => {
    state = nesting.depth() === 0 ? DONE : AFTER_VALUE
  }

  const open = (kind: 'object' | 'array') => {
    nesting.push(kind === 'object')
    state = kind === 'object' ? KEY_OR_END : VALUE_OR_END
    if (skippedDepth === NOT_SKIPPED && !listener.open(kind)) skippedDepth = nesting.depth()
  }

  const close = () => {
    const empty = state !== AFTER_VALUE
    const kind = nesting.inObject() ? 'object' : 'array'
    if (skippedDepth === nesting.depth()) skippedDepth = NOT_SKIPPED
    nesting.pop()
    afterValue()
    if (skippedDepth !== NOT_SKIPPED) return
    listener.close(kind, empty)
    isPaused = listener.isBusy()
  }

  const startString = () => {
    if (skippedDepth === NOT_SKIPPED && listener.wantsPieces()) {
      state = IN_PIECES
      return
    }
    state = IN_STRING
    maxBytes = skippedDepth === NOT_SKIPPED ? listener.maxBytes() : 0
    text.start(maxBytes)
  }

  const startValue = (byte: number, at: number) => {
    if (byte === 0x7b) return open('object')
    if (byte === 0x5b) return open('array')
    if (byte === QUOTE) return startString()
    if (!startsWord(byte)) throw unexpected(byte, at)
    state = IN_WORD
    maxBytes = skippedDepth === NOT_SKIPPED ? listener.maxBytes() : 0
    word.start(maxBytes)
  }

  const startKey = () => {
    state = IN_KEY
    text.start(skippedDepth === NOT_SKIPPED ? KEY_BYTES : 0)
  }

  /** Processes a byte between the values, other than white space. */
  const step = (byte: number, at: number) => {
    if (at === markBytes && byte === BYTE_ORDER_MARK[at]) {
      markBytes++
      return
    }
    if (state === VALUE) return startValue(byte, at)
    if (state === VALUE_OR_END) return byte === 0x5d ? close() : startValue(byte, at)
    if ((state === KEY || state === KEY_OR_END) && byte === QUOTE) return startKey()
    if (state === KEY_OR_END && byte === 0x7d) return close()
    if (state === COLON && byte === 0x3a) {
      state = VALUE
      return
    }
    if (state === AFTER_VALUE) {
      const inObject = nesting.inObject()
      if (byte === (inObject ? 0x7d : 0x5d)) return close()
      if (byte === 0x2c) {
        state = inObject ? KEY : VALUE
        return
      }
    }
    throw unexpected(byte, at)
  }

  const readText = (chunk: Buffer, from: number): number => {
    const at = text.read(chunk, from, before)
    if (!text.isClosed()) return at
    if (state === IN_KEY) {
      state = COLON
      if (skippedDepth === NOT_SKIPPED) listener.key(text.value())
    } else {
      afterValue()
      if (maxBytes > 0) report(text.value())
    }
    return at
  }

  const report = (value: JsonScalar) => {
    listener.value(value)
    isPaused = listener.isBusy()
  }

  const readWord = (chunk: Buffer, from: number): number => {
    const at = word.read(chunk, from)
    if (at < chunk.length) endWord(before + at)
    return at
  }

  const endWord = (at: number) => {
    if (!word.isValue()) throw notJson(`"${word.beginning()}" is no value`, at - word.length())
    afterValue()
    if (maxBytes > 0) report(word.value())
  }

  const readPieces = (chunk: Buffer, from: number): number => {
    const at = pieces.read(chunk, from, before)
    if (pieces.isClosed()) {
      afterValue()
      listener.endOfPieces()
    }
    return at
  }

  return {
    push(chunk, from = 0) {
      let at = from
      isPaused = false
      while (at < chunk.length && !isPaused) {
        if (state < IN_KEY) {
          at = afterSpace(chunk, at)
          if (at < chunk.length) step(chunk[at] as number, before + at)
          if (state !== IN_WORD && at < chunk.length) at++ // else it is the first byte of the word
        } else if (state === IN_WORD) at = readWord(chunk, at)
        else if (state === IN_PIECES) at = readPieces(chunk, at)
        else at = readText(chunk, at)
      }
      if (at === chunk.length) before += chunk.length
      return at
    },
    end() {
      if (state === IN_WORD) endWord(before)
      if (before === markBytes) throw notJson('nothing but the end', before)
      if (state !== DONE) throw notJson('unexpected end', before)
    },
  }
}

/** Returns the index of the first byte that is not white space, or the end of the chunk. */
function afterSpace(chunk: Buffer, from: number): number {
  let at = from
  while (at < chunk.length && IS_SPACE[chunk[at] as number] === 1) at++
  return at
}
