// A number, or true, false or null, that is read byte by byte. A number may have any length: that it is one is known
// without keeping it.

import type { JsonScalar } from './value.ts'

export type JsonWord = {
  /** Begins a word of which so many bytes are to be kept. Whether one may begin with a byte is asked beforehand. */
  start(keep: number): void
  /** Reads to its end or the chunk's; answers the place after what it read. */
  read(chunk: Buffer, from: number): number
  length(): number
  /** Whether it is a value of JSON. */
  isValue(): boolean
  value(): JsonScalar
  /** How it begins, for a message. */
  beginning(): string
}

const LITERALS = new Map<string, JsonScalar>([
  ['true', true],
  ['false', false],
  ['null', null],
])
const SHOWN = 20

// Kinds of bytes, from 1 on; 0 is in no word.
const KINDS = ['abcdfghijklmnopqrstuvwxyz', '0', '123456789', '-', '+', '.', 'eE']
const KIND_OF = new Uint8Array(256)
for (const [at, bytes] of KINDS.entries()) for (const byte of Buffer.from(bytes)) KIND_OF[byte] = at + 1

// The grammar of numbers (RFC 8259, 6): the place that a byte of each kind leads to.
const NEXT = [
  /* 0, none */ [0, 0, 0, 0, 0, 0, 0],
  /* 1, start */ [0, 3, 4, 2, 0, 0, 0],
  /* 2, after the minus */ [0, 3, 4, 0, 0, 0, 0],
  /* 3, after a first 0 */ [0, 0, 0, 0, 0, 5, 7],
  /* 4, integer */ [0, 4, 4, 0, 0, 5, 7],
  /* 5, after the point */ [0, 6, 6, 0, 0, 0, 0],
  /* 6, fraction */ [0, 6, 6, 0, 0, 0, 7],
  /* 7, after the e */ [0, 9, 9, 8, 8, 0, 0],
  /* 8, after its sign */ [0, 9, 9, 0, 0, 0, 0],
  /* 9, exponent */ [0, 9, 9, 0, 0, 0, 0],
]
const START = 1
const IS_NUMBER = [false, false, false, true, true, false, true, false, false, true]
const PLACES = Uint8Array.from(NEXT.flat())

const STARTS_WORD = new Uint8Array(256)
for (const byte of Buffer.from('-0123456789tfn')) STARTS_WORD[byte] = 1

export function startsWord(byte: number): boolean {
  return STARTS_WORD[byte] === 1
}

export function createJsonWord(): JsonWord {
  let kept = Buffer.allocUnsafe(64)
  let keep = 0
  let length = 0
  let place = START

  const text = (most: number) => kept.toString('latin1', 0, Math.min(length, most))
  const literal = () => (length > SHOWN ? undefined : LITERALS.get(text(SHOWN)))

  return {
    start(most) {
      keep = most
      length = 0
      place = START
      if (kept.length < keep) kept = Buffer.allocUnsafe(keep)
    },
    read(chunk, from) {
      const bytes = kept
      let [at, size, now] = [from, length, place] // a variable of the closure costs as much as the rest of the loop
      for (; at < chunk.length; at++, size++) {
        const byte = chunk[at] as number
        const kind = KIND_OF[byte] as number
        if (kind === 0) break
        now = PLACES[now * KINDS.length + kind - 1] as number
        if (size < bytes.length) bytes[size] = byte
      }
      length = size
      place = now
      return at
    },
    length: () => length,
    isValue: () => IS_NUMBER[place] === true || literal() !== undefined,
    value() {
      if (IS_NUMBER[place]) return { number: length <= keep ? text(keep) : '' }
      return literal() ?? null
    },
    beginning: () => text(SHOWN),
  }
}
