// Files that programs write into a text, from `begin 644 FE.xml` to `end`. A hostile text has as many lines as bytes, so
// no line is an object.

import { decodeName } from '../decode-bytes.ts'

/** `bytes` is undefined for a file that is damaged or cut off. */
export type UuFile = { name: string; bytes: Uint8Array<ArrayBuffer> | undefined }

const BEGIN = /^begin [0-7]{3,4} +(\S.*)/s
const [LF, CR, BLANK, LAST, E] = [0x0a, 0x0d, 0x20, 0x60, 0x65]
const LONGEST_BEGIN = 1024
const MOST_FILES = 1001 // more parts than a mail may have
const MOST_CHECKS = 2 // characters after the data of a line

/** Lists the files in a text. A line that begins like one is text, unless `end` or a whole line of data follows. */
export function listUuFiles(bytes: Uint8Array): UuFile[] {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const files: UuFile[] = []
  for (let at = findBegin(content, 0); at !== undefined && files.length < MOST_FILES; ) {
    const start = nextLine(content, at)
    const line = content.subarray(at, Math.min(start, at + LONGEST_BEGIN))
    const name = BEGIN.exec(decodeName(line))?.[1]?.trimEnd()
    const { end, size, isWhole } = measure(content, start)
    const isData = isWhole || !isShort(content, start, nextLine(content, start))
    const isFile = name !== undefined && size > 0 && isData
    if (isFile) files.push({ name, bytes: isWhole ? decode(content.subarray(start, end), size) : undefined })
    at = findBegin(content, isFile ? end : start)
  }
  return files
}

/** Finds the next line that begins a file. */
function findBegin(content: Buffer, from: number): number | undefined {
  if (content.toString('latin1', from, from + 6) === 'begin ') return from
  const before = content.indexOf('\nbegin ', Math.max(0, from - 1))
  return before === -1 ? undefined : before + 1
}

function nextLine(content: Buffer, at: number): number {
  const end = content.indexOf(LF, at)
  return end === -1 ? content.length : end + 1
}

/** Measures the lines of data: their decoded size, their end, and whether `end` follows them. */
function measure(content: Buffer, start: number): { end: number; size: number; isWhole: boolean } {
  let size = 0
  for (let at = start; at < content.length; ) {
    const next = nextLine(content, at)
    const isEnd = content[at] === E && /^end\s*$/.test(content.toString('latin1', at, Math.min(next, at + 8)))
    if (isEnd) return { end: next, size, isWhole: true }
    const length = lineSize(content, at, next)
    if (length === undefined) return { end: at, size, isWhole: false }
    size += length
    at = next
  }
  return { end: content.length, size, isWhole: false }
}

/** Returns the bytes of a line of data; undefined: it is none. Blanks at its end may be missing. */
function lineSize(content: Buffer, at: number, next: number): number | undefined {
  let end = next
  while (end > at && (content[end - 1] === LF || content[end - 1] === CR)) end--
  for (let one = at; one < end; one++) {
    const byte = content[one] as number
    if (byte < BLANK || byte > LAST) return undefined
  }
  const size = digit(content, at, end)
  return end - at - 1 <= Math.ceil(size / 3) * 4 + MOST_CHECKS ? size : undefined
}

/** Returns true for a line with less characters than its bytes take. */
function isShort(content: Buffer, at: number, next: number): boolean {
  const last = at + Math.ceil((digit(content, at, next) * 4) / 3)
  return last >= next || (content[last] as number) < BLANK
}

/** Decodes the lines of a file. Undefined: one is short, and blanks at the end of others are not missing. */
function decode(content: Buffer, size: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(size)
  const isTrimmed = !['`', ' \n', ' \r\n'].some((zero) => content.includes(zero))
  let length = 0
  for (let at = 0; length < size; ) {
    const next = nextLine(content, at)
    const lineLength = digit(content, at, next)
    if (!isTrimmed && lineLength > 0 && isShort(content, at, next)) return undefined
    for (let one = 0; one < lineLength; one++) {
      const shift = (one % 3) * 2
      const from = at + 1 + Math.floor(one / 3) * 4 + (one % 3)
      bytes[length++] =
        (digit(content, from, next) << (2 + shift)) | (digit(content, from + 1, next) >> (4 - shift))
    }
    at = next
  }
  return bytes
}

/** Value of a character, with 6 bits. A blank may be missing at the end of its line, which `next` follows. */
function digit(content: Buffer, at: number, next: number): number {
  const byte = at < next ? (content[at] as number) : BLANK
  return byte < BLANK ? 0 : (byte - BLANK) & 0x3f
}
