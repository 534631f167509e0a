// `service install --backup-dir`: the setting, the unit, the directory, and rejected directories.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseEnvironmentFile } from '../../../../src/cli/parse/settings.ts'
import { withBackupDir, withWritableDirs } from '../../../../src/cli/service/backup.ts'
import { installService, unitText } from '../../../../src/cli/service/install.ts'
import { settingsText } from '../../../../src/cli/service/settings-file.ts'
import { uninstallService } from '../../../../src/cli/service/uninstall.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const UNIT = '/etc/systemd/system/cambista.service'
const SETTINGS = '/etc/cambista/cambista.env'
const DIR = '/mnt/backup/cambista'

/** A root directory with the system user and a disk at /mnt/backup. Every command of systemd succeeds. */
function machine(t: TestContext, { live = false } = {}) {
  const root = temporaryDirectory(t)
  const at = (path: string) => join(root, path)
  mkdirSync(at('/etc'))
  const passwd = `cambista:x:${process.getuid?.()}:${process.getgid?.()}::/:/bin/false\n`
  writeFileSync(at('/etc/passwd'), passwd)
  mkdirSync(at('/mnt/backup/lost+found'), { recursive: true, mode: 0o755 })
  writeFileSync(at('/download'), 'version 1')
  const printed: string[] = []
  const commands: string[] = []
  const place = {
    root,
    live,
    run(command: string, words: readonly string[]) {
      commands.push([command, ...words].join(' '))
      return { status: 0, text: words[0] === 'is-enabled' ? 'enabled' : 'active' }
    },
    print: (line: string) => printed.push(line),
  }
  const install = (backupDir?: string) => {
    printed.length = 0
    commands.length = 0
    installService(place, at('/download'), { backupDir })
    return printed
  }
  const settings = () => parseEnvironmentFile(readFileSync(at(SETTINGS), 'utf8'))
  return { place, at, install, settings, commands }
}

test('--backup-dir creates the directory for the service and writes it into the settings and the unit', (t) => {
  const { install, at, settings } = machine(t)
  const printed = install(DIR)
  assert.ok(printed.includes(`made ${DIR}`))
  assert.ok(printed.includes(`a backup is made each night into ${DIR} (CAMBISTA_BACKUP_DIR in ${SETTINGS})`))
  assert.ok(
    printed.some((line) => /is on the disk of \/var\/lib\/cambista, and would be lost with it/.test(line)),
  )
  assert.ok(!printed.some((line) => line.startsWith('there are no nightly backups')))
  const { uid, gid, mode } = statSync(at(DIR))
  assert.deepEqual([uid, gid, mode & 0o7777], [process.getuid?.(), process.getgid?.(), 0o700])
  assert.equal(settings().CAMBISTA_BACKUP_DIR, DIR)
  assert.equal(statSync(at(SETTINGS)).mode & 0o7777, 0o640)
  const unit = readFileSync(at(UNIT), 'utf8')
  assert.ok(unit.includes(`\nReadWritePaths=-/var/backups/cambista\nReadWritePaths="-${DIR}"\n`))
  assert.equal(unit.replace(`ReadWritePaths="-${DIR}"\n`, ''), unitText())
})

test('`service install` without --backup-dir does not change the directory; a new --backup-dir does', (t) => {
  const { install, at, settings, place } = machine(t)
  install(DIR)
  const before = readFileSync(at(SETTINGS), 'utf8')
  for (const printed of [install(), install(DIR)]) {
    assert.equal(printed.length, 1)
    assert.match(printed[0] ?? '', /^nothing to do: /)
  }
  assert.equal(readFileSync(at(SETTINGS), 'utf8'), before)

  uninstallService(place)
  install()
  assert.ok(readFileSync(at(UNIT), 'utf8').includes(`ReadWritePaths="-${DIR}"`))

  install('/mnt/backup/other one')
  assert.equal(settings().CAMBISTA_BACKUP_DIR, '/mnt/backup/other one')
  assert.match(readFileSync(at(SETTINGS), 'utf8'), /^CAMBISTA_BACKUP_DIR="\/mnt\/backup\/other one"$/m)
  assert.ok(readFileSync(at(UNIT), 'utf8').includes('ReadWritePaths="-/mnt/backup/other one"\n'))
  assert.ok(!readFileSync(at(UNIT), 'utf8').includes(DIR))
  assert.ok(existsSync(at(DIR)), 'older backups stay where they are')

  install('/var/backups/cambista')
  assert.equal(readFileSync(at(UNIT), 'utf8'), unitText())
})

test('--backup-dir reloads systemd, then restarts a running service', (t) => {
  const { install, commands } = machine(t, { live: true })
  install()
  install(DIR)
  const commandsRun = commands.filter((line) => !/ is-/.test(line))
  assert.deepEqual(commandsRun, ['systemctl daemon-reload', 'systemctl restart cambista.service'])
  install(DIR)
  assert.deepEqual(
    commands.filter((line) => !/ is-/.test(line)),
    [],
  )
})

