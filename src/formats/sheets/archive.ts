// The parts of a ZIP archive as text, for a workbook. What an archive says of itself is bounded before it is believed: how
// many parts it has, how large they become, and each must have the size and the sum that it says.

import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { AppError, reasonOf } from '../errors.ts'

/** The text of a part by its name; undefined: there is none. */
export type Archive = { read(name: string): Promise<string | undefined> }

const MOST_PARTS = 2000
const LARGEST_PART = 64 * 1024 * 1024 // forty years of one indicator are 3 MiB
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** @throws AppError `failed` for what is no archive, or too large; reading a part throws it, too */
export async function openArchive(bytes: Buffer): Promise<Archive> {
  const zip = await fromBufferPromise(bytes).catch(refuse)
  const parts = new Map<string, Entry>()
  try {
    if (zip.entryCount > MOST_PARTS) throw new Error(`it has more than ${MOST_PARTS} parts`)
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName.toLowerCase() // names of parts are the same in either case
      if (parts.has(name)) throw new Error(`it has ${name} twice`)
      parts.set(name, entry)
    }
  } catch (error) {
    return refuse(error)
  }
  return {
    async read(name) {
      const entry = parts.get(name.toLowerCase())
      return entry && textOf(zip, entry).catch(refuse)
    },
  }
}

async function textOf(zip: ZipFile, entry: Entry): Promise<string> {
  const { fileName, uncompressedSize } = entry
  if (entry.isEncrypted()) throw new Error('it has a password')
  if (uncompressedSize > LARGEST_PART) throw new Error(`${fileName} is larger than 64 MiB`)
  const chunks: Buffer[] = []
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk) // ends at the size that it says
  const bytes = Buffer.concat(chunks)
  if (crc32(bytes) !== entry.crc32) throw new Error(`${fileName} is damaged`)
  return UTF8.decode(bytes)
}

function refuse(error: unknown): never {
  throw new AppError('failed', `the workbook cannot be read: ${reasonOf(error)}`, { cause: error })
}
