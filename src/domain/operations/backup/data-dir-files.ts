// Lists the files of a data directory for the doctor, and changes nothing.

import type { Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../../runtime/file-hash.ts'
import { BALLAST_FILE } from '../../../store/ballast.ts'
import { HOLD_FILE, REMOVED_FOLDER } from '../../../store/blobs/folder.ts'
import { isLocked } from '../../../store/sqlite/lock.ts'
import { UNFINISHED_COPY } from '../../../store/sqlite/migration-copy.ts'

/**
 * `copy`: made before a migration. `temporary`: of an upload, or of a copy that is being made. `removed`: a blob
 * that the garbage collection moved, by `<day>.<sha256>`. `later`: of a database from before a return to an earlier one.
 */
export type FileKind =
  | 'directory'
  | 'database'
  | 'lock'
  | 'key'
  | 'copy'
  | 'later'
  | 'note'
  | 'blob'
  | 'temporary'
  | 'removed'
  | 'ballast'
  | 'unknown'

export type DataDirFile = { path: string; name: string; kind: FileKind; stats: Stats }

const TOP_LEVEL_KINDS: readonly [RegExp, FileKind][] = [
  [/^cambista\.db(-wal|-shm|-journal)?$/, 'database'],
  [/^(serve\.(lock|url)|sync\.lock)$/, 'lock'],
  [/^hook\.key$/, 'key'],
  [/^MOVED$/, 'note'],
  [/^ballast$/, 'ballast'],
  [UNFINISHED_COPY, 'temporary'],
  [/^cambista\.db\.v\d+-.*\.bak$/, 'copy'],
  [/^cambista\.db\.v\d+-.*\.later(-wal|-shm)?$/, 'later'],
]
const FLAT_FOLDERS: ReadonlyMap<string, FileKind> = new Map([
  ['tmp', 'temporary'],
  [REMOVED_FOLDER, 'removed'],
])
const BLOB_FOLDER_FILES: ReadonlyMap<string, FileKind> = new Map([
  [HOLD_FILE, 'later'],
  [BALLAST_FILE, 'ballast'],
])
const TWO_DIGITS = /^[0-9a-f]{2}$/
const SHA256 = /^[0-9a-f]{64}$/

/** Lists the data directory and its files of this program. Skips files that vanish during the listing. */
export async function* listDataDir(dataDir: string): AsyncGenerator<DataDirFile> {
  yield* statEntry(dataDir, '', 'directory')
  for (const name of await readNames(dataDir)) {
    const kind = TOP_LEVEL_KINDS.find(([pattern]) => pattern.test(name))?.[1]
    if (kind) yield* statEntry(dataDir, name, kind)
  }
  const blobs = join(dataDir, 'blobs')
  yield* statEntry(dataDir, 'blobs', 'directory')
  for (const outer of await readNames(blobs)) {
    const kind = FLAT_FOLDERS.get(outer)
    const isFolder = kind !== undefined || TWO_DIGITS.test(outer)
    yield* statEntry(blobs, outer, isFolder ? 'directory' : (BLOB_FOLDER_FILES.get(outer) ?? 'unknown'))
    if (!isFolder) continue
    for (const inner of await readNames(join(blobs, outer))) {
      const isInner = kind === undefined && TWO_DIGITS.test(inner)
      yield* statEntry(join(blobs, outer), inner, kind ?? (isInner ? 'directory' : 'unknown'))
      if (isInner) yield* listBlobs(join(blobs, outer, inner), outer + inner)
    }
  }
}

async function* listBlobs(folder: string, prefix: string): AsyncGenerator<DataDirFile> {
  for (const name of await readNames(folder)) {
    yield* statEntry(folder, name, SHA256.test(name) && name.startsWith(prefix) ? 'blob' : 'unknown')
  }
}

/** Returns true if a server uses the data directory now. Creates no lock file if there is none. */
export function isServed(dataDir: string): boolean {
  return isLocked(dataDir, 'serve.lock')
}

async function* statEntry(folder: string, name: string, kind: FileKind): AsyncGenerator<DataDirFile> {
  const path = join(folder, name)
  const stats = await unlessMissing(lstat(path))
  if (stats) yield { path, name, kind, stats }
}

async function readNames(folder: string): Promise<string[]> {
  return (await unlessMissing(readdir(folder))) ?? []
}
