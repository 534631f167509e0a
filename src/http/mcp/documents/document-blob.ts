// Reads the blob of a document for a message: text in pages of 64 KiB, other bytes as a whole up to 1 MiB. The meaning
// of the text is never interpreted.

import { AppError } from '../../../runtime/errors.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import type { DocumentRow } from '../../../store/documents/documents.ts'

const PAGE_BYTES = 64 * 1024
const MOST_BYTES = 1024 * 1024

export type DocumentBlob =
  | { kind: 'text'; text: string; nextOffset: number | undefined }
  /** All bytes; for a text that turns out to be binary after its first page, those of a page. */
  | { kind: 'bytes'; base64: string; nextOffset?: number | undefined }
  /** Too large for a message. */
  | { kind: 'large' }

const TEXT_TYPE =
  /^(text\/|application\/(json|xml|yaml|x-yaml|x-ndjson|sql|toml|javascript|csv)$|.*\+(json|xml|yaml)$)/i
// Encodings of Costa Rican ERP systems; text in any other is returned as bytes.
const CHARSETS: Record<string, string> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'utf-8',
  'iso-8859-1': 'windows-1252',
  'windows-1252': 'windows-1252',
}

/**
 * Returns text from an offset in bytes, or the bytes. @throws AppError `gone` for a lost blob, `invalid` for a wrong
 * offset
 */
export async function readDocumentBlob(
  blobs: Pick<Blobs, 'read'>,
  document: DocumentRow,
  offset: number,
): Promise<DocumentBlob> {
  const { size } = document
  if (document.content === 'lost') throw new AppError('gone', 'The content was lost')
  if (offset > 0 && offset >= size) throw offsetError(`must be less than ${size}, the size of the document`)
  const charset = findDecoderName(document.mimetype)
  if (charset !== undefined) {
    const page = await readBytes(blobs, document, offset, Math.min(size, offset + PAGE_BYTES))
    if (charset === 'utf-8' && offset > 0 && isContinuation(page[0])) {
      const before = await readBytes(blobs, document, Math.max(0, offset - 3), offset)
      if (completeLength(before) < before.length)
        throw offsetError('must be a next_offset: this one is inside a character')
    }
    const isLast = offset + page.length === size
    const length = isLast || charset !== 'utf-8' ? page.length : completeLength(page)
    const text = decodeText(page.subarray(0, length), charset, offset)
    const nextOffset = isLast ? undefined : offset + length
    if (text !== undefined) return { kind: 'text', text, nextOffset }
    if (offset > 0) return { kind: 'bytes', base64: page.toString('base64', 0, length), nextOffset }
  }
  if (offset > 0) throw offsetError('is for text: without it the bytes come as a whole')
  if (size > MOST_BYTES) return { kind: 'large' }
  return { kind: 'bytes', base64: (await readBytes(blobs, document, 0, size)).toString('base64') }
}

/** Describes the request for a blob that is too large for a message. */
export function fetchHint(id: number): string {
  return `GET /api/v1/documents/${id}/content of this server with the same token; Range gives a part`
}

async function readBytes(
  blobs: Pick<Blobs, 'read'>,
  { sha256, size }: DocumentRow,
  start: number,
  end: number,
): Promise<Buffer> {
  const isWhole = start === 0 && end === size // only a whole blob is checked against its hash
  const blob = await blobs.read(sha256, isWhole ? undefined : { start, end: end - 1 })
  if (blob?.size !== size) throw new Error(`the blob ${sha256} is missing or has another size`)
  const pieces: Buffer[] = []
  for await (const chunk of blob.chunks()) pieces.push(Buffer.from(chunk)) // the blob store reuses the buffer of a chunk
  return Buffer.concat(pieces)
}

/** Returns the name of the decoder of a text type; undefined: another type or encoding. */
function findDecoderName(mimetype: string): string | undefined {
  const [type = ''] = mimetype.split(';', 1)
  return TEXT_TYPE.test(type.trim()) ? CHARSETS[parseCharset(mimetype) ?? 'utf-8'] : undefined
}

/** Returns the charset of a type, in lower case; undefined: it has none. */
export function parseCharset(mimetype: string): string | undefined {
  const parameters = mimetype.split(';').map((part) => part.trim())
  const parameter = parameters.find((one) => /^charset=/i.test(one))
  return parameter?.slice('charset='.length).replaceAll('"', '').toLowerCase()
}

/** Undefined for bytes that are not text in this encoding. */
function decodeText(bytes: Uint8Array, charset: string, offset: number): string | undefined {
  try {
    // Only the start of a blob has a byte order mark.
    return new TextDecoder(charset, { fatal: true, ignoreBOM: offset > 0 }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Returns true if a byte can only continue a character of UTF-8. */
function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80
}

/** Length of UTF-8 without an incomplete character at its end. */
function completeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (isContinuation(byte)) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

function offsetError(what: string): AppError {
  return new AppError('invalid', `offset ${what}`)
}
