// Room on the disk of a data directory. Without it a server starts and only reads.

import { randomBytes, randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDiskFull } from '../runtime/storage-error.ts'
import { freeBytes } from './blobs/folder.ts'

// SQLite needs 32 KiB for the index of its log, and some pages for each transaction.
const ROOM_BYTES = 1024 ** 2

/** Returns whether a start has room to write, by the figures of the file system. */
export async function hasFreeSpace(dir: string): Promise<boolean> {
  return (await freeBytes(dir)) >= ROOM_BYTES
}

/** Returns whether ROOM_BYTES can be written. The figures of a file system omit the quota of a user. */
export async function canWriteRoom(dir: string): Promise<boolean> {
  if (!(await hasFreeSpace(dir))) return false
  const probe = join(dir, `.cambista-${randomUUID()}`)
  try {
    writeFileSync(probe, randomBytes(ROOM_BYTES), { flag: 'wx', mode: 0o600, flush: true })
    return true
  } catch (error) {
    if (isDiskFull(error)) return false
    throw error
  } finally {
    rmSync(probe, { force: true })
  }
}
