// Nightly backups of the service. Their directory is a setting, and the unit must make it writable. The flag on the
// command line is stored in the settings file, which counts from then on.

import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FileOwner } from '../../domain/operations/backup/new-data-dir.ts'
import { isOnSameDisk, validateSetPath } from '../../domain/operations/backup/set.ts'
import { AppError, errorCode } from '../../runtime/errors.ts'
import { ensureDirectory, type Machine, rewriteFile } from '../host.ts'
import { variableName } from '../options/names.ts'
import { parseEnvironmentFile, SETTINGS_FILE } from '../parse/settings.ts'

export const BACKUPS = '/var/backups/cambista'

const VARIABLE = variableName('backup-dir')
const LINE = new RegExp(`^[ \\t]*(#?)[ \\t]*${VARIABLE}[ \\t]*=.*$`, 'gm')
// Directories that the unit hides or replaces (ProtectHome, PrivateTmp, PrivateDevices, ProtectSystem).
const HIDDEN = ['/home', '/root', '/run/user', '/tmp', '/var/tmp', '/dev', '/proc', '/sys']
// Paths that need no escapes in a settings file or a unit of systemd.
const PLAIN = /^\/[\p{L}\p{N} ._@:+=,/-]*$/u

/**
 * Rejects a directory that the service cannot write backups into, before anything is changed.
 * @throws AppError `usage` or `failed`
 */
export function checkBackupDir(machine: Machine, dir: string, dataDir: string): void {
  if (usesDatabase(machine))
    throw new AppError('usage', `--backup-dir is for a data directory: ${SETTINGS_FILE} names a database`)
  const error = validateDir(dir)
  if (error !== undefined) throw new AppError('usage', `--backup-dir ${error}, not ${JSON.stringify(dir)}`)
  const target = join(machine.root, dir)
  if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new AppError('failed', `${dir} is a link: give --backup-dir ${realpathSync(target)} itself`)
  }
  if (dir !== BACKUPS || existsSync(target)) validateSetPath(target, join(machine.root, dataDir))
}

/** Makes the directory, for the service alone, and stores it in the settings. Returns true if these changed. */
export function enableBackups(machine: Machine, dir: string, user: FileOwner, dataDir: string): boolean {
  const target = join(machine.root, dir)
  refuseLocked(machine.root, dirname(dir), user)
  try {
    ensureDirectory(machine, dir, user, 0o700)
  } catch (error) {
    if (!/^(EPERM|EINVAL|ENOTSUP|EOPNOTSUPP)$/.test(errorCode(error))) throw error
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
  machine.print(`a backup is made each night into ${dir} (${VARIABLE} in ${SETTINGS_FILE})`)
  const data = join(machine.root, dataDir)
  if (existsSync(data) && isOnSameDisk(target, data)) {
    machine.print(`${dir} is on the disk of ${dataDir}, and would be lost with it: another disk is better`)
  }
  return true
}

/** Returns the backup directory of the settings, or undefined. */
export function readBackupDir(machine: Pick<Machine, 'root'>): string | undefined {
  return readServiceSettings(machine)[VARIABLE] || undefined
}

/** Returns the unit with write access to the backup directory and to the shared blob directory. */
export function withWritableDirs(unit: string, backupDir: string | undefined, blobDir?: string): string {
  const dirs = [backupDir, blobDir].filter((dir) => dir !== undefined && dir !== BACKUPS)
  const writable = `ReadWritePaths=-${BACKUPS}\n`
  const lines = dirs
    .filter((dir) => validateDir(dir ?? '') === undefined)
    .map((dir) => `ReadWritePaths="-${dir}"\n`)
  // Without its mount the service would write blobs that no other node can read.
  const needsMount = blobDir !== undefined && validateDir(blobDir) === undefined
  const after = 'After=network-online.target\n'
  return unit
    .replace(writable, writable + lines.join(''))
    .replace(after, needsMount ? `${after}RequiresMountsFor="${blobDir}"\n` : after)
}

/** Returns true if the settings name a shared database, which the service does not back up. */
export function usesDatabase(machine: Pick<Machine, 'root'>): boolean {
  const settings = readServiceSettings(machine)
  return ['database', 'database-file'].some((name) => settings[variableName(name)])
}

/** Returns the shared blob directory of the settings; undefined: none, or a bucket. */
export function readBlobDir(machine: Pick<Machine, 'root'>): string | undefined {
  const dir = usesDatabase(machine) ? readServiceSettings(machine)[variableName('blobs')] : undefined
  return dir?.includes('://') ? undefined : dir || undefined
}

/** Returns the data directory of the settings. */
export function readDataDir(machine: Machine, fallback: string): string {
  return readServiceSettings(machine)[variableName('data-dir')] || fallback
}

/** Sets the backup directory in a settings text and leaves other lines as they are. @throws AppError `failed` */
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
  // A line may be inside a quoted value or continue in the next, so the parsed result is compared.
  const expected = { ...before, [VARIABLE]: dir }
  const result = [replaced, appended].find(
    (candidate) => candidate && isDeepStrictEqual(parseEnvironmentFile(candidate), expected),
  )
  if (result) return result
  throw new AppError('failed', `cannot write ${setting} into ${SETTINGS_FILE}: write it there yourself`)
}

/** @throws AppError `failed` if the user may not enter a directory of the path */
function refuseLocked(root: string, dir: string, user: FileOwner): void {
  if (dir === '/') return // the root of an image may still be locked
  refuseLocked(root, dirname(dir), user)
  const stats = statSync(join(root, dir), { throwIfNoEntry: false })
  if (!stats) return
  const shift = stats.uid === user.uid ? 6 : stats.gid === user.gid ? 3 : 0
  if (stats.mode & (1 << shift)) return
  const mode = (stats.mode & 0o777).toString(8)
  throw new AppError('failed', `the user cambista may not enter ${dir} (mode ${mode}): chmod o+x ${dir}`)
}

function readServiceSettings({ root }: Pick<Machine, 'root'>): Record<string, string | undefined> {
  const file = join(root, SETTINGS_FILE)
  return existsSync(file) ? parseEnvironmentFile(readFileSync(file, 'utf8')) : {}
}

function validateDir(dir: string): string | undefined {
  if (!dir.startsWith('/') || join(dir) !== dir || dir.endsWith('/')) {
    return 'must be a whole path such as /mnt/backup/cambista, without . and .. and a / at its end'
  }
  if (!PLAIN.test(dir)) return 'must hold letters, digits, spaces and . _ @ : + = , - alone'
  const hidden = HIDDEN.find((one) => dir === one || dir.startsWith(`${one}/`))
  return hidden && `must not be below ${hidden}, which the service cannot see`
}
