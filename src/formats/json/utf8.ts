// Validates UTF-8 that arrives in pieces. An incomplete character at the end of a piece waits for the next one.

import { isAscii, isUtf8 } from 'node:buffer'

/** Returns false at the first invalid piece. Does not detect a text that ends inside a character. */
export function createUtf8Check(): (chunk: Buffer) => boolean {
  let cut = Buffer.alloc(0)
  return (chunk) => {
    if (cut.length === 0 && isAscii(chunk)) return true
    const bytes = cut.length === 0 ? chunk : Buffer.concat([cut, chunk])
    const end = lastWholeCharacter(bytes)
    cut = Buffer.from(bytes.subarray(end))
    return isUtf8(bytes.subarray(0, end))
  }
}

/** Returns the index after the last complete character, or the end when no character is incomplete. */
function lastWholeCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return bytes.length
    if (byte < 0xc0) continue // a continuation byte
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
