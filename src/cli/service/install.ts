// Installs the service step by step. A second call adds what is missing, upgrades executable and unit, and changes
// nothing else. Files of the administrator are never overwritten.

import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { FileOwner } from '../../domain/operations/backup/new-data-dir.ts'
import { REQUIRED_PROVIDERS } from '../../providers/list.ts'
import { readAsset, VERSION } from '../../runtime/assets.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'
import {
  copyExecutable,
  ensureDirectory,
  ensureFile,
  type Machine,
  makeDirectory,
  rewriteFile,
  runOrFail,
  writeIfChanged,
} from '../host.ts'
import { variableName } from '../options/names.ts'
import { SETTINGS_FILE } from '../parse/settings.ts'
import {
  BACKUPS,
  checkBackupDir,
  enableBackups,
  readBackupDir,
  readBlobDir,
  readDataDir,
  usesDatabase,
  withWritableDirs,
} from './backup.ts'
import { isPackageInstalled, refuseOwnedByPackage } from './installations.ts'
import {
  DATA_DIR,
  EXECUTABLE,
  noTokenText,
  PACKAGE_EXECUTABLE,
  SETTINGS_DIR,
  SYSTEM_USER,
  TOKENS,
  UNIT,
  UNIT_FILE,
  USER,
} from './service-names.ts'
import { settingsText } from './settings-file.ts'
import { restartUnit } from './start.ts'

export const WANTED = `/etc/systemd/system/multi-user.target.wants/${UNIT}`

/** Returns the unit that runs an executable. */
export function unitText(executable = EXECUTABLE): string {
  const perToken = (line: (token: (typeof TOKENS)[number]) => string) => TOKENS.map(line)
  const values: Record<string, string> = {
    executable,
    codes: REQUIRED_PROVIDERS.map(({ code }) => code.toUpperCase()).join(', '),
    credentials: perToken(({ file }) => `LoadCredential=${basename(file)}:${file}`).join('\n'),
    variables: perToken(({ option }) => variableName(option)).join(', '),
    flags: perToken(({ option, file }) => ` --${option} \${CREDENTIALS_DIRECTORY}/${basename(file)}`).join(
      '',
    ),
  }
  return readAsset('src/cli/service/cambista.service').replace(
    /\{(\w+)\}/g,
    (whole, name) => values[name] ?? whole,
  )
}

/** Returns the unit with the directories that the settings of a machine name. */
export function serviceUnit(machine: Pick<Machine, 'root'>): string {
  return withWritableDirs(unitText(), readBackupDir(machine), readBlobDir(machine))
}

/** Returns the unit of a machine. `warn`: called if its settings cannot be read, so that their directories are missing. */
export function currentUnit(root: string, warn: (text: string) => void): string {
  if (isPackageInstalled(root)) return unitText(PACKAGE_EXECUTABLE)
  try {
    return serviceUnit({ root })
  } catch (error) {
    warn(`the unit lacks the directories of ${SETTINGS_FILE}, which cannot be read: ${errorReason(error)}`)
    return unitText()
  }
}

/**
 * Installs this executable as a service, and starts it unless it is installed into an image. `backupDir`: directory for
 * nightly backups.
 */
export function installService(
  machine: Machine,
  executable: string,
  { backupDir }: { backupDir?: string | undefined } = {},
): void {
  refuseOwnedByPackage(machine.root, 'install')
  const dataDir = readDataDir(machine, DATA_DIR)
  if (backupDir !== undefined) checkBackupDir(machine, backupDir, dataDir)
  let messages = 0
  const counting: Machine = {
    ...machine,
    print(line) {
      messages += 1
      machine.print(line)
    },
  }
  const isNew = !existsSync(join(machine.root, SETTINGS_FILE))
  const admin: FileOwner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const user = ensureUser(counting)
  ensureDirectory(counting, SETTINGS_DIR, { uid: admin.uid, gid: user.gid }, 0o750)
  ensureFile(counting, SETTINGS_FILE, settingsText(), { uid: admin.uid, gid: user.gid }, 0o640)
  for (const { file, name } of TOKENS) ensureTokenFile(counting, file, name, admin)
  for (const path of [DATA_DIR, BACKUPS]) ensureDirectory(counting, path, user, 0o700)
  const settingsChanged = backupDir !== undefined && enableBackups(counting, backupDir, user, dataDir)
  const isNewExecutable = copyExecutable(counting, EXECUTABLE, executable)
  const isNewUnit = writeIfChanged(counting, UNIT_FILE, serviceUnit(machine))
  if (machine.live) startUnit(counting, { isNewUnit, mustRestart: settingsChanged || isNewExecutable })
  else enableInImage(counting)
  if (messages === 0) machine.print(`nothing to do: cambista ${VERSION} is installed, enabled and running`)
  if (readBackupDir(machine) === undefined && !usesDatabase(machine)) machine.print(NO_BACKUPS)
  if (isNew) for (const line of NEXT) machine.print(line)
}

