// Containers of a mail as programs write them: S/MIME as DER or BER, and files in uuencode.

const OID = {
  signed: '06092a864886f70d010702',
  enveloped: '06092a864886f70d010703',
  data: '06092a864886f70d010701',
}
const END_OF_CONTENT = Buffer.from([0, 0])

/** Returns an opaque S/MIME part without signers. */
export function signedData(
  content: Uint8Array,
  { isStream = false, type = 'signed' as keyof typeof OID } = {},
): Buffer {
  const block = (tag: number, ...parts: Uint8Array[]) =>
    isStream ? stream(tag, ...parts) : der(tag, ...parts)
  const pieces = Array.from({ length: Math.ceil(content.length / 1024) }, (_, at) =>
    der(0x04, content.subarray(at * 1024, (at + 1) * 1024)),
  )
  const octets = isStream ? stream(0x24, ...pieces) : der(0x04, content)
  const encapsulated = block(0x30, oid('data'), block(0xa0, octets))
  const signed = block(0x30, der(0x02, Buffer.from([1])), der(0x31), encapsulated, der(0x31))
  return block(0x30, oid(type), block(0xa0, signed))
}

/** Encodes a file in lines of 45 bytes, as `uuencode` does. `isCut`: blanks at the end of a line are missing. */
export function uuencode(name: string, bytes: Uint8Array, { isCut = false, blank = ' ' } = {}): string {
  const character = (value: number) => (value === 0 ? blank : String.fromCharCode(value + 0x20))
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += 45) {
    const part = bytes.subarray(at, at + 45)
    let line = character(part.length)
    for (let from = 0; from < part.length; from += 3) {
      const [a = 0, b = 0, c = 0] = part.subarray(from, from + 3)
      line += [a >> 2, ((a & 3) << 4) | (b >> 4), ((b & 15) << 2) | (c >> 6), c & 63].map(character).join('')
    }
    lines.push(isCut ? line.trimEnd() : line)
  }
  return [`begin 644 ${name}`, ...lines, isCut ? '' : blank, 'end', ''].join('\r\n')
}

function oid(name: keyof typeof OID): Buffer {
  return Buffer.from(OID[name], 'hex')
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const length = Buffer.alloc(5)
  length[0] = 0x84
  length.writeUInt32BE(content.length, 1)
  return Buffer.concat([Buffer.from([tag]), length, content])
}

/** A block of unknown length. */
function stream(tag: number, ...parts: Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from([tag, 0x80]), ...parts, END_OF_CONTENT])
}
