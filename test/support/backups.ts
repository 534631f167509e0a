// A data directory with documents, and backups of it.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type BackupEnd, createBackup } from '../../src/domain/backup/backup.ts'
import { type Checked, type Checking, verifyBackup } from '../../src/domain/backup/check.ts'
import { type BackupSet, openBackupSet } from '../../src/store/backup/set.ts'
import type { BlobFolder } from '../../src/store/blobs/folder.ts'
import { blobPath } from '../../src/store/blobs/place.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import type { Db } from '../../src/store/tables.ts'
import { keepTexts, makeDirectory, openTestBlobs } from './company.ts'
import { temporaryDirectory } from './temporary.ts'

export const NOW = new Date('2026-03-24T09:30:00.000Z')

export type Vault = {
  home: string
  dataDir: string
  setDir: string
  db: Db
  blobs: BlobFolder
  /** Keeps documents as an upload does, and returns their ids. */
  keep(...texts: string[]): Promise<number[]>
  /** Makes a backup in the set. */
  backUp(now?: Date, change?: (set: BackupSet) => BackupSet): Promise<BackupEnd>
  /** The place of a content in the data directory, or in a set. */
  place(sha256: string, set?: string): string
}

/** A data directory with documents of these texts, open, and an empty place for a backup set. */
export async function openVault(t: TestContext, ...texts: string[]): Promise<Vault> {
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  const setDir = join(home, 'set')
  await makeDirectory(dataDir)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  const blobs = await openTestBlobs(dataDir)
  const vault: Vault = {
    home,
    dataDir,
    setDir,
    db,
    blobs,
    keep: (...more) => keepTexts(db, blobs, more),
    async backUp(now = NOW, change = (set) => set) {
      const set = await openBackupSet(setDir, dataDir)
      try {
        return await createBackup(change(set), { dataDir, now })
      } finally {
        set.close()
      }
    },
    place: (sha256, set = dataDir) => blobPath(join(set, 'blobs'), sha256),
  }
  if (texts.length > 0) await vault.keep(...texts)
  return vault
}

/** What a check of a backup finds. */
export async function faultsIn(
  path: string,
  more: Partial<Checking> = {},
): Promise<Checked & { lines: string[] }> {
  const lines: string[] = []
  const fault = (line: string) => lines.push(line)
  return { ...(await verifyBackup(path, { fault, inPieces: false, ...more })), lines }
}

/** Everything below a directory with its mode, such as `700 blobs/ab`. */
export function modesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => `${(statSync(join(dir, name)).mode & 0o777).toString(8)} ${name}`)
    .sort()
}
