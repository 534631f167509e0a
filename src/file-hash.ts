// Reading and flushing single files.

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { codeOf } from './errors.ts'

const READ_BYTES = 256 * 1024

export type FileHash = { sha256: string; size: number }

/** The SHA-256 and size of a file, read a piece at a time; undefined when it is not there. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<FileHash | undefined> {
  const file = await unlessMissing(open(path, 'r'))
  if (!file) return undefined
  try {
    const hash = createHash('sha256')
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    let size = 0
    while (true) {
      signal?.throwIfAborted()
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES)
      if (bytesRead === 0) return { sha256: hash.digest('hex'), size }
      hash.update(buffer.subarray(0, bytesRead))
      size += bytesRead
    }
  } finally {
    await file.close()
  }
}

/** Flushes a file, or the names in a folder, to the disk. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** What is promised, or undefined where the file is not there. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
