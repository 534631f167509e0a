// Whether bytes that arrive in pieces are UTF-8. A character cut by the edge of a piece waits for the next one.

import { isAscii, isUtf8 } from 'node:buffer'

/** Answers false at the first piece that cannot be part of UTF-8. Does not see a text that ends inside a character. */
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

/** The place after the last character that is complete, or the end if what stands there is no cut character. */
function lastWholeCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return bytes.length
    if (byte < 0xc0) continue // a continuation byte: the first one is further back
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
