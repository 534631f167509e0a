// A data directory with documents, and backups of it.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type BackupEnd, createBackup } from '../../src/domain/operations/backup/backup.ts'
import {
  type CheckOptions,
  type VerifyResult,
  verifyBackup,
} from '../../src/domain/operations/backup/check.ts'
import { type BackupSet, openBackupSet } from '../../src/domain/operations/backup/set.ts'
import { blobPath } from '../../src/store/blobs/commit.ts'
import type { BlobFolder } from '../../src/store/blobs/folder.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { makeDirectory, openTestBlobs, storeTexts } from './company.ts'
import { temporaryDirectory } from './temporary.ts'

export const NOW = new Date('2026-03-24T09:30:00.000Z')

export type BackupSource = {
  /** Parent of the data directory and of the backup set. */
  home: string
  dataDir: string
  setDir: string
  db: WriteDb
  blobs: BlobFolder
  /** Stores documents as an upload does, and returns their ids. */
  storeTexts(...texts: string[]): Promise<number[]>
  /** Makes a backup in the set. */
  backUp(now?: Date, change?: (set: BackupSet) => BackupSet): Promise<BackupEnd>
  /** Path of a blob in the data directory, or in a set. */
  blobPath(sha256: string, set?: string): string
}

/** An open data directory with documents of these texts, and the path of an empty backup set. */
export async function openBackupSource(t: TestContext, ...texts: string[]): Promise<BackupSource> {
  const home = temporaryDirectory(t)
  const dataDir = join(home, 'data')
  const setDir = join(home, 'set')
  await makeDirectory(dataDir)
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  const blobs = await openTestBlobs(dataDir)
  const source: BackupSource = {
    home,
    dataDir,
    setDir,
    db,
    blobs,
    storeTexts: (...more) => storeTexts(db, blobs, more),
    async backUp(now = NOW, change = (set) => set) {
      const set = await openBackupSet(setDir, dataDir)
      try {
        return await createBackup(change(set), { dataDir, now })
      } finally {
        set.close()
      }
    },
    blobPath: (sha256, set = dataDir) => blobPath(join(set, 'blobs'), sha256),
  }
  if (texts.length > 0) await source.storeTexts(...texts)
  return source
}

/** Verifies a backup; `lines` are its faults. */
export async function checkBackup(
  path: string,
  more: Partial<CheckOptions> = {},
): Promise<VerifyResult & { lines: string[] }> {
  const lines: string[] = []
  const fault = (line: string) => lines.push(line)
  return { ...(await verifyBackup(path, { fault, inPieces: false, ...more })), lines }
}

/** Everything below a directory with its mode, such as `700 blobs/ab`. */
export function fileModes(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => `${(statSync(join(dir, name)).mode & 0o777).toString(8)} ${name}`)
    .sort()
}
