// Contents of the parts of a mail. A part is a range of the mail's bytes until its end. The decoders of the library make
// an object of each line. A hostile mail has as many lines as bytes.

const [TAB, LF, CR, SPACE, EQUALS] = [0x09, 0x0a, 0x0d, 0x20, 0x3d]

/** Collects the lines of a part and decodes them at its end. */
export type ContentDecoder = {
  /** `line` is a view of the mail, without its line break. */
  update(line: Uint8Array): void
  finalize(): Promise<ArrayBuffer>
}

/** `encoding` is a Content-Transfer-Encoding in lower case; others than base64 and quoted-printable are as they are. */
export function createContentDecoder(encoding: string): ContentDecoder {
  let first: Uint8Array | undefined
  let end = 0
  return {
    update(line) {
      first ??= line
      end = line.byteOffset + line.length
    },
    async finalize() {
      if (!first) return new ArrayBuffer(0)
      const bytes = new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset)
      if (/base64/.test(encoding)) return decodeBase64Lines(bytes)
      return (/quoted-printable/.test(encoding) ? decodeQuotedPrintable(bytes) : bytes.slice()).buffer
    },
  }
}

/** Decodes leniently: ignores other characters, and continues after padding in the middle. */
function decodeBase64Lines(bytes: Uint8Array): ArrayBuffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  const content = Buffer.alloc(Math.ceil((text.length * 3) / 4))
  let length = 0
  for (let from = 0; from < text.length; ) {
    const padding = text.indexOf('=', from)
    const unitEnd = padding === -1 ? text.length : padding
    if (unitEnd > from) length += content.write(text.slice(from, unitEnd), length, 'base64')
    from = unitEnd + 1
  }
  return new Uint8Array(content.subarray(0, length)).buffer
}

function decodeQuotedPrintable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const content = new Uint8Array(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    const value = byte === EQUALS ? hexByte(bytes[at + 1], bytes[at + 2]) : byte
    const lineEnd = value === undefined ? softBreakEnd(bytes, at + 1) : undefined
    if (lineEnd !== undefined) at = lineEnd
    else {
      content[length++] = value ?? byte
      if (value !== undefined && byte === EQUALS) at += 2
    }
  }
  return content.slice(0, length)
}

/** Returns the place of the line break after blanks, or of the end; undefined: neither follows. */
function softBreakEnd(bytes: Uint8Array, from: number): number | undefined {
  let at = from
  while (bytes[at] === SPACE || bytes[at] === TAB || bytes[at] === CR) at++
  return at >= bytes.length || bytes[at] === LF ? at : undefined
}

function hexByte(high = 0, low = 0): number | undefined {
  const digits = String.fromCharCode(high, low)
  return /^[0-9a-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined
}