test('--backup-dir accepts the mount point of a disk and leaves its lost+found as it is', (t) => {
  const { install, at } = machine(t)
  install('/mnt/backup')
  assert.equal(statSync(at('/mnt/backup')).mode & 0o7777, 0o700)
  assert.equal(statSync(at('/mnt/backup/lost+found')).mode & 0o7777, 0o755)
})

const REFUSED: [string, RegExp][] = [
  ['backup', /must be a whole path such as \/mnt\/backup\/cambista/],
  ['', /must be a whole path/],
  ['/mnt/../etc', /must be a whole path/],
  ['/mnt/backup/', /must be a whole path/],
  ['/mnt/a"b', /must hold letters, digits, spaces and/],
  ['/mnt/100%', /must hold letters/],
  ['/home/ana/backup', /must not be below \/home, which the service cannot see/],
  ['/tmp', /must not be below \/tmp/],
  ['/nowhere/backup', /there is no .*\/nowhere to make backup in: is it mounted\?/],
  ['/etc', /is not empty and not a backup set/],
  ['/var/lib/cambista/backup', /is inside the data directory/],
  ['/link', /is a link: give --backup-dir .*\/mnt\/backup itself/],
]
test('a wrong --backup-dir is refused before anything is changed', (t) => {
  const { install, at } = machine(t)
  symlinkSync('mnt/backup', at('/link'))
  const before = readdirSync(at('/'), { recursive: true }).sort()
  for (const [dir, expected] of REFUSED) {
    assert.throws(() => install(dir), expected, dir)
    assert.deepEqual(readdirSync(at('/'), { recursive: true }).sort(), before, dir)
  }
})

test('a --backup-dir that the service may not enter is refused with the chmod that helps', (t) => {
  const { place, at } = machine(t)
  mkdirSync(at('/mnt/locked'), { mode: 0o700 })
  chmodSync(at('/mnt/locked'), 0o600)
  const settings = () => installService(place, at('/download'), { backupDir: '/mnt/locked/set' })
  assert.throws(
    settings,
    /the user cambista may not enter \/mnt\/locked \(mode 600\): chmod o\+x \/mnt\/locked/,
  )
  assert.equal(existsSync(at('/mnt/locked/set')), false)
})

const FILES: [string, string][] = [
  [settingsText(), settingsText().replace('#CAMBISTA_BACKUP_DIR=', `CAMBISTA_BACKUP_DIR=${DIR}`)],
  ['', `CAMBISTA_BACKUP_DIR=${DIR}\n`],
  ['CAMBISTA_PORT=1', `CAMBISTA_PORT=1\nCAMBISTA_BACKUP_DIR=${DIR}\n`],
  [
    'CAMBISTA_BACKUP_DIR=/a\n#CAMBISTA_BACKUP_DIR=/b\n',
    `CAMBISTA_BACKUP_DIR=${DIR}\n#CAMBISTA_BACKUP_DIR=/b\n`,
  ],
  ['CAMBISTA_BACKUP_DIR=/a \\\n b\n', `CAMBISTA_BACKUP_DIR=/a \\\n b\nCAMBISTA_BACKUP_DIR=${DIR}\n`],
  [
    'CAMBISTA_HOST="x\nCAMBISTA_BACKUP_DIR=/a\ny"\n',
    `CAMBISTA_HOST="x\nCAMBISTA_BACKUP_DIR=/a\ny"\nCAMBISTA_BACKUP_DIR=${DIR}\n`,
  ],
  [`CAMBISTA_BACKUP_DIR='${DIR}'\n`, `CAMBISTA_BACKUP_DIR='${DIR}'\n`],
]
test('withBackupDir writes its setting and changes no other line', () => {
  for (const [before, after] of FILES) assert.equal(withBackupDir(before, DIR), after)
  assert.throws(() => withBackupDir("CAMBISTA_HOST='open", DIR), /write it there yourself/)
})

test('systemd-analyze verify accepts the unit with a backup directory', (t) => {
  if (spawnSync('systemd-analyze', ['--version']).error) return t.skip('there is no systemd-analyze')
  const file = join(temporaryDirectory(t), 'cambista.service')
  const unit = withWritableDirs(unitText(), '/mnt/my backup/ñandú')
  assert.notEqual(unit, unitText())
  writeFileSync(file, unit.replaceAll('/usr/local/bin/cambista', process.execPath))
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  const printed = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('cambista'))
  assert.deepEqual(printed, [])
})

test('the help of `service install` describes --backup-dir', async () => {
  const { out } = await runCommand(['service', 'install', '--help'])
  assert.match(out, /--backup-dir DIR/)
  assert.match(out, /With --backup-dir the service makes a backup each night/)
})
