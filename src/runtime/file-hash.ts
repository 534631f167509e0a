// Hashing and flushing of single files.

import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync } from 'node:fs'
import * as nodeFs from 'node:fs/promises'
import { errorCode } from './errors.ts'

const READ_BYTES = 256 * 1024

export type FileHash = { sha256: string; size: number }

/** Returns the SHA-256 and size of a file, read in pieces; undefined: no such file. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<FileHash | undefined> {
  await using file = await unlessMissing(nodeFs.open(path, 'r'))
  if (!file) return undefined
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
}

/** Flushes a file, or the entries of a folder, to the disk. */
export async function flush(path: string, fs: Pick<typeof nodeFs, 'open'> = nodeFs): Promise<void> {
  const file = await fs.open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The same without a promise, for work that must not be interleaved. */
export function flushNow(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Returns the result, or undefined for ENOENT. */
export async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
