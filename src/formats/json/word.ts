// Reads a number, true, false or null byte by byte. Numbers of any length are validated without being stored.

import type { JsonScalar } from './value.ts'

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
  return new JsonWord()
}

class JsonWord {
  #buffer = Buffer.allocUnsafe(64)
  #maxBytes = 0
  #length = 0
  #state = START

  /** Begins a word, of which at most `maxBytes` are stored. The caller has checked its first byte with `startsWord`. */
  start(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#length = 0
    this.#state = START
    if (this.#buffer.length < maxBytes) this.#buffer = Buffer.allocUnsafe(maxBytes)
  }

  /** Reads to the end of the word or chunk; returns the index after it. */
  read(chunk: Buffer, from: number): number {
    const bytes = this.#buffer
    let [at, size, current] = [from, this.#length, this.#state] // a field costs as much as the rest of the loop
    for (; at < chunk.length; at++, size++) {
      const byte = chunk[at] as number
      const kind = BYTE_KINDS[byte] as number
      if (kind === 0) break
      current = NEXT_STATES[current * KINDS.length + kind - 1] as number
      if (size < bytes.length) bytes[size] = byte
    }
    this.#length = size
    this.#state = current
    return at
  }

  length(): number {
    return this.#length
  }

  /** Returns true for a JSON value. */
  isValue(): boolean {
    return IS_NUMBER[this.#state] === true || this.#literal() !== undefined
  }

  value(): JsonScalar {
    if (IS_NUMBER[this.#state])
      return { number: this.#length <= this.#maxBytes ? this.#text(this.#maxBytes) : '' }
    return this.#literal() ?? null
  }

  /** Returns the first characters, for a message. */
  beginning(): string {
    return this.#text(LONGEST_EXCERPT)
  }

  #text(most: number) {
    return this.#buffer.toString('latin1', 0, Math.min(this.#length, most))
  }

  #literal() {
    return this.#length > LONGEST_EXCERPT ? undefined : LITERALS.get(this.#text(LONGEST_EXCERPT))
  }
}
