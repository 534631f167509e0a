// Reads a number, true, false or null byte by byte. Numbers of any length are validated without being stored.

import type { JsonScalar } from './value.ts'

export type JsonWord = {
  /** Begins a word, of which at most `maxBytes` are stored. The caller has checked its first byte with `startsWord`. */
  start(maxBytes: number): void
  /** Reads to the end of the word or chunk; returns the index after it. */
  read(chunk: Buffer, from: number): number
  length(): number
  /** Returns true for a JSON value. */
  isValue(): boolean
  value(): JsonScalar
  /** Returns the first characters, for a message. */
  beginning(): string
}

const LITERALS = new Map<string, JsonScalar>([
  ['true', true],
  ['false', false],
  ['null', null],
])
const LONGEST_EXCERPT = 20

// Kinds of bytes, from 1; 0 is in no word.
const KINDS = ['abcdfghijklmnopqrstuvwxyz', '0', '123456789', '-', '+', '.', 'eE']
const BYTE_KINDS = new Uint8Array(256)
for (const [at, bytes] of KINDS.entries()) for (const byte of Buffer.from(bytes)) BYTE_KINDS[byte] = at + 1

// State machine of numbers (RFC 8259, 6): the next state for each kind of byte.
const NEXT = [
  [0, 0, 0, 0, 0, 0, 0], // 0, none
  [0, 3, 4, 2, 0, 0, 0], // 1, start
  [0, 3, 4, 0, 0, 0, 0], // 2, after the minus
  [0, 0, 0, 0, 0, 5, 7], // 3, after a first 0
  [0, 4, 4, 0, 0, 5, 7], // 4, integer
  [0, 6, 6, 0, 0, 0, 0], // 5, after the point
  [0, 6, 6, 0, 0, 0, 7], // 6, fraction
  [0, 9, 9, 8, 8, 0, 0], // 7, after the e
  [0, 9, 9, 0, 0, 0, 0], // 8, after its sign
  [0, 9, 9, 0, 0, 0, 0], // 9, exponent
]
const START = 1
const IS_NUMBER = [false, false, false, true, true, false, true, false, false, true]
const NEXT_STATES = Uint8Array.from(NEXT.flat())

const STARTS_WORD = new Uint8Array(256)
for (const byte of Buffer.from('-0123456789tfn')) STARTS_WORD[byte] = 1

export function startsWord(byte: number): boolean {
  return STARTS_WORD[byte] === 1
}

export function createJsonWord(): JsonWord {
  let buffer = Buffer.allocUnsafe(64)
  let maxBytes = 0
  let length = 0
  let state = START

  const text = (most: number) => buffer.toString('latin1', 0, Math.min(length, most))
  const literal = () => (length > LONGEST_EXCERPT ? undefined : LITERALS.get(text(LONGEST_EXCERPT)))

  return {
    start(most) {
      maxBytes = most
      length = 0
      state = START
      if (buffer.length < maxBytes) buffer = Buffer.allocUnsafe(maxBytes)
    },
    read(chunk, from) {
      const bytes = buffer
      let [at, size, current] = [from, length, state] // a variable of the closure costs as much as the rest of the loop
      for (; at < chunk.length; at++, size++) {
        const byte = chunk[at] as number
        const kind = BYTE_KINDS[byte] as number
        if (kind === 0) break
        current = NEXT_STATES[current * KINDS.length + kind - 1] as number
        if (size < bytes.length) bytes[size] = byte
      }
      length = size
      state = current
      return at
    },
    length: () => length,
    isValue: () => IS_NUMBER[state] === true || literal() !== undefined,
    value() {
      if (IS_NUMBER[state]) return { number: length <= maxBytes ? text(maxBytes) : '' }
      return literal() ?? null
    },
    beginning: () => text(LONGEST_EXCERPT),
  }
}
