// Installing the service, step by step. Doing it again repairs what is missing, upgrades the executable and the
// unit, and changes nothing else; what an administrator wrote is never overwritten.

import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readAsset, VERSION } from '../../assets.ts'
import { AppError } from '../../errors.ts'
import { PROVIDERS } from '../../providers/list.ts'
import {
  copyExecutable,
  ensureDirectory,
  ensureFile,
  type Machine,
  makeDirectory,
  type Owner,
  rewriteFile,
  runSurely,
  writeOwn,
} from '../host.ts'
import { variableOf } from '../option-names.ts'
import { SETTINGS_FILE } from '../settings.ts'
import {
  BACKUPS,
  backupDirIn,
  checkBackupDir,
  contentsDirIn,
  dataDirIn,
  isInDatabase,
  turnOnBackups,
  unitWith,
} from './backup.ts'
import { DATA_DIR, SETTINGS_DIR, TOKENS, USER } from './names.ts'
import { settingsText } from './settings-file.ts'
import { restartUnit } from './start.ts'

const UNIT = 'cambista.service'
const UNIT_FILE = `/etc/systemd/system/${UNIT}`
const WANTED = `/etc/systemd/system/multi-user.target.wants/${UNIT}`
const EXECUTABLE = '/usr/local/bin/cambista'

export function unitText(): string {
  const perToken = (line: (token: (typeof TOKENS)[number]) => string) => TOKENS.map(line)
  const values: Record<string, string> = {
    codes: PROVIDERS.map(({ code }) => code.toUpperCase()).join(', '),
    credentials: perToken(({ file }) => `LoadCredential=${basename(file)}:${file}`).join('\n'),
    variables: perToken(({ option }) => variableOf(option)).join(', '),
    flags: perToken(({ option, file }) => ` --${option} \${CREDENTIALS_DIRECTORY}/${basename(file)}`).join(
      '',
    ),
  }
  return readAsset('src/cli/service/cambista.service').replace(
    /\{(\w+)\}/g,
    (whole, name) => values[name] ?? whole,
  )
}

/**
 * Installs this executable as a service, and starts it unless it goes into an image. With a `backupDir` it makes its
 * nightly backups there from now on.
 */
export function installService(
  machine: Machine,
  executable: string,
  { backupDir }: { backupDir?: string | undefined } = {},
): void {
  const dataDir = dataDirIn(machine, DATA_DIR)
  if (backupDir !== undefined) checkBackupDir(machine, backupDir, dataDir)
  let said = 0
  const counting: Machine = {
    ...machine,
    say(line) {
      said += 1
      machine.say(line)
    },
  }
  const isNew = !existsSync(join(machine.root, SETTINGS_FILE))
  const admin: Owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const user = ensureUser(counting)
  ensureDirectory(counting, SETTINGS_DIR, { uid: admin.uid, gid: user.gid }, 0o750)
  ensureFile(counting, SETTINGS_FILE, settingsText(), { uid: admin.uid, gid: user.gid }, 0o640)
  for (const { file, name } of TOKENS) ensureTokenFile(counting, file, name, admin)
  for (const path of [DATA_DIR, BACKUPS]) ensureDirectory(counting, path, user, 0o700)
  const changed = backupDir !== undefined && turnOnBackups(counting, backupDir, user, dataDir)
  const copied = copyExecutable(counting, EXECUTABLE, executable)
  const written = writeOwn(
    counting,
    UNIT_FILE,
    unitWith(unitText(), backupDirIn(machine), contentsDirIn(machine)),
  )
  if (machine.live) startUnit(counting, { written, changed: changed || copied })
  else enableInImage(counting)
  if (said === 0) machine.say(`nothing to do: cambista ${VERSION} is installed, enabled and running`)
  if (backupDirIn(machine) === undefined && !isInDatabase(machine)) machine.say(NO_BACKUPS)
  if (isNew) for (const line of NEXT) machine.say(line)
}

/** Stops the service and removes its unit. Everything else stays, and is named. */
export function uninstallService(machine: Machine): void {
  const unit = join(machine.root, UNIT_FILE)
  if (!existsSync(unit)) machine.say(`nothing to do: there is no ${UNIT_FILE}`)
  else {
    if (machine.live) {
      runSurely(machine, 'systemctl', 'disable', '--now', UNIT)
      machine.say(`stopped and disabled ${UNIT}`)
    } else rmSync(join(machine.root, WANTED), { force: true })
    rmSync(unit)
    if (machine.live) runSurely(machine, 'systemctl', 'daemon-reload')
    machine.say(`removed ${UNIT_FILE}`)
  }
  const kept = [
    `${DATA_DIR} (data)`,
    BACKUPS,
    `${SETTINGS_DIR} (settings, token)`,
    EXECUTABLE,
    `the user ${USER}`,
  ]
  machine.say(`kept ${kept.join(', ')}`)
  machine.say(`commands still work on ${DATA_DIR} as long as there is ${SETTINGS_FILE}`)
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
 * systemd does not start a unit whose credential is missing, and an empty file is an error of each sync: a comment in
 * it means that there is no token yet.
 */
function ensureTokenFile(machine: Machine, file: string, name: string, owner: Owner): void {
  const comment = `# Write ${name} here, in place of this line. Lines that begin with # are no token.\n`
  const path = join(machine.root, file)
  if (existsSync(path) && readFileSync(path, 'utf8').trim() === '') {
    rewriteFile(machine, file, comment)
    machine.say(`wrote into ${file} that there is no token yet`)
  } else ensureFile(machine, file, comment, owner, 0o600)
}

/** Makes the system user, when there is none. @throws AppError `failed` */
function ensureUser(machine: Machine): Owner {
  const before = findUser(machine.root)
  if (before) return before
  const image = machine.root === '/' ? [] : [machine.root]
  const sysusers = [
    ...image.map((root) => `--root=${root}`),
    '--inline',
    `u ${USER} - "cambista" ${DATA_DIR}`,
  ]
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
  const made = findUser(machine.root)
  if (!made) throw new AppError('failed', `the user ${USER} was made, but is not in /etc/passwd`)
  machine.say(`made the system user ${USER}`)
  return made
}

function findUser(root: string): Owner | undefined {
  const path = join(root, 'etc/passwd')
  if (!existsSync(path)) return undefined
  const [, uid, gid] = new RegExp(`^${USER}:[^:]*:(\\d+):(\\d+):`, 'm').exec(readFileSync(path, 'utf8')) ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

function startUnit(machine: Machine, { written, changed }: { written: boolean; changed: boolean }): void {
  const is = (question: string) => machine.run('systemctl', [question, UNIT]).text
  if (written) runSurely(machine, 'systemctl', 'daemon-reload')
  if (is('is-enabled') !== 'enabled') {
    runSurely(machine, 'systemctl', 'enable', UNIT)
    machine.say(`enabled ${UNIT}: it starts with the machine`)
  }
  const active = is('is-active') === 'active'
  if (active && !changed && !written) return
  if (!active) machine.run('systemctl', ['reset-failed', UNIT]) // or it may have been started too often
  restartUnit(machine, UNIT)
  machine.say(`${active ? 'restarted' : 'started'} ${UNIT}: cambista ${VERSION} is ready`)
}

function enableInImage(machine: Machine): void {
  const link = join(machine.root, WANTED)
  if (lstatSync(link, { throwIfNoEntry: false })) return // it leads to a path of the image
  makeDirectory(dirname(link))
  symlinkSync(UNIT_FILE, link)
  machine.say(`enabled ${UNIT}: it starts with the image`)
}
