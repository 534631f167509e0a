import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { createBackup } from '../../domain/backup/backup.ts'
import { type Checking, verifyBackup } from '../../domain/backup/check.ts'
import { AppError } from '../../errors.ts'
import { checkSetPlace, openBackupSet } from '../../store/backup/set.ts'
import { command, printResult, type Terminal } from '../command.ts'
import { becomeOwner } from '../data-dir.ts'
import { PLACE } from '../place/options.ts'
import { refuseBackups } from '../place/place.ts'
import { progressOf } from '../progress.ts'

export const SET = `DIR is a backup set: each backup in it is a dated directory (DIR/2026-11-21T05-00-00Z) with the database and a
manifest; the contents of documents are in DIR/blobs, each once for all backups. A backup that was interrupted has no
dated directory, and the next one removes what is left of it.`

export const backupCreate = command({
  name: 'backup create',
  positionals: ['DIR'],
  summary: 'back up database and documents into a backup set, whether the server runs or not',
  about: `${SET}
DIR is made if only it is missing. On the file system of the data directory contents become hard links, which cost no
space and are lost with the disk; elsewhere they are copied. Put DIR on another disk.`,
  options: [...PLACE, 'json'],
  changesData: false,
  example: 'cambista backup create /mnt/backup/cambista',
  async run({ options, positionals: [dir = ''], terminal, place }) {
    refuseBackups(place(), 'cambista backup')
    const dataDir = options['data-dir']
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
      printResult(terminal, options, end, [
        `backup ${end.path}: database of ${database.bytes} bytes, ${documents}`,
      ])
      const unknown = lost.filter(({ since }) => since === undefined)
      for (const { sha256, words } of unknown) {
        terminal.err(`content ${sha256} ${words} in the data directory\n`)
      }
      if (unknown.length < lost.length) {
        const known = count(lost.length - unknown.length, 'content')
        terminal.err(`${known} less: known to be lost (cambista doctor says since when)\n`)
      }
      if (unknown.length === 0) return 0
      const told = `${count(unknown.length, 'content')} could not be backed up, all else was`
      throw new AppError('failed', `${told}: cambista doctor says which documents that is`)
    } finally {
      set.close()
    }
  },
})

export const backupVerify = command({
  name: 'backup verify',
  positionals: ['DIR'],
  summary:
    'check the newest backup of a set, or the one that DIR names: database, and every byte of the documents',
  about: `${SET}
It only reads. A line for each fault, and exit code 1.`,
  options: ['json'],
  changesData: false,
  example: 'cambista backup verify /mnt/backup/cambista',
  async run({ options, positionals: [dir = ''], terminal }) {
    const checking = openChecking(terminal)
    const { name, manifest } = await verifyBackup(dir, checking).finally(checking.clear)
    const { faults } = checking
    const document = { name, ok: faults.length === 0, faults, manifest }
    const lost = manifest.lost.length === 0 ? '' : `, without ${count(manifest.lost.length, 'lost content')}`
    const good = `backup ${name} is good: ${whatIsIn(manifest)}${lost}`
    printResult(terminal, options, document, faults.length === 0 ? [good] : faults)
    if (faults.length === 0) return 0
    throw new AppError('failed', `backup ${name} has ${count(faults.length, 'fault')}`)
  },
})

export type Collecting = Checking & { faults: string[]; clear(): void }

export function openChecking(terminal: Terminal): Collecting {
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

export function whatIsIn({
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

export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