const NO_BACKUPS =
  'there are no nightly backups: sudo cambista service install --backup-dir DIR makes them (on another disk)'

const NEXT = [
  '',
  'Next:',
  '  a key of the rates API     sudo cambista key create erp',
  '  is it well?                sudo cambista healthcheck; journalctl -u cambista',
  `  settings                   ${SETTINGS_FILE}, then systemctl restart cambista`,
  ...TOKENS.map(
    ({ title, file }) => `  ${title.padEnd(26)} write it into ${file}, then systemctl restart cambista`,
  ),
]

/**
 * Makes a token file that has only a comment, which means that there is no token yet. Without the file systemd does not
 * start the unit, and an empty file fails each sync.
 */
function ensureTokenFile(machine: Machine, file: string, name: string, owner: FileOwner): void {
  const comment = noTokenText(name)
  const path = join(machine.root, file)
  if (existsSync(path) && readFileSync(path, 'utf8').trim() === '') {
    rewriteFile(machine, file, comment)
    machine.print(`wrote into ${file} that there is no token yet`)
  } else ensureFile(machine, file, comment, owner, 0o600)
}

/** Makes the system user if it is missing. @throws AppError `failed` */
function ensureUser(machine: Machine): FileOwner {
  const before = findUser(machine.root)
  if (before) return before
  const image = machine.root === '/' ? [] : [machine.root]
  const sysusers = [...image.map((root) => `--root=${root}`), '--inline', SYSTEM_USER]
  const useradd = [
    ...image.flatMap((root) => ['--prefix', root]),
    ...`--system --user-group --no-create-home --shell /usr/sbin/nologin --home-dir ${DATA_DIR} ${USER}`.split(
      ' ',
    ),
  ]
  const { status, text } = machine.run('systemd-sysusers', sysusers)
  if (status !== 0) {
    const other = machine.run('useradd', useradd)
    if (other.status !== 0) {
      const why = [text, other.text].filter((one) => one !== '').join('\n')
      const what = why || 'there is neither systemd-sysusers nor useradd'
      throw new AppError('failed', `cannot make the system user ${USER}: ${what.replace(/\s*\n\s*/g, '; ')}`)
    }
  }
  const user = findUser(machine.root)
  if (!user) throw new AppError('failed', `the user ${USER} was made, but is not in /etc/passwd`)
  machine.print(`made the system user ${USER}`)
  return user
}

function findUser(root: string): FileOwner | undefined {
  const path = join(root, 'etc/passwd')
  if (!existsSync(path)) return undefined
  const [, uid, gid] = new RegExp(`^${USER}:[^:]*:(\\d+):(\\d+):`, 'm').exec(readFileSync(path, 'utf8')) ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

function startUnit(
  machine: Machine,
  { isNewUnit, mustRestart }: { isNewUnit: boolean; mustRestart: boolean },
): void {
  const is = (question: string) => machine.run('systemctl', [question, UNIT]).text
  if (isNewUnit) runOrFail(machine, 'systemctl', 'daemon-reload')
  if (is('is-enabled') !== 'enabled') {
    runOrFail(machine, 'systemctl', 'enable', UNIT)
    machine.print(`enabled ${UNIT}: it starts with the machine`)
  }
  const active = is('is-active') === 'active'
  if (active && !mustRestart && !isNewUnit) return
  if (!active) machine.run('systemctl', ['reset-failed', UNIT]) // else systemd may refuse a start after too many failures
  restartUnit(machine, UNIT)
  machine.print(`${active ? 'restarted' : 'started'} ${UNIT}: cambista ${VERSION} is ready`)
}

function enableInImage(machine: Machine): void {
  const link = join(machine.root, WANTED)
  if (lstatSync(link, { throwIfNoEntry: false })) return // `existsSync` would follow it out of the image
  makeDirectory(dirname(link))
  symlinkSync(UNIT_FILE, link)
  machine.print(`enabled ${UNIT}: it starts with the image`)
}
