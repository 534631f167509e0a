// Files of a ZIP archive in a mail. An archive that is over a limit, or without an invoice, is a document itself.

import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl'
import { createInvoiceReader } from '../invoices/invoice.ts'
import { baseName, sniffType } from './names.ts'

/** `name` is without its folder; undefined: it has none. */
export type ZippedFile = { name: string | undefined; bytes: Uint8Array<ArrayBuffer> }

const MOST_ENTRIES = 100
const LARGEST_RATIO = 100
const LARGEST_EXTRA = 4096 // fields of an entry: an object each
const ZIP_TYPES = new Set(['application/zip', 'application/x-zip-compressed', 'application/x-zip'])

/** Workbooks and other documents are archives too, and stay whole. */
export function isZip(name: string | undefined, type: string, bytes: Uint8Array): boolean {
  if (sniffType(bytes) !== 'application/zip') return false
  return name === undefined || /\.zip$/i.test(name) || ZIP_TYPES.has(type)
}

/**
 * Returns the files of an archive with at least one invoice. Undefined: it is a document itself.
 * @param mostBytes limit of all files, inflated
 */
export async function readZip(bytes: Uint8Array, mostBytes: number): Promise<ZippedFile[] | undefined> {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    // Names are decoded here, since the library would reject those that leave the folder.
    const zip = await fromBufferPromise(buffer, { decodeStrings: false })
    const entries = await listFiles(zip, mostBytes)
    if (!entries) return undefined
    const files: ZippedFile[] = []
    for (const { entry, path } of entries) {
      const content = await inflate(zip, entry)
      const name = baseName(path)
      if (isZip(name, '', content)) return undefined
      if (content.length > 0) files.push({ name, bytes: content })
    }
    return files.some((file) => isInvoice(file.bytes)) ? files : undefined
  } catch {
    return undefined // damaged
  }
}

/** Undefined: a limit is exceeded. Checks only what the archive declares; `inflate` stops at the declared size. */
async function listFiles(
  zip: ZipFile,
  mostBytes: number,
): Promise<{ entry: Entry; path: string }[] | undefined> {
  if (zip.entryCount > MOST_ENTRIES) return undefined
  const files: { entry: Entry; path: string }[] = []
  let total = 0
  for await (const entry of zip.eachEntry()) {
    const path = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
    if (entry.isEncrypted() || entry.extraFieldLength > LARGEST_EXTRA) return undefined
    total += entry.uncompressedSize
    if (total > mostBytes || entry.uncompressedSize > entry.compressedSize * LARGEST_RATIO) return undefined
    // A Mac adds its own attributes of each file.
    if (!/[/\\]$/.test(path) && !path.startsWith('__MACOSX/')) files.push({ entry, path })
  }
  return files
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

/** Returns true for an invoice that cannot be read, too. */
function isInvoice(bytes: Uint8Array): boolean {
  const reader = createInvoiceReader()
  reader.push(bytes)
  return reader.end() !== undefined
}
