// A JSON string value of any length, handed on in pieces as its text is read. Text without escapes goes on as it
// came, found by native searches only. Text with escapes (PHP writes every slash as \/) is cut where no escape is cut
// and left to JSON.parse, which is six times as fast here as a loop over the bytes, and strict.

import { notJson } from './error.ts'

export type StreamedString = {
  /** Reads from a place inside the string to its end or the chunk's; answers the place after what it read. */
  read(chunk: Buffer, from: number, before: number): number
  /** Whether the last read met the closing quote; the next one begins a new string. */
  ended(): boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LONGEST_CUT = 5 // of \u0041 without its last digit

/** `piece` answers true to vouch that the bytes hold no control character but CR and LF. */
export function createStreamedString(piece: (bytes: Buffer) => boolean): StreamedString {
  let cut = '' // the beginning of an escape, for the next read to go on with
  let ended = false

  const readPlain = (segment: Buffer, at: number) => {
    if (segment.length === 0) return
    const control = piece(segment) ? firstLineBreak(segment) : firstControl(segment)
    if (control >= 0) throw notJson('control character in a string', at + control)
  }

  const readEscaped = (segment: Buffer, at: number) => {
    const text = cut + segment.toString('latin1')
    const end = ended ? text.length : text.length - cutEscape(text)
    cut = text.slice(end)
    // Back to bytes as UTF-8: what was not ASCII, written or escaped, stays recognizable as such.
    const plain = Buffer.from(unescapeBlock(text.slice(0, end), at))
    if (plain.length > 0) piece(plain)
  }

  return {
    read(chunk, from, before) {
      const quote = closingQuote(chunk, from, cut === '\\')
      const segment = quote < 0 ? chunk.subarray(from) : chunk.subarray(from, quote)
      ended = quote >= 0
      if (cut === '' && !segment.includes(BACKSLASH)) readPlain(segment, before + from)
      else readEscaped(segment, before + from)
      return ended ? quote + 1 : chunk.length
    },
    ended: () => ended,
  }
}

/** The first quote that no backslash escapes, or -1. */
function closingQuote(chunk: Buffer, from: number, escaped: boolean): number {
  let quote = chunk.indexOf(QUOTE, from)
  for (; quote >= 0; quote = chunk.indexOf(QUOTE, quote + 1)) {
    let first = quote
    while (first > from && chunk[first - 1] === BACKSLASH) first--
    const backslashes = quote - first + (escaped && first === from ? 1 : 0)
    if (backslashes % 2 === 0) break
  }
  return quote
}

/** How many characters at the end of the text begin an escape that goes on after it. */
function cutEscape(text: string): number {
  const start = text.lastIndexOf('\\')
  const length = text.length - start
  if (start < 0 || length > LONGEST_CUT) return 0
  let first = start
  while (text[first - 1] === '\\') first--
  const escapes = (start - first) % 2 === 0 // else it is itself escaped
  return escapes && (length === 1 || text[start + 1] === 'u') ? length : 0
}

function unescapeBlock(text: string, at: number): string {
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    throw notJson('bad escape or control character in the part of a string that begins', at)
  }
}

function firstLineBreak(bytes: Buffer): number {
  const feed = bytes.indexOf(0x0a)
  return feed >= 0 ? feed : bytes.indexOf(0x0d)
}

function firstControl(bytes: Buffer): number {
  return bytes.findIndex((byte) => byte < 0x20)
}
