import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { createBackup } from '../../domain/operations/backup/backup.ts'
import { type CheckOptions, verifyBackup } from '../../domain/operations/backup/check.ts'
import type { Manifest } from '../../domain/operations/backup/manifest.ts'
import { openBackupSet, validateSetPath } from '../../domain/operations/backup/set.ts'
import { AppError } from '../../runtime/errors.ts'
import { countNoun } from '../../values/sizes.ts'
import { command, printResult, type Terminal } from '../command.ts'
import { STORAGE } from '../options/storage.ts'
import { createProgress } from '../progress-line.ts'
import { becomeOwner } from '../storage/data-dir.ts'
import { refuseBackups } from '../storage/storage-options.ts'

export const backupCreate = command({
  name: 'backup create',
  positionals: ['DIR'],
  options: [...STORAGE, 'json'],
  async run({ options, positionals: [dir = ''], terminal, storage }) {
    refuseBackups(storage(), 'cambista backup')
    const dataDir = options['data-dir']
    becomeWriter(dir, dataDir)
    const set = await openBackupSet(dir, dataDir)
    try {
      const line = createProgress(terminal)
      const end = await createBackup(set, {
        dataDir,
        now: new Date(),
        signal: terminal.stop,
        progress: (done) => line.show(`${done} contents`),
      }).finally(line.clear)
      const { blobs, database, lost } = end.manifest
      const documents = `${countNoun(blobs.count, 'content')} of ${blobs.bytes} bytes (${end.added.blobs} of them new in the set)`
      printResult(terminal, options, end, [
        `backup ${end.path}: database of ${database.bytes} bytes, ${documents}`,
      ])
      const unknown = lost.filter(({ since }) => since === undefined)
      for (const { sha256, words } of unknown) {
        terminal.err(`content ${sha256} ${words} in the data directory\n`)
      }
      if (unknown.length < lost.length) {
        const recorded = countNoun(lost.length - unknown.length, 'content')
        terminal.err(`${recorded} less: known to be lost (cambista doctor says since when)\n`)
      }
      if (unknown.length === 0) return 0
      const message = `${countNoun(unknown.length, 'content')} could not be backed up, all else was`
      throw new AppError('failed', `${message}: cambista doctor says which documents that is`)
    } finally {
      set.close()
    }
  },
})

export const backupVerify = command({
  name: 'backup verify',
  positionals: ['DIR'],
  options: ['json'],
  async run({ options, positionals: [dir = ''], terminal }) {
    const check = openBackupCheck(terminal)
    const { name, manifest } = await verifyBackup(dir, check).finally(check.clear)
    const { faults } = check
    const document = { name, ok: faults.length === 0, faults, manifest }
    const missing =
      manifest.lost.length === 0 ? '' : `, without ${countNoun(manifest.lost.length, 'lost content')}`
    const good = `backup ${name} is good: ${backupSummary(manifest, manifest.blobs)}${missing}`
    printResult(terminal, options, document, faults.length === 0 ? [good] : faults)
    if (faults.length === 0) return 0
    throw new AppError('failed', `backup ${name} has ${countNoun(faults.length, 'fault')}`)
  },
})

export type BackupCheck = CheckOptions & { faults: string[]; clear(): void }

export function openBackupCheck(terminal: Terminal): BackupCheck {
  const line = createProgress(terminal)
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
 * Root becomes the owner of the data directory if that user owns the set or the set is new. The server may write to
 * that set later. Root writes as root into a set of its own.
 */
function becomeWriter(dir: string, dataDir: string): void {
  if (process.getuid?.() !== 0 || !existsSync(dataDir)) return
  const { uid, gid } = statSync(dataDir)
  validateSetPath(dir, dataDir)
  if (!existsSync(dir)) {
    mkdirSync(dir, { mode: 0o700 })
    chownSync(dir, uid, gid)
  }
  if (statSync(dir).uid === uid) becomeOwner(dataDir)
}

export function backupSummary(
  manifest: Pick<Manifest, 'created_at' | 'data_revision'>,
  { count, bytes }: { count: number; bytes: number },
): string {
  const contents = `${countNoun(count, 'content')} of ${bytes} bytes`
  return `made ${manifest.created_at}, data revision ${manifest.data_revision}, ${contents}`
}
