// Renames files to their final names in a folder of blobs, <dir>/ab/cd/<sha256>, and flushes the names. The folders of
// many files are flushed once, after all renames. A folder's own entry is flushed until one flush of it has returned.

import type * as nodeFs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { flush } from '../../runtime/file-hash.ts'
import { inParallel } from './parallel.ts'

export type CommitFs = Pick<typeof nodeFs, 'open' | 'mkdir' | 'rename'>

/** Number of parallel calls: the file system can join their flushes in one commit of its journal. */
export const CALLS_AT_ONCE = 8
const FILES_A_TURN = 1000 // a millisecond or two

const SHA256 = /^[0-9a-f]{64}$/

/** Returns the path of a blob in a folder of blobs. */
export function blobPath(dir: string, sha256: string): string {
  assertSha256(sha256)
  return join(dir, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
}

export function assertSha256(sha256: string): void {
  if (!SHA256.test(sha256)) throw new TypeError('not a SHA-256 in lower case hexadecimal')
}

/**
 * Moves files, whose bytes are flushed, to their final names, and flushes the names too. `durable`: folders `ab` and
 * `ab/cd` with entries on disk, at most 65,792. A failed flush empties it.
 */
export async function renameBlobs(
  fs: CommitFs,
  dir: string,
  files: Iterable<{ path: string; sha256: string }>,
  durable: Set<string>,
): Promise<void> {
  const folders = await listFolders(files)
  await inParallel(folders, CALLS_AT_ONCE, async (folder) => {
    const firstFolder = await fs.mkdir(join(dir, folder), { recursive: true, mode: 0o700 })
    if (firstFolder !== undefined) for (const entry of [folder, dirname(folder)]) durable.delete(entry)
  })
  // Replaces an equal blob too: the stored one may be damaged, or not yet flushed.
  await inParallel(files, CALLS_AT_ONCE, ({ path, sha256 }) => fs.rename(path, blobPath(dir, sha256)))
  // Existing parents too: another upload may have made an entry, and its flush has not returned yet.
  const entries = [...folders]
    .flatMap((folder) => [folder, dirname(folder)])
    .filter((one) => !durable.has(one))
  for (const entry of entries) folders.add(dirname(entry))
  try {
    await inParallel(folders, CALLS_AT_ONCE, (folder) => flush(join(dir, folder), fs))
  } catch (error) {
    durable.clear()
    throw error
  }
  for (const entry of entries) durable.add(entry)
}

/** Lists the folders `ab/cd` of the files. */
async function listFolders(files: Iterable<{ sha256: string }>): Promise<Set<string>> {
  const folders = new Set<string>()
  let count = 0
  for (const { sha256 } of files) {
    folders.add(dirname(blobPath('', sha256)))
    if (++count % FILES_A_TURN === 0) await setImmediate() // yields to other requests
  }
  return folders
}
