// Streams a JSON string value of any length in pieces. Text without escapes is passed on unchanged, found by native
// searches only. Text with escapes (PHP writes every slash as \/) is split between escapes. JSON.parse parses it
// strictly, six times as fast here as a loop over the bytes.

import { notJson } from './error.ts'

export type StreamedString = {
  /** Reads from inside the string to its end or that of the chunk; returns the index after it. */
  read(chunk: Buffer, from: number, before: number): number
  /** Returns true when the last read met the closing quote; the next one begins a new string. */
  isClosed(): boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LONGEST_CUT = 5 // \u0041 without its last digit

/** `piece` returns true when the bytes have no control character but CR and LF. */
export function createStreamedString(piece: (bytes: Buffer) => boolean): StreamedString {
  let cut = '' // beginning of an escape that the next read continues
  let isClosed = false

  const readPlain = (segment: Buffer, at: number) => {
    if (segment.length === 0) return
    const control = piece(segment) ? firstLineBreak(segment) : firstControl(segment)
    if (control >= 0) throw notJson('control character in a string', at + control)
  }

  const readEscaped = (segment: Buffer, at: number) => {
    const text = cut + segment.toString('latin1')
    const end = isClosed ? text.length : text.length - cutEscape(text)
    cut = text.slice(end)
    // Encoded as UTF-8 again, so that non-ASCII characters, escaped or not, remain recognizable.
    const plain = Buffer.from(unescapeBlock(text.slice(0, end), at))
    if (plain.length > 0) piece(plain)
  }

  return {
    read(chunk, from, before) {
      const quote = closingQuote(chunk, from, cut === '\\')
      const segment = quote < 0 ? chunk.subarray(from) : chunk.subarray(from, quote)
      isClosed = quote >= 0
      if (cut === '' && !segment.includes(BACKSLASH)) readPlain(segment, before + from)
      else readEscaped(segment, before + from)
      return isClosed ? quote + 1 : chunk.length
    },
    isClosed: () => isClosed,
  }
}

/** Returns the index of the first unescaped quote, or -1. */
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

/** Counts the characters at the end of the text that begin an incomplete escape. */
function cutEscape(text: string): number {
  const start = text.lastIndexOf('\\')
  const length = text.length - start
  if (start < 0 || length > LONGEST_CUT) return 0
  let first = start
  while (text[first - 1] === '\\') first--
  const escapes = (start - first) % 2 === 0 // else the backslash is itself escaped
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
