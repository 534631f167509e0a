// Reads the parts of a ZIP archive as text, for a workbook. The number and size of the parts are limited, and each part
// must match its declared size and checksum.

import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { AppError, errorReason } from '../../runtime/errors.ts'

/** `read` returns the text of a part; undefined: no part has this name. */
export type Archive = { read(name: string): Promise<string | undefined> }

const MOST_PARTS = 2000
const LARGEST_PART = 64 * 1024 * 1024 // forty years of one indicator are 3 MiB
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** @throws AppError `failed` for an invalid archive or one over the limits; `read` throws it, too */
export async function openArchive(bytes: Buffer): Promise<Archive> {
  const zip = await fromBufferPromise(bytes).catch(rejectWorkbook)
  const parts = new Map<string, Entry>()
  try {
    if (zip.entryCount > MOST_PARTS) throw new Error(`it has more than ${MOST_PARTS} parts`)
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName.toLowerCase() // names ignore case
      if (parts.has(name)) throw new Error(`it has ${name} twice`)
      parts.set(name, entry)
    }
  } catch (error) {
    return rejectWorkbook(error)
  }
  return {
    async read(name) {
      const entry = parts.get(name.toLowerCase())
      return entry && readPart(zip, entry).catch(rejectWorkbook)
    },
  }
}

async function readPart(zip: ZipFile, entry: Entry): Promise<string> {
  const { fileName, uncompressedSize } = entry
  if (entry.isEncrypted()) throw new Error('it has a password')
  if (uncompressedSize > LARGEST_PART) throw new Error(`${fileName} is larger than 64 MiB`)
  const chunks: Buffer[] = []
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk) // ends at the declared size
  const bytes = Buffer.concat(chunks)
  if (crc32(bytes) !== entry.crc32) throw new Error(`${fileName} is damaged`)
  return UTF8.decode(bytes)
}

function rejectWorkbook(error: unknown): never {
  throw new AppError('failed', `the workbook cannot be read: ${errorReason(error)}`, { cause: error })
}
