// Nightly backups of the service: where they go is a setting, and the unit lets the service write there. What is asked
// for on the command line is written into the settings; from then on the settings say it.

import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { AppError, codeOf } from '../../errors.ts'
import { checkSetPlace } from '../../store/backup/set.ts'
import { ensureDirectory, type Machine, type Owner, rewriteFile } from '../host.ts'
import { variableOf } from '../option-names.ts'
import { parseEnvironmentFile, SETTINGS_FILE } from '../settings.ts'

export const BACKUPS = '/var/backups/cambista'

const VARIABLE = variableOf('backup-dir')
const LINE = new RegExp(`^[ \\t]*(#?)[ \\t]*${VARIABLE}[ \\t]*=.*$`, 'gm')
// What the unit hides from the service, or gives it another one of (ProtectHome, PrivateTmp, PrivateDevices, ProtectSystem).
const HIDDEN = ['/home', '/root', '/run/user', '/tmp', '/var/tmp', '/dev', '/proc', '/sys']
// What a settings file and a unit of systemd need no escapes for.
const PLAIN = /^\/[\p{L}\p{N} ._@:+=,/-]*$/u

/**
 * Refuses a directory that the service could make no backups in, before anything is changed.
 * @throws AppError `usage` or `failed`
 */
export function checkBackupDir(machine: Machine, dir: string, dataDir: string): void {
  if (isInDatabase(machine))
    throw new AppError('usage', `--backup-dir is for a data directory: ${SETTINGS_FILE} names a database`)
  const wrong = faultOf(dir)
  if (wrong !== undefined) throw new AppError('usage', `--backup-dir ${wrong}, not ${JSON.stringify(dir)}`)
  const place = join(machine.root, dir)
  if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new AppError('failed', `${dir} is a link: give --backup-dir ${realpathSync(place)} itself`)
  }
  if (dir !== BACKUPS || existsSync(place)) checkSetPlace(place, join(machine.root, dataDir))
}

/** Makes the directory, for the service alone, and writes it into the settings. Returns whether these changed. */
export function turnOnBackups(machine: Machine, dir: string, user: Owner, dataDir: string): boolean {
  const place = join(machine.root, dir)
  refuseLocked(machine.root, dirname(dir), user)
  try {
    ensureDirectory(machine, dir, user, 0o700)
  } catch (error) {
    if (!/^(EPERM|EINVAL|ENOTSUP|EOPNOTSUPP)$/.test(codeOf(error))) throw error
    const why = `the file system of ${dir} keeps no owners or does not let root set them`
    throw new AppError('failed', `${why}: mount it so that all of it belongs to the user cambista`, {
      cause: error,
    })
  }
  const file = join(machine.root, SETTINGS_FILE)
  const before = readFileSync(file, 'utf8')
  const after = withBackupDir(before, dir)
  if (after === before) return false
  rewriteFile(machine, SETTINGS_FILE, after)
  machine.say(`a backup is made each night into ${dir} (${VARIABLE} in ${SETTINGS_FILE})`)
  const data = join(machine.root, dataDir)
  if (existsSync(data) && statSync(data).dev === statSync(place).dev) {
    machine.say(`${dir} is on the disk of ${dataDir}, and would be lost with it: another disk is better`)
  }
  return true
}

/** Where the service makes its backups, as its settings say; undefined: nowhere. */
export function backupDirIn(machine: Machine): string | undefined {
  return settingsOf(machine)[VARIABLE] || undefined
}

/** The unit that lets the service write where its backups go, and where it keeps contents that other nodes see too. */
export function unitWith(unit: string, backupDir: string | undefined, contentsDir?: string): string {
  const dirs = [backupDir, contentsDir].filter((dir) => dir !== undefined && dir !== BACKUPS)
  const writable = `ReadWritePaths=-${BACKUPS}\n`
  const lines = dirs
    .filter((dir) => faultOf(dir ?? '') === undefined)
    .map((dir) => `ReadWritePaths="-${dir}"\n`)
  // Below a mount that is missing it would write where no other node looks.
  const mounted = contentsDir !== undefined && faultOf(contentsDir) === undefined
  const after = 'After=network-online.target\n'
  return unit
    .replace(writable, writable + lines.join(''))
    .replace(after, mounted ? `${after}RequiresMountsFor="${contentsDir}"\n` : after)
}

/** Whether the data are in a database that nodes share, as the settings say, which is then not the service's to back up. */
export function isInDatabase(machine: Machine): boolean {
  const settings = settingsOf(machine)
  return ['database', 'database-file'].some((name) => settings[variableOf(name)])
}

/** Where contents are that other nodes see too; undefined: nowhere, or in a bucket. */
export function contentsDirIn(machine: Machine): string | undefined {
  const dir = isInDatabase(machine) ? settingsOf(machine)[variableOf('blobs')] : undefined
  return dir?.includes('://') ? undefined : dir || undefined
}

/** The data directory of the service, as its settings say. */
export function dataDirIn(machine: Machine, fallback: string): string {
  return settingsOf(machine)[variableOf('data-dir')] || fallback
}

/** The text of a settings file with this setting in it, all others as they are. @throws AppError `failed` */
export function withBackupDir(text: string, dir: string): string {
  const before = parseEnvironmentFile(text)
  if (before[VARIABLE] === dir) return text
  const setting = `${VARIABLE}=${dir.includes(' ') ? `"${dir}"` : dir}`
  const appended = `${text.endsWith('\n') || text === '' ? text : `${text}\n`}${setting}\n`
  const lines = [...text.matchAll(LINE)]
  const line = lines.findLast(([, comment]) => comment === '') ?? lines.at(-1)
  const replaced =
    line &&
    !line[0].endsWith('\\') &&
    text.slice(0, line.index) + setting + text.slice(line.index + line[0].length)
  // A line may be inside of a quoted value, or go on in the next: what counts is how the file is read then.
  const wanted = { ...before, [VARIABLE]: dir }
  const found = [replaced, appended].find(
    (candidate) => candidate && isDeepStrictEqual(parseEnvironmentFile(candidate), wanted),
  )
  if (found) return found
  throw new AppError('failed', `cannot write ${setting} into ${SETTINGS_FILE}: write it there yourself`)
}

/** @throws AppError `failed` when the user may not get to a directory */
function refuseLocked(root: string, dir: string, user: Owner): void {
  if (dir === '/') return // which an image's is not yet
  refuseLocked(root, dirname(dir), user)
  const found = statSync(join(root, dir), { throwIfNoEntry: false })
  if (!found) return
  const shift = found.uid === user.uid ? 6 : found.gid === user.gid ? 3 : 0
  if (found.mode & (1 << shift)) return
  const mode = (found.mode & 0o777).toString(8)
  throw new AppError('failed', `the user cambista may not enter ${dir} (mode ${mode}): chmod o+x ${dir}`)
}

function settingsOf({ root }: Machine): Record<string, string | undefined> {
  const file = join(root, SETTINGS_FILE)
  return existsSync(file) ? parseEnvironmentFile(readFileSync(file, 'utf8')) : {}
}

function faultOf(dir: string): string | undefined {
  if (!dir.startsWith('/') || join(dir) !== dir || dir.endsWith('/')) {
    return 'must be a whole path such as /mnt/backup/cambista, without . and .. and a / at its end'
  }
  if (!PLAIN.test(dir)) return 'must hold letters, digits, spaces and . _ @ : + = , - alone'
  const hidden = HIDDEN.find((one) => dir === one || dir.startsWith(`${one}/`))
  return hidden && `must not be below ${hidden}, which the service cannot see`
}
