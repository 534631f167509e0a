import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Made, type Restored, restoreBackup } from '../../domain/backup/restore.ts'
import { AppError } from '../../errors.ts'
import type { Owner } from '../../store/backup/new-data-dir.ts'
import { backupNames, findBackup } from '../../store/backup/set.ts'
import { command, printResult } from '../command.ts'
import { PLACE } from '../place/options.ts'
import { refuseBackups } from '../place/place.ts'
import { count, openChecking, SET, whatIsIn } from './backup.ts'

const SHOWN = 20 // of the contents that are not there: the list has them all
const LEFT_SOMETHING_OUT = 3

export const backupRestore = command({
  name: 'backup restore',
  positionals: ['DIR'],
  summary: 'make a new data directory of the newest backup of a set, or of the one that DIR names',
  about: `${SET}
The backup is checked on the way, and --data-dir is made whole or not at all. It must be empty or not be there: stop the
server and move the old one away first. Root gives the files to the owner of --data-dir, or if it is not there to the
owner of the backup. New ids begin 1,000,000 above those of the backup, so that none is given twice.

--without-damaged restores all but the contents that are missing or altered, if nothing else is wrong. Beside the data
directory, <data-dir>.damaged.json then lists the documents that have lost their content, <data-dir>.damaged/ has the
altered files, and the exit code is 3. Such a content is answered with 410; an upload of the same bytes brings it back.`,
  options: ['without-damaged', ...PLACE, 'json'],
  changesData: false,
  example: 'cambista backup restore /mnt/backup/cambista --data-dir /var/lib/cambista',
  async run({ options, positionals: [dir = ''], terminal, place }) {
    refuseBackups(place(), 'cambista backup')
    const dataDir = resolve(options['data-dir'])
    const checking = openChecking(terminal)
    const request = { dataDir, owner: ownerFor(dataDir, dir), now: new Date(), clock: () => new Date() }
    const withoutDamaged = options['without-damaged']
    const restored = await restoreBackup(dir, { ...request, withoutDamaged }, checking).finally(
      checking.clear,
    )
    for (const line of checking.faults) terminal.err(`${line}\n`)
    const { name, manifest, made } = restored
    if (!made) throw new AppError('failed', `${whyNot(restored)}: ${whatThen(findBackup(dir), restored)}`)
    for (const line of lostInWords(restored)) terminal.err(`${line}\n`)
    const { uid } = statSync(dataDir)
    const { leftOut, active, lost, nextId } = made
    const told = { ...active, next_id: nextId, lost, left_out: leftOut ?? null }
    const document = { name, data_dir: dataDir, uid, manifest, ...told }
    printResult(terminal, options, document, restoredInWords(dataDir, restored, made))
    if (made.unnoted !== undefined) {
      const then = 'another restore from it would give the ids of new uploads again'
      terminal.err(`This restore could not be noted in the set (${made.unnoted}): ${then}\n`)
    }
    if (uid === 0) {
      terminal.err(`It belongs to root. If the server runs as another user: chown -R USER: ${dataDir}\n`)
    }
    return leftOut ? LEFT_SOMETHING_OUT : 0
  },
})

/** Whose a restored data directory shall be. Only root can give it away. */
function ownerFor(dataDir: string, backup: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = statSync(existsSync(dataDir) ? dataDir : findBackup(backup).dir)
  return { uid, gid }
}

function whyNot({ name, faults }: Restored): string {
  return `backup ${name} has ${count(faults, 'fault')}, nothing was restored`
}

/** What to type next; it names only what is there. */
function whatThen({ blobsDir, name }: { blobsDir: string; name: string }, restored: Restored): string {
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

function restoredInWords(dataDir: string, { name, manifest }: Restored, made: Made): string[] {
  const { leftOut, schema, contents, active, nextId } = made
  const lines = [
    `backup ${name} is restored to ${dataDir}: ${whatIsIn({ ...manifest, blobs: contents })}`,
    ...(schema.from < schema.to ? [`its schema was ${schema.from} and is ${schema.to} now`] : []),
    `active again: ${named('key', active.keys)}, ${named('token', active.tokens)}`,
    `if one was revoked after ${manifest.created_at}, revoke it again (cambista key revoke, token revoke)`,
    `new ids begin above those of the backup: the next document is ${nextId}`,
  ]
  if (!leftOut) return lines
  const what = `${count(leftOut.contents.length, 'content')} of ${count(leftOut.documents.length, 'document')}`
  const copies = leftOut.copies === undefined ? '' : `, the altered files are in ${leftOut.copies}`
  return [...lines, `left out: ${what}, listed in ${leftOut.list}${copies}`]
}

/** Each content that is not there, on a line, as far as a screen goes. */
function lostInWords({ made }: Restored): string[] {
  if (!made) return []
  const before = ': it was lost already when the backup was made'
  const lines = [
    ...(made.leftOut?.contents ?? []).map(({ sha256, fault }) => `content ${sha256} ${fault}: left out`),
    ...made.lost.map(({ sha256, fault }) => `content ${sha256} ${fault}${before}`),
  ]
  const more = lines.length > SHOWN ? [`and ${count(lines.length - SHOWN, 'more content')}`] : []
  return [...lines.slice(0, SHOWN), ...more]
}

function named(what: string, names: readonly string[]): string {
  return names.length === 0 ? `no ${what}` : `${count(names.length, what)} (${names.join(', ')})`
}
