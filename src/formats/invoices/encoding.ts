// Text of an XML document in the encodings of invoices. Its markup is ASCII in each of them but
// UTF-16. So the document is read as one character a byte. Its values are decoded at its end, when the encoding of the
// whole is certain.

const ASCII_COMPATIBLE: Record<string, string> = {
  'iso-8859-1': 'windows-1252', // as browsers do: its control characters are in no text
  latin1: 'windows-1252',
  'windows-1252': 'windows-1252',
  cp1252: 'windows-1252',
  'iso-8859-15': 'iso-8859-15',
}
const FALLBACK = 'windows-1252'
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
  /** False: not the declared encoding, or bytes that are no UTF-8. */
  isAsDeclared: boolean
  decode(raw: RawText): string
}

/** @param first the first bytes, at least three unless there are fewer */
export function createByteText(first: Uint8Array): ByteText {
  const utf16 = utf16Name(first)
  if (utf16) {
    const decoder = new TextDecoder(utf16)
    return {
      push: (bytes) => Buffer.from(decoder.decode(bytes, { stream: true }), 'utf8').toString('latin1'),
      end: () => createDecoder('utf-8', true),
    }
  }
  let skipped = UTF8_MARK.every((byte, at) => first[at] === byte) ? UTF8_MARK.length : 0
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let isUtf8 = true
  const check = (bytes: Uint8Array, options: { stream: boolean }) => {
    try {
      if (isUtf8) utf8.decode(bytes, options)
    } catch {
      isUtf8 = false // the only fault of a fatal decoder
    }
  }
  return {
    push(bytes) {
      const rest = bytes.subarray(skipped)
      skipped = Math.max(0, skipped - bytes.length)
      check(rest, { stream: true })
      return Buffer.from(rest.buffer, rest.byteOffset, rest.length).toString('latin1')
    },
    end(declared) {
      const single = ASCII_COMPATIBLE[declared?.toLowerCase() ?? '']
      if (single) return createDecoder(single, true)
      check(new Uint8Array(), { stream: false })
      return isUtf8 ? createDecoder('utf-8', true) : createDecoder(FALLBACK, false)
    },
  }
}

/** Name of UTF-16 with a mark. Without one the bytes of a declared UTF-16 are UTF-8. */
function utf16Name([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return undefined
}

function createDecoder(encoding: string, isAsDeclared: boolean): ValueDecoder {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  const decode = (part: string | number) =>
    typeof part === 'number' ? String.fromCodePoint(part) : decoder.decode(Buffer.from(part, 'latin1'))
  return { isAsDeclared, decode: (raw) => raw.map(decode).join('') }
}

/** Adds to a value. Bytes of a character may be in two pieces, so they become one. */
export function appendRaw(raw: RawText, more: string | number): void {
  const last = raw.at(-1)
  if (typeof last === 'string' && typeof more === 'string') raw[raw.length - 1] = last + more
  else raw.push(more)
}
