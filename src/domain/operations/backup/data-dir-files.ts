// What lies in a data directory, without making or changing anything: for the doctor.

import { existsSync, type Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../file-hash.ts'
import { takeFileLock } from '../sqlite/lock.ts'
import { UNFINISHED_COPY } from '../sqlite/migration-copy.ts'

/** `copy`: made before a migration. `temporary`: of an upload, or of a copy that is being made. */
export type Kind =
  | 'directory'
  | 'database'
  | 'lock'
  | 'key'
  | 'copy'
  | 'note'
  | 'blob'
  | 'temporary'
  | 'unknown'

export type Entry = { path: string; name: string; kind: Kind; stats: Stats }

const TOP: readonly [RegExp, Kind][] = [
  [/^cambista\.db(-wal|-shm|-journal)?$/, 'database'],
  [/^(serve\.(lock|url)|sync\.lock)$/, 'lock'],
  [/^hook\.key$/, 'key'],
  [/^MOVED$/, 'note'],
  [UNFINISHED_COPY, 'temporary'],
  [/^cambista\.db\.v\d+-.*\.bak$/, 'copy'],
]
const TWO_DIGITS = /^[0-9a-f]{2}$/
const SHA256 = /^[0-9a-f]{64}$/

/** The data directory itself and everything in it that is ours. Files that vanish meanwhile are left out. */
export async function* listDataDir(dataDir: string): AsyncGenerator<Entry> {
  yield* entryOf(dataDir, '', 'directory')
  for (const name of await namesIn(dataDir)) {
    const kind = TOP.find(([pattern]) => pattern.test(name))?.[1]
    if (kind) yield* entryOf(dataDir, name, kind)
  }
  const blobs = join(dataDir, 'blobs')
  yield* entryOf(dataDir, 'blobs', 'directory')
  for (const outer of await namesIn(blobs)) {
    const isFolder = TWO_DIGITS.test(outer) || outer === 'tmp'
    yield* entryOf(blobs, outer, isFolder ? 'directory' : 'unknown')
    if (!isFolder) continue
    for (const inner of await namesIn(join(blobs, outer))) {
      const isInner = outer !== 'tmp' && TWO_DIGITS.test(inner)
      yield* entryOf(
        join(blobs, outer),
        inner,
        outer === 'tmp' ? 'temporary' : isInner ? 'directory' : 'unknown',
      )
      if (isInner) yield* listBlobs(join(blobs, outer, inner), outer + inner)
    }
  }
}

async function* listBlobs(folder: string, prefix: string): AsyncGenerator<Entry> {
  for (const name of await namesIn(folder)) {
    yield* entryOf(folder, name, SHA256.test(name) && name.startsWith(prefix) ? 'blob' : 'unknown')
  }
}

/** Whether a server has the data directory. Looks for a moment only, and makes no lock where there was none. */
export function isServed(dataDir: string): boolean {
  if (!existsSync(join(dataDir, 'serve.lock'))) return false
  const lock = takeFileLock(dataDir, 'serve.lock')
  lock?.release()
  return lock === undefined
}

async function* entryOf(folder: string, name: string, kind: Kind): AsyncGenerator<Entry> {
  const path = join(folder, name)
  const stats = await unlessMissing(lstat(path))
  if (stats) yield { path, name, kind, stats }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await unlessMissing(readdir(folder))) ?? []
}
