// A backup set: a directory of backups that share their blobs.
//
//   DIR/backup.lock              marks the set, and is locked by the process that writes to it
//   DIR/README.txt               instructions, also for use without the program
//   DIR/restored.json            first ids after restores (restore-note.ts)
//   DIR/verified.json            last verified backup (verified-note.ts)
//   DIR/blobs/ab/cd/<sha256>     blobs, each stored once for all backups
//   DIR/2026-11-21T05-00-00Z/    a backup: cambista.db, blobs.sha256 (for `sha256sum -c`), manifest.json; `unverified`
//                                while a nightly one is not verified or has faults
//   DIR/.unfinished-…/           unfinished or being removed; never read, and deleted by the next backup
//
// A backup is renamed to its final name after its files and their blobs are flushed to the disk.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError, errorCode, errorReason } from '../../../runtime/errors.ts'
import { flush } from '../../../runtime/file-hash.ts'
import { type BlobFolder, openBlobFolder } from '../../../store/blobs/folder.ts'
import { takeFileLock } from '../../../store/sqlite/lock.ts'

export const MANIFEST_FILE = 'manifest.json'
export const LIST_FILE = 'blobs.sha256'
export const UNVERIFIED_FILE = 'unverified'

const LOCK = 'backup.lock'
const NAME = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/
const UNFINISHED = '.unfinished-'
const NOT_OURS = new Set(['lost+found']) // present on an empty disk

const README = `This is a backup set of cambista. Each dated directory is one backup; blobs/ holds the documents of all of them.

  cambista backup verify DIR                   checks the newest one (or the one given: DIR/2026-11-21T05-00-00Z)
  cambista backup restore DIR --data-dir NEW   makes a data directory of it (--help says more)

restored.json, once it is there, keeps a second restore from giving ids again that the first one gave. verified.json
names the backup that the server read back whole last.

Without cambista: cambista.db is an SQLite database, blobs/ab/cd/abcd... the content whose SHA-256 that is, and
"cd 2026-11-21T05-00-00Z && sha256sum -c blobs.sha256" checks the contents of a backup. A data directory is a copy of
cambista.db and, beside it, of blobs/.
`

export type BackupDraft = { name: string; dir: string }

export type BackupSet = {
  dir: string
  blobs: BlobFolder
  blobsDir: string
  /** The finished backups, oldest first. */
  names(): string[]
  /** A place for a new backup. Its name is later than all others, also after one of a clock that was ahead. */
  begin(now: Date): BackupDraft
  /** Flushes what was written in it and gives it its name. */
  finish(draft: BackupDraft): Promise<void>
  remove(name: string): Promise<void>
  /** Removes what interrupted backups left. */
  clean(): void
  close(): void
}

/**
 * Opens a set to write backups of a data directory. Creates it in an empty or missing directory.
 * @throws AppError `failed` if it is not a set, another process writes to it, or it is not writable
 */
export async function openBackupSet(given: string, dataDir: string): Promise<BackupSet> {
  const dir = resolve(given)
  try {
    validateSetPath(dir, dataDir)
    if (!existsSync(dir)) mkdirSync(dir, { mode: 0o700 })
    const lock = takeFileLock(dir, LOCK)
    if (!lock) throw new AppError('failed', `another backup is being written to ${dir}`)
    try {
      if (!existsSync(join(dir, 'README.txt'))) {
        const draft = join(dir, `${UNFINISHED}readme`) // a full disk would truncate the final file
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
    throw new AppError('failed', `cannot write to the backup set ${dir}: ${errorReason(error)}`, {
      cause: error,
    })
  }
}

/**
 * Accepts a set, an empty directory, or a missing one whose parent exists. Missing parents are not created, since an
 * unmounted disk would then be written to the disk below it.
 * @throws AppError `failed` for a path that cannot be a backup set of the data directory
 */
export function validateSetPath(given: string, dataDir: string): void {
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

/** Returns true if a set is on the disk of the data directory. Perhaps a disk is not mounted. */
export function isOnSameDisk(setDir: string, dataDir: string): boolean {
  return statSync(setDir).dev === statSync(dataDir).dev
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
    if (/^(ENOENT|ENOTDIR)$/.test(errorCode(error))) {
      throw new AppError('failed', `there is no backup set at ${path}`)
    }
    throw new AppError('failed', `cannot read ${path}: ${errorReason(error)}`, { cause: error })
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
      const newest = readdirSync(dir)
        .filter((one) => NAME.test(one))
        .sort()
        .at(-1)
      const later = newest === undefined ? now.getTime() : parseSetName(newest) + 1000
      const name = formatSetName(new Date(Math.max(now.getTime(), later)))
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

function formatSetName(now: Date): string {
  return now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
}

function parseSetName(name: string): number {
  return Date.parse(name.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'))
}
