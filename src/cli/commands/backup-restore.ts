import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { FileOwner } from '../../domain/operations/backup/new-data-dir.ts'
import {
  type RestoredData,
  type RestoreResult,
  restoreBackup,
} from '../../domain/operations/backup/restore.ts'
import { backupNames, findBackup } from '../../domain/operations/backup/set.ts'
import { AppError } from '../../runtime/errors.ts'
import { countNoun } from '../../values/sizes.ts'
import { command, printResult } from '../command.ts'
import { STORAGE } from '../options/storage.ts'
import { refuseBackups } from '../storage/storage-options.ts'
import { backupSummary, openBackupCheck } from './backup.ts'

const MAX_LISTED = 20 // missing blobs on the screen; the list file has all
const DONE_IN_PART = 3

export const backupRestore = command({
  name: 'backup restore',
  positionals: ['DIR'],
  options: ['without-damaged', ...STORAGE, 'json'],
  async run({ options, positionals: [dir = ''], terminal, storage }) {
    refuseBackups(storage(), 'cambista backup')
    const dataDir = resolve(options['data-dir'])
    const check = openBackupCheck(terminal)
    const request = { dataDir, owner: dataDirOwner(dataDir, dir), now: new Date(), clock: () => new Date() }
    const withoutDamaged = options['without-damaged']
    const restored = await restoreBackup(dir, { ...request, withoutDamaged }, check).finally(check.clear)
    for (const line of check.faults) terminal.err(`${line}\n`)
    const { name, manifest, data } = restored
    if (!data) {
      const summary = `backup ${name} has ${countNoun(restored.faults, 'fault')}, nothing was restored`
      throw new AppError('failed', `${summary}: ${nextStep(findBackup(dir), restored)}`)
    }
    for (const line of lostLines(restored)) terminal.err(`${line}\n`)
    for (const line of data.damagedRates) terminal.err(`${line}: cambista doctor says what to do\n`)
    const { uid } = statSync(dataDir)
    const { leftOut, active, lost, nextId } = data
    const details = { ...active, next_id: nextId, lost, left_out: leftOut ?? null }
    const document = { name, data_dir: dataDir, uid, manifest, ...details }
    printResult(terminal, options, document, restoreLines(dataDir, restored, data))
    if (data.unnoted !== undefined) {
      const risk = 'another restore from it would give the ids of new uploads again'
      terminal.err(`This restore could not be noted in the set (${data.unnoted}): ${risk}\n`)
    }
    if (uid === 0) {
      terminal.err(`It belongs to root. If the server runs as another user: chown -R USER: ${dataDir}\n`)
    }
    return leftOut ? DONE_IN_PART : 0
  },
})

/** Returns the owner for the restored data directory. Only root can change owners. */
function dataDirOwner(dataDir: string, backup: string): FileOwner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = statSync(existsSync(dataDir) ? dataDir : findBackup(backup).dir)
  return { uid, gid }
}

/** Returns the next step, with the name of an existing backup. */
function nextStep({ blobsDir, name }: { blobsDir: string; name: string }, restored: RestoreResult): string {
  const { faults, damaged } = restored
  const set = dirname(blobsDir)
  if (damaged > 0 && damaged === faults) {
    const others = `all backups in ${set} share these contents`
    return `try --without-damaged, which restores all else, or a backup of another set: ${others}`
  }
  const others = backupNames(set).filter((one) => one !== name)
  const other = others.findLast((one) => one < name) ?? others[0]
  return other === undefined ? `there is no other backup in ${set}` : `try ${join(set, other)}`
}

function restoreLines(dataDir: string, { name, manifest }: RestoreResult, data: RestoredData): string[] {
  const { leftOut, schema, blobs, active, nextId } = data
  const lines = [
    `backup ${name} is restored to ${dataDir}: ${backupSummary(manifest, blobs)}`,
    ...(schema.from < schema.to ? [`its schema was ${schema.from} and is ${schema.to} now`] : []),
    `active again: ${countNames('key', active.keys)}, ${countNames('token', active.tokens)}`,
    `if one was revoked after ${manifest.created_at}, revoke it again (cambista key revoke, token revoke)`,
    `new ids begin above those of the backup: the next document is ${nextId}`,
  ]
  if (!leftOut) return lines
  const what = `${countNoun(leftOut.contents.length, 'content')} of ${countNoun(leftOut.documents.length, 'document')}`
  const copies = leftOut.copies === undefined ? '' : `, the altered files are in ${leftOut.copies}`
  return [...lines, `left out: ${what}, listed in ${leftOut.list}${copies}`]
}

/** Returns a line for each missing blob, at most 20. */
function lostLines({ data }: RestoreResult): string[] {
  if (!data) return []
  const before = ': it was lost already when the backup was made'
  const lines = [
    ...(data.leftOut?.contents ?? []).map(({ sha256, fault }) => `content ${sha256} ${fault}: left out`),
    ...data.lost.map(({ sha256, fault }) => `content ${sha256} ${fault}${before}`),
  ]
  const more =
    lines.length > MAX_LISTED ? [`and ${countNoun(lines.length - MAX_LISTED, 'more content')}`] : []
  return [...lines.slice(0, MAX_LISTED), ...more]
}

function countNames(what: string, names: readonly string[]): string {
  return names.length === 0 ? `no ${what}` : `${countNoun(names.length, what)} (${names.join(', ')})`
}
