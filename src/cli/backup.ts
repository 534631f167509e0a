import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { createBackup } from '../domain/backup.ts'
import { type Checking, verifyBackup } from '../domain/backup-check.ts'
import { restoreBackup } from '../domain/restore.ts'
import { AppError } from '../errors.ts'
import { checkSetPlace, findBackup, openBackupSet } from '../store/backup-set.ts'
import type { Owner } from '../store/new-data-dir.ts'
import { type Command, printResult, type Terminal } from './command.ts'
import { becomeOwner } from './data-dir.ts'
import { progressOf } from './progress.ts'

const SET = `DIR is a backup set: each backup in it is a dated directory (DIR/2026-11-21T05-00-00Z) with the database and a
manifest; the contents of documents are in DIR/blobs, each once for all backups. A backup that was interrupted has no
dated directory, and the next one removes what is left of it.`

export const backupCreate: Command = {
  name: 'backup create',
  takes: ['DIR'],
  summary: 'back up database and documents into a backup set, whether the server runs or not',
  about: `${SET}
DIR is made if only it is missing. On the file system of the data directory contents become hard links, which cost no
space and are lost with the disk; elsewhere they are copied. Put DIR on another disk.`,
  options: ['data-dir', 'json'],
  example: 'cambista backup create /mnt/backup/cambista',
  async run({ values, words: [dir = ''], terminal }) {
    const dataDir = values.text('data-dir')
    becomeWriter(dir, dataDir)
    const set = await openBackupSet(dir, dataDir)
    try {
      const line = progressOf(terminal)
      const end = await createBackup(set, {
        dataDir,
        now: new Date(),
        signal: terminal.stop,
        progress: (done) => line.show(`${done} contents`),
      }).finally(line.clear)
      const { blobs, database, lost } = end.manifest
      const documents = `${count(blobs.count, 'content')} of ${blobs.bytes} bytes (${end.added.blobs} of them new in the set)`
      printResult(terminal, values, end, [
        `backup ${end.path}: database of ${database.bytes} bytes, ${documents}`,
      ])
      for (const { sha256, words } of lost) terminal.err(`content ${sha256} ${words} in the data directory\n`)
      if (lost.length === 0) return 0
      const told = `${count(lost.length, 'content')} could not be backed up, all else was`
      throw new AppError('failed', `${told}: cambista doctor says which documents that is`)
    } finally {
      set.close()
    }
  },
}

export const backupVerify: Command = {
  name: 'backup verify',
  takes: ['DIR'],
  summary:
    'check the newest backup of a set, or the one that DIR names: database, and every byte of the documents',
  about: `${SET}
It only reads. A line for each fault, and exit code 1.`,
  options: ['json'],
  example: 'cambista backup verify /mnt/backup/cambista',
  async run({ values, words: [dir = ''], terminal }) {
    const checking = openChecking(terminal)
    const { name, manifest } = await verifyBackup(dir, checking).finally(checking.clear)
    const { faults } = checking
    const document = { name, ok: faults.length === 0, faults, manifest }
    const good = `backup ${name} is good: ${whatIsIn(manifest)}`
    printResult(terminal, values, document, faults.length === 0 ? [good] : faults)
    if (faults.length === 0) return 0
    throw new AppError('failed', `backup ${name} has ${count(faults.length, 'fault')}`)
  },
}

export const backupRestore: Command = {
  name: 'backup restore',
  takes: ['DIR'],
  summary: 'make a new data directory of the newest backup of a set, or of the one that DIR names',
  about: `${SET}
The backup is checked on the way, and --data-dir is made whole or not at all. It must be empty or not be there: stop the
server and move the old one away first. Root gives the files to the owner of --data-dir, or if it is not there to the
owner of the backup.`,
  options: ['data-dir', 'json'],
  example: 'cambista backup restore /mnt/backup/cambista --data-dir /var/lib/cambista',
  async run({ values, words: [dir = ''], terminal }) {
    const dataDir = resolve(values.text('data-dir'))
    const checking = openChecking(terminal)
    const to = { dataDir, owner: ownerFor(dataDir, dir) }
    const { name, manifest } = await restoreBackup(dir, to, checking).finally(checking.clear)
    const { faults } = checking
    for (const line of faults) terminal.err(`${line}\n`)
    if (faults.length > 0) {
      const told = `backup ${name} has ${count(faults.length, 'fault')}, nothing was restored`
      throw new AppError('failed', `${told}: try another one, such as ${dir}/<date>`)
    }
    for (const { sha256, words } of manifest.lost) {
      terminal.err(`content ${sha256} ${words}: it was lost already when the backup was made\n`)
    }
    const { uid } = statSync(dataDir)
    printResult(terminal, values, { name, data_dir: dataDir, uid, manifest }, [
      `backup ${name} is restored to ${dataDir}: ${whatIsIn(manifest)}`,
    ])
    if (uid === 0) {
      terminal.err(`It belongs to root. If the server runs as another user: chown -R USER: ${dataDir}\n`)
    }
    return 0
  },
}

type Collecting = Checking & { faults: string[]; clear(): void }

function openChecking(terminal: Terminal): Collecting {
  const line = progressOf(terminal)
  const faults: string[] = []
  return {
    faults,
    fault: (text) => faults.push(text),
    signal: terminal.stop,
    progress: (done, of) => line.show(`${done} of ${of} contents`),
    clear: line.clear,
    inPieces: false,
  }
}

/**
 * Root that backs up the data directory of another user becomes that user where it owns the set, or where the set is
 * made now: the server itself may write to it some day. Into a directory of root's own it writes as root.
 */
function becomeWriter(dir: string, dataDir: string): void {
  if (process.getuid?.() !== 0 || !existsSync(dataDir)) return
  const { uid, gid } = statSync(dataDir)
  checkSetPlace(dir, dataDir)
  if (!existsSync(dir)) {
    mkdirSync(dir, { mode: 0o700 })
    chownSync(dir, uid, gid)
  }
  if (statSync(dir).uid === uid) becomeOwner(dataDir)
}

/** Whose a restored data directory shall be. Only root can give it away. */
function ownerFor(dataDir: string, backup: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = statSync(existsSync(dataDir) ? dataDir : findBackup(backup).dir)
  return { uid, gid }
}

function whatIsIn({
  created_at,
  blobs,
  data_revision,
}: {
  created_at: string
  blobs: { count: number; bytes: number }
  data_revision: number
}): string {
  return `made ${created_at}, data revision ${data_revision}, ${count(blobs.count, 'content')} of ${blobs.bytes} bytes`
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
