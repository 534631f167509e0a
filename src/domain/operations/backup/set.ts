// A backup set: a directory of backups that share their contents.
//
//   DIR/backup.lock              marks the set, and is held by the process that writes to it
//   DIR/README.txt               what to do with all this, also without the program
//   DIR/restored.json            how far the ids of restores went (restore-note.ts)
//   DIR/verified.json            which backup was read back whole last (verified-note.ts)
//   DIR/blobs/ab/cd/<sha256>     contents, each once for all backups that name it
//   DIR/2026-11-21T05-00-00Z/    a backup: cambista.db, blobs.sha256 (for `sha256sum -c`), manifest.json
//   DIR/.unfinished-…/           being written or removed; never read, and removed by the next backup
//
// A backup gets its name by one rename after all of it, and all that it names, is on the disk.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError, codeOf, reasonOf } from '../../errors.ts'
import { flush } from '../../file-hash.ts'
import { type BlobFolder, openBlobFolder } from '../blobs/folder.ts'
import { takeFileLock } from '../sqlite/lock.ts'

export const MANIFEST_FILE = 'manifest.json'
export const LIST_FILE = 'blobs.sha256'

const LOCK = 'backup.lock'
const NAME = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/
const UNFINISHED = '.unfinished-'
const NOT_OURS = new Set(['lost+found']) // of an otherwise empty disk

const README = `This is a backup set of cambista. Each dated directory is one backup; blobs/ holds the documents of all of them.

  cambista backup verify DIR                   checks the newest one (or the one given: DIR/2026-11-21T05-00-00Z)
  cambista backup restore DIR --data-dir NEW   makes a data directory of it (--help says more)

restored.json, once it is there, keeps a second restore from giving ids again that the first one gave. verified.json
names the backup that the server read back whole last.

Without cambista: cambista.db is an SQLite database, blobs/ab/cd/abcd... the content whose SHA-256 that is, and
"cd 2026-11-21T05-00-00Z && sha256sum -c blobs.sha256" checks the contents of a backup. A data directory is a copy of
cambista.db and, beside it, of blobs/.
`

export type Draft = { name: string; dir: string }

export type BackupSet = {
  dir: string
  blobs: BlobFolder
  blobsDir: string
  /** The finished backups, oldest first. */
  names(): string[]
  /** A place for a new backup. */
  begin(now: Date): Draft
  /** Flushes what was written in it and gives it its name. */
  finish(draft: Draft): Promise<void>
  remove(name: string): Promise<void>
  /** Removes what interrupted backups left. */
  clean(): void
  close(): void
}

/**
 * Opens the set to write backups of a data directory to it, making it in a directory that is empty or not there.
 * @throws AppError `failed` when it is no set, another process is writing to it, or it cannot be written to
 */
export async function openBackupSet(given: string, dataDir: string): Promise<BackupSet> {
  const dir = resolve(given)
  try {
    checkSetPlace(dir, dataDir)
    if (!existsSync(dir)) mkdirSync(dir, { mode: 0o700 })
    const lock = takeFileLock(dir, LOCK)
    if (!lock) throw new AppError('failed', `another backup is being written to ${dir}`)
    try {
      if (!existsSync(join(dir, 'README.txt'))) {
        const draft = join(dir, `${UNFINISHED}readme`) // else what fits on a full disk would stay for good
        await writeFile(draft, README, { mode: 0o600 })
        renameSync(draft, join(dir, 'README.txt'))
      }
      return openLocked(dir, await openBlobFolder(join(dir, 'blobs')), lock.release)
    } catch (error) {
      lock.release()
      throw error
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('failed', `cannot write to the backup set ${dir}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

/**
 * @throws AppError `failed` when a directory can be no backup set of a data directory. It is one, or empty, or only it
 * is missing: were its parents made too, a disk that is not mounted would be filled in on the one below it.
 */
export function checkSetPlace(given: string, dataDir: string): void {
  const dir = resolve(given)
  if (`${dir}/`.startsWith(`${resolve(dataDir)}/`)) {
    throw new AppError('failed', `${dir} is inside the data directory: choose a place on another disk`)
  }
  if (!existsSync(dir)) {
    if (existsSync(dirname(dir))) return
    throw new AppError('failed', `there is no ${dirname(dir)} to make ${basename(dir)} in: is it mounted?`)
  }
  if (!statSync(dir).isDirectory()) throw new AppError('failed', `${dir} is not a directory`)
  const others = readdirSync(dir).filter((name) => !NOT_OURS.has(name))
  if (others.length > 0 && !others.includes(LOCK)) {
    throw new AppError('failed', `${dir} is not empty and not a backup set: choose another directory`)
  }
}

/** The finished backups in a directory, oldest first. */
export function backupNames(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => NAME.test(name) && existsSync(join(dir, name, MANIFEST_FILE)))
    .sort()
}

/**
 * The backup that a path means: the newest of a set, or the one that it names itself.
 * @throws AppError `failed` when there is none
 */
export function findBackup(given: string): { dir: string; name: string; blobsDir: string } {
  const path = resolve(given)
  let names: string[]
  try {
    if (NAME.test(basename(path)) && existsSync(join(path, MANIFEST_FILE))) {
      return { dir: path, name: basename(path), blobsDir: join(dirname(path), 'blobs') }
    }
    names = backupNames(path)
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test(codeOf(error))) {
      throw new AppError('failed', `there is no backup set at ${path}`)
    }
    throw new AppError('failed', `cannot read ${path}: ${reasonOf(error)}`, { cause: error })
  }
  const name = names.at(-1)
  if (name === undefined) throw new AppError('failed', `there is no finished backup in ${path}`)
  return { dir: join(path, name), name, blobsDir: join(path, 'blobs') }
}

function openLocked(dir: string, blobs: BlobFolder, release: () => void): BackupSet {
  return {
    dir,
    blobs,
    blobsDir: join(dir, 'blobs'),
    names: () => backupNames(dir),
    begin(now) {
      let name = setNameAt(now)
      for (let later = now; existsSync(join(dir, name)); name = setNameAt(later)) {
        later = new Date(later.getTime() + 1000)
      }
      const draft = { name, dir: join(dir, UNFINISHED + name) }
      rmSync(draft.dir, { recursive: true, force: true })
      mkdirSync(draft.dir, { mode: 0o700 })
      return draft
    },
    async finish(draft) {
      for (const name of readdirSync(draft.dir)) await flush(join(draft.dir, name))
      await flush(draft.dir)
      renameSync(draft.dir, join(dir, draft.name))
      await flush(dir)
    },
    async remove(name) {
      const unfinished = join(dir, UNFINISHED + name)
      renameSync(join(dir, name), unfinished)
      await flush(dir)
      rmSync(unfinished, { recursive: true, force: true })
    },
    clean() {
      for (const name of readdirSync(dir)) {
        if (name.startsWith(UNFINISHED)) rmSync(join(dir, name), { recursive: true, force: true })
      }
      for (const name of readdirSync(join(dir, 'blobs/tmp'))) {
        rmSync(join(dir, 'blobs/tmp', name), { force: true })
      }
    },
    close: release,
  }
}

function setNameAt(now: Date): string {
  return now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
}
