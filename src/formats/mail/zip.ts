// Files of a ZIP archive in a mail. An archive that is over a limit, or without an invoice, stays whole.

import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { decodeName } from '../decode-bytes.ts'
import { createInvoiceReader } from '../invoices/invoice.ts'
import { baseName, sniffType } from './names.ts'
import { addFile, type IsIgnored, type MailParts, type WholeReason } from './parts.ts'

type ZippedFile = { entry: Entry; path: string }

/** Ratio of inflated bytes to those in the container. */
export const LARGEST_RATIO = 100

const MOST_FILES = 100
const MOST_ENTRIES = 1000 // with folders, and files that are ignored
const LARGEST_EXTRA = 4096 // fields of an entry: an object each
const MOST_JUNK = 4096 // bytes before or after the archive
const LOCAL_HEADER = Buffer.from('PK\u0003\u0004')
const END_RECORD = Buffer.from('PK\u0005\u0006')
const LOCATOR_64 = Buffer.from('PK\u0006\u0007')
const LOCATOR_64_SIZE = 20
const END_SIZE = 22
const LOCAL_HEADER_SIZE = 30
const UTF8_NAMES = 0x0800
const UNICODE_PATH = 0x7075

/** Returns whether a file is an archive by its content, perhaps after other bytes. */
export function isZip(bytes: Uint8Array): boolean {
  if (sniffType(bytes) === 'application/zip') return true
  const head = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    Math.min(bytes.length, MOST_JUNK + LOCAL_HEADER.length),
  )
  return head.includes(LOCAL_HEADER) && typeof cutArchive(bytes) === 'object'
}

/**
 * Returns the files of an archive with at least one invoice, or the reason to leave it whole.
 * @param mostBytes limit of all files, inflated
 */
export async function readZip(
  bytes: Uint8Array,
  mostBytes: number,
  isIgnored: IsIgnored,
): Promise<MailParts | WholeReason> {
  try {
    const archive = cutArchive(bytes)
    if (typeof archive === 'string') return archive
    // Names are decoded here, since the library would reject those that leave the folder.
    const zip = await fromBufferPromise(archive, { decodeStrings: false })
    if (zip.entryCount > MOST_ENTRIES) return 'too_many_files'
    const entries: ZippedFile[] = []
    for await (const entry of zip.eachEntry()) {
      if (entry.extraFieldLength > LARGEST_EXTRA) return 'damaged'
      entries.push({ entry, path: entryPath(entry) })
    }
    const contents: MailParts = { files: [], left: [], inline: 0, bodies: 0 }
    const files = entries.filter(({ path }) => !/[/\\]$/.test(path))
    const candidates = files.filter(({ path }) => !isIgnored(path))
    const reason = hasHiddenEnd(archive, entries) ? 'two_ends' : wholeReason(files, candidates, mostBytes)
    if (reason !== undefined) return reason
    for (const { entry, path } of files) {
      const name = baseName(path)
      if (isIgnored(path)) contents.left.push({ name: name ?? null, reason: 'ignored' })
      else addFile(contents, { name, bytes: await inflate(zip, entry) }, isIgnored)
    }
    return contents.files.some((file) => isInvoice(file.bytes)) ? contents : 'no_invoice'
  } catch {
    return 'damaged'
  }
}

/** Decodes a path. Without a flag, or a field of its own in UTF-8, it is in cp437. */
function entryPath({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string {
  const checksum = crc32(fileNameRaw)
  const field = extraFields.find(
    ({ id, data }) =>
      id === UNICODE_PATH && data.length > 5 && data[0] === 1 && data.readUInt32LE(1) === checksum,
  )
  const charset = generalPurposeBitFlag & UTF8_NAMES ? undefined : 'cp437'
  return decodeName(field?.data.subarray(5) ?? fileNameRaw, charset).replaceAll('\\', '/')
}

/** Returns true for an invoice that cannot be read, too. */
export function isInvoice(bytes: Uint8Array): boolean {
  const reader = createInvoiceReader()
  reader.push(bytes)
  return reader.end() !== undefined
}

/** Cuts an archive out of up to 4 KiB before and after it. Its end record has its size. */
function cutArchive(bytes: Uint8Array): Buffer | 'damaged' | 'two_ends' {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const last = whole.lastIndexOf(END_RECORD)
  if (last === -1 || last + END_SIZE > whole.length) return 'damaged'
  const end = last + END_SIZE + whole.readUInt16LE(last + 20)
  const locator = whole.subarray(Math.max(0, last - LOCATOR_64_SIZE), last)
  const start =
    locator.indexOf(LOCATOR_64) === 0
      ? 0
      : last - whole.readUInt32LE(last + 12) - whole.readUInt32LE(last + 16)
  if (start === 0 && end === whole.length) return whole
  if (whole.indexOf(END_RECORD) !== last) return 'two_ends'
  const isCut = start >= 0 && start <= MOST_JUNK && end <= whole.length && whole.length - end <= MOST_JUNK
  return isCut ? whole.subarray(start, end) : 'damaged'
}

/** Returns whether another archive ends outside of the entries. */
function hasHiddenEnd(archive: Buffer, entries: readonly ZippedFile[]): boolean {
  const last = archive.lastIndexOf(END_RECORD)
  const spans = entries.map(({ entry }) => {
    const start = entry.relativeOffsetOfLocalHeader
    const size = LOCAL_HEADER_SIZE + entry.fileNameLength + entry.extraFieldLength + entry.compressedSize
    return { start, end: Math.min(start + size, last) }
  })
  for (let at = archive.indexOf(END_RECORD); at < last; ) {
    const around = spans.find(({ start, end }) => at > start && at < end)
    if (!around) return true
    at = archive.indexOf(END_RECORD, around.end)
  }
  return false
}

/** Checks only what the archive declares; `inflate` stops at the declared size. */
function wholeReason(
  files: readonly ZippedFile[],
  candidates: readonly ZippedFile[],
  mostBytes: number,
): WholeReason | undefined {
  const isProgram = ({ path }: ZippedFile, at: number) =>
    path === '[Content_Types].xml' || path.startsWith('META-INF/') || (at === 0 && path === 'mimetype')
  if (files.some(isProgram)) return 'workbook_or_program'
  if (files.some(({ entry }) => entry.isEncrypted())) return 'encrypted'
  if (candidates.length > MOST_FILES) return 'too_many_files'
  if (candidates.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0) > mostBytes) return 'too_large'
  const isBomb = ({ entry }: ZippedFile) => entry.uncompressedSize > entry.compressedSize * LARGEST_RATIO
  return candidates.some(isBomb) ? 'too_compressed' : undefined
}

async function inflate(zip: ZipFile, entry: Entry): Promise<Uint8Array<ArrayBuffer>> {
  const content = new Uint8Array(entry.uncompressedSize) // its own memory, to be transferred
  let at = 0
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    content.set(chunk, at)
    at += chunk.length
  }
  if (crc32(content) !== entry.crc32) throw new Error('damaged')
  return content
}
