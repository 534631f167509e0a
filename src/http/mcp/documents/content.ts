// The content of a document as far as it goes into a message: text a page at a time, other bytes as a whole when they are
// few. What it says is never looked at.

import { AppError } from '../../../errors.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import type { DocumentRow } from '../../../store/documents.ts'

export const PAGE_BYTES = 64 * 1024
export const MOST_BYTES = 1024 * 1024

export type Content =
  | { kind: 'text'; text: string; nextOffset: number | undefined }
  /** All of them; of a text that is none in its midst, those of a page. */
  | { kind: 'bytes'; base64: string; nextOffset?: number | undefined }
  /** Too large for a message. */
  | { kind: 'large' }

const TEXT =
  /^(text\/|application\/(json|xml|yaml|x-yaml|x-ndjson|sql|toml|javascript|csv)$|.*\+(json|xml|yaml)$)/i
// What an ERP of here may still write, beside UTF-8; anything else is bytes.
const CHARSETS: Record<string, string> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'utf-8',
  'iso-8859-1': 'windows-1252',
  'windows-1252': 'windows-1252',
}

/**
 * Text from an offset in bytes on, or the bytes. @throws AppError `gone` for a content that is lost, `invalid` for an
 * offset that is none
 */
export async function contentFrom(
  blobs: Pick<Blobs, 'read'>,
  document: DocumentRow,
  offset: number,
): Promise<Content> {
  const { size } = document
  if (document.content === 'lost') throw new AppError('gone', 'The content was lost')
  if (offset > 0 && offset >= size) throw badOffset(`must be less than ${size}, the size of the document`)
  const charset = charsetOf(document.mimetype)
  if (charset !== undefined) {
    const page = await bytesOf(blobs, document, offset, Math.min(size, offset + PAGE_BYTES))
    if (charset === 'utf-8' && isInside(page))
      throw badOffset('must be a next_offset: this one is inside a character')
    const isLast = offset + page.length === size
    const length = isLast || charset !== 'utf-8' ? page.length : wholeLength(page)
    const text = decoded(page.subarray(0, length), charset, offset)
    const nextOffset = isLast ? undefined : offset + length
    if (text !== undefined) return { kind: 'text', text, nextOffset }
    if (offset > 0) return { kind: 'bytes', base64: page.toString('base64', 0, length), nextOffset }
  }
  if (offset > 0) throw badOffset('is for text: without it the bytes come as a whole')
  if (size > MOST_BYTES) return { kind: 'large' }
  return { kind: 'bytes', base64: (await bytesOf(blobs, document, 0, size)).toString('base64') }
}

/** How a program gets the bytes that are too many for a message. */
export function wayToFetch(id: number): string {
  return `GET /api/v1/documents/${id}/content of this server with the same token; Range gives a part`
}

async function bytesOf(
  blobs: Pick<Blobs, 'read'>,
  { sha256, size }: DocumentRow,
  start: number,
  end: number,
): Promise<Buffer> {
  const isWhole = start === 0 && end === size // only a whole content is checked against its hash
  const blob = await blobs.read(sha256, isWhole ? undefined : { start, end: end - 1 })
  if (blob?.size !== size) throw new Error(`the blob ${sha256} is missing or has another size`)
  const pieces: Buffer[] = []
  for await (const chunk of blob.chunks()) pieces.push(Buffer.from(chunk)) // a chunk is lent until the next
  return Buffer.concat(pieces)
}

/** The name of a decoder for what says of itself that it is text. */
function charsetOf(mimetype: string): string | undefined {
  const [type = '', ...parameters] = mimetype.split(';').map((part) => part.trim())
  if (!TEXT.test(type)) return undefined
  const said = parameters.find((one) => /^charset=/i.test(one))?.slice('charset='.length) ?? 'utf-8'
  return CHARSETS[said.replaceAll('"', '').toLowerCase()]
}

/** Undefined for bytes that are no such text. */
function decoded(bytes: Uint8Array, charset: string, offset: number): string | undefined {
  try {
    // A byte order mark is one at the beginning alone.
    return new TextDecoder(charset, { fatal: true, ignoreBOM: offset > 0 }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Whether the first byte of UTF-8 goes on with a character that began before. */
function isInside([first = 0]: Uint8Array): boolean {
  return (first & 0xc0) === 0x80
}

/** The length of UTF-8 without a character at its end of which bytes are missing. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

function badOffset(what: string): AppError {
  return new AppError('invalid', `offset ${what}`)
}
