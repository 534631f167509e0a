// Text of an XML document in the encodings of invoices. Its markup is ASCII in each of them but UTF-16, which becomes
// UTF-8 first. So the document is read as one character a byte. Its values are decoded at its end, when the encoding of
// the whole is certain.

import { isAscii, isUtf8 as isWholeUtf8 } from 'node:buffer'
import { decodeStrictly, findCharset } from '../decode-bytes.ts'

const FALLBACK = 'windows-1252'
const ASCII = /^\s*(us-)?ascii\s*$/i
/** Encodings in which names of elements are checked. */
export const ENCODINGS = ['utf-8', 'windows-1252', 'iso-8859-15']

/** Characters of a value: bytes as characters, or the code point of a reference. */
export type RawText = (string | number)[]

export type ByteText = {
  /** Returns the next bytes, as a character each. */
  push(bytes: Buffer): string
  /** @param declared as in the XML declaration */
  end(declared: string | undefined): ValueDecoder
}

export type Utf16 = {
  /** Returns the next characters in UTF-8. */
  push(bytes: Buffer): Buffer
  /** Returns the decoder of values. */
  end(): ValueDecoder
}

export type ValueDecoder = {
  /** As `findCharset` names it. Undefined: UTF-16 without a mark, or with bytes that are no text. */
  encoding: string | undefined
  /** False: not the declared encoding, or bytes that are none of it in a value that was decoded. */
  isAsDeclared: boolean
  decode(raw: RawText): string
}

/** @param encoding `utf-16le` or `utf-16be` */
export function createUtf16(encoding: string, isMarked: boolean): Utf16 {
  const decoder = new TextDecoder(encoding)
  const isText = createValidator(encoding)
  return {
    push(bytes) {
      isText(bytes)
      return Buffer.from(decoder.decode(bytes, { stream: true }))
    },
    end: () => ({
      ...createDecoder('utf-8', true),
      ...(isMarked && isText() ? {} : { encoding: undefined }),
    }),
  }
}

/** Reads bytes after their marks. Without a mark those of a declared UTF-16 are UTF-8. */
export function createByteText(): ByteText {
  const isUtf8 = createValidator('utf-8')
  let isPlain = true // ASCII alone
  let isSplit = false // the last piece may have ended within a character
  return {
    push(bytes) {
      if (isPlain) isPlain = isAscii(bytes)
      if (isSplit || !isWholeUtf8(bytes)) {
        isUtf8(bytes)
        isSplit = (bytes.at(-1) ?? 0) > 0x7f
      }
      return bytes.toString('latin1')
    },
    end(declared = 'utf-8') {
      const charset = findCharset(declared)
      if (isPlain || isUtf8()) return createDecoder('utf-8', isPlain || charset === 'utf-8')
      const isKnown = charset !== undefined && !/^utf-/.test(charset)
      return createDecoder(isKnown ? charset : FALLBACK, isKnown && !ASCII.test(declared))
    },
  }
}

/** Returns a function that validates the next bytes, or without bytes the whole. */
function createValidator(encoding: string): (bytes?: Uint8Array) => boolean {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let isValid = true
  return (bytes) => {
    try {
      if (isValid) decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      isValid = false // the only fault of a fatal decoder
    }
    return isValid
  }
}

function createDecoder(encoding: string, isAsDeclared: boolean): ValueDecoder {
  const decodeText = (bytes: Buffer) => {
    const text = decodeStrictly(bytes, encoding)
    if (text === undefined) decoder.isAsDeclared = false
    return text ?? decodeStrictly(bytes, FALLBACK) ?? ''
  }
  const decode = (part: string | number) =>
    typeof part === 'number' ? String.fromCodePoint(part) : decodeText(Buffer.from(part, 'latin1'))
  const decoder = { encoding, isAsDeclared, decode: (raw: RawText) => raw.map(decode).join('') }
  return decoder
}

/** Adds to a value. Bytes of a character may be in two pieces, so they become one. */
export function appendRaw(raw: RawText, more: string | number): void {
  const last = raw.at(-1)
  if (typeof last === 'string' && typeof more === 'string') raw[raw.length - 1] = last + more
  else raw.push(more)
}
