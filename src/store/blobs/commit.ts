// Giving files their final names in a folder of blobs, <dir>/ab/cd/<sha256>, so that a power cut cannot take the names
// back. The folders of many files are flushed once, after all of them are there.

import type * as nodeFs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { inParallel } from './parallel.ts'

export type PlacingFs = Pick<typeof nodeFs, 'open' | 'mkdir' | 'rename'>

/** Calls that run together, so that the file system may join flushes in one commit of its journal. */
export const CALLS_AT_ONCE = 8
const LOOKED_AT_AT_ONCE = 1000 // a millisecond or two

const SHA256 = /^[0-9a-f]{64}$/

/** Where the blob is in a folder of blobs. */
export function blobPath(dir: string, sha256: string): string {
  assertSha256(sha256)
  return join(dir, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
}

export function assertSha256(sha256: string): void {
  if (!SHA256.test(sha256)) throw new TypeError('not a SHA-256 in lower case hexadecimal')
}

/** Moves files, whose bytes are on the disk, to where blobs are. When it returns their names are on the disk too. */
export async function placeBlobs(
  fs: PlacingFs,
  dir: string,
  files: Iterable<{ path: string; sha256: string }>,
): Promise<void> {
  const folders = await foldersOf(files)
  await inParallel(folders, CALLS_AT_ONCE, async (folder) => {
    await fs.mkdir(join(dir, folder), { recursive: true, mode: 0o700 })
  })
  // Over a blob of the same content too: the stored one may be damaged, or not yet on the disk.
  await inParallel(files, CALLS_AT_ONCE, ({ path, sha256 }) => fs.rename(path, blobPath(dir, sha256)))
  // The parents too, even if they were there: another upload may have made them and not flushed them yet.
  for (const folder of [...folders]) folders.add(dirname(folder)).add('.')
  await inParallel(folders, CALLS_AT_ONCE, (folder) => syncFolder(fs, join(dir, folder)))
}

export async function syncFolder(fs: Pick<PlacingFs, 'open'>, path: string): Promise<void> {
  const folder = await fs.open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The folders `ab/cd` that the files belong into. */
async function foldersOf(files: Iterable<{ sha256: string }>): Promise<Set<string>> {
  const folders = new Set<string>()
  let seen = 0
  for (const { sha256 } of files) {
    folders.add(dirname(blobPath('', sha256)))
    if (++seen % LOOKED_AT_AT_ONCE === 0) await setImmediate() // others have their turn
  }
  return folders
}
