// Text of an XML document in the encodings of invoices. Its markup is ASCII in each of them but
// UTF-16. So the document is read as one character a byte. Its values are decoded at its end, when the encoding of the
// whole is certain.

import { isUtf8 as isWholeUtf8 } from 'node:buffer'

const ASCII_COMPATIBLE: Record<string, string> = {
  'iso-8859-1': 'windows-1252', // as browsers do: its control characters are in no text
  latin1: 'windows-1252',
  'windows-1252': 'windows-1252',
  cp1252: 'windows-1252',
  'iso-8859-15': 'iso-8859-15',
}
const FALLBACK = 'windows-1252'
/** Encodings of a value. */
export const ENCODINGS = ['utf-8', 'windows-1252', 'iso-8859-15']
const UTF8_MARK = [0xef, 0xbb, 0xbf]

/** Characters of a value: bytes as characters, or the code point of a reference. */
export type RawText = (string | number)[]

export type ByteText = {
  /** Returns the next bytes, as a character each. */
  push(bytes: Uint8Array): string
  /** @param declared as in the XML declaration */
  end(declared: string | undefined): ValueDecoder
}

export type ValueDecoder = {
  /** Name in ENCODINGS. Undefined: UTF-16 with bytes that are no text. */
  encoding: string | undefined
  /** False: not the declared encoding, or bytes that are no UTF-8. */
  isAsDeclared: boolean
  decode(raw: RawText): string
}

/** @param first the first bytes, at least three unless there are fewer */
export function createByteText(first: Uint8Array): ByteText {
  const utf16 = utf16Name(first)
  if (utf16) {
    const decoder = new TextDecoder(utf16)
    const isText = createValidator(utf16)
    return {
      push(bytes) {
        isText(bytes)
        return Buffer.from(decoder.decode(bytes, { stream: true }), 'utf8').toString('latin1')
      },
      end: () => ({ ...createDecoder('utf-8', true), ...(isText() ? {} : { encoding: undefined }) }),
    }
  }
  let skipped = UTF8_MARK.every((byte, at) => first[at] === byte) ? UTF8_MARK.length : 0
  const isUtf8 = createValidator('utf-8')
  let isSplit = false // the last piece may have ended within a character
  return {
    push(bytes) {
      const rest = bytes.subarray(skipped)
      skipped = Math.max(0, skipped - bytes.length)
      if (isSplit || !isWholeUtf8(rest)) {
        isUtf8(rest)
        isSplit = (rest.at(-1) ?? 0) > 0x7f
      }
      return Buffer.from(rest.buffer, rest.byteOffset, rest.length).toString('latin1')
    },
    end(declared) {
      const single = ASCII_COMPATIBLE[declared?.toLowerCase() ?? '']
      if (single) return createDecoder(single, true)
      return isUtf8() ? createDecoder('utf-8', true) : createDecoder(FALLBACK, false)
    },
  }
}

/** Name of UTF-16 with a mark. Without one the bytes of a declared UTF-16 are UTF-8. */
function utf16Name([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return undefined
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
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  const decode = (part: string | number) =>
    typeof part === 'number' ? String.fromCodePoint(part) : decoder.decode(Buffer.from(part, 'latin1'))
  return { encoding, isAsDeclared, decode: (raw) => raw.map(decode).join('') }
}

/** Adds to a value. Bytes of a character may be in two pieces, so they become one. */
export function appendRaw(raw: RawText, more: string | number): void {
  const last = raw.at(-1)
  if (typeof last === 'string' && typeof more === 'string') raw[raw.length - 1] = last + more
  else raw.push(more)
}
