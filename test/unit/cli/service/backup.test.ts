// `service install --backup-dir`: the setting, the unit, the directory, and the places that are refused.

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
import { unitWith, withBackupDir } from '../../../src/cli/service/backup.ts'
import { installService, uninstallService, unitText } from '../../../src/cli/service/install.ts'
import { settingsText } from '../../../src/cli/service/settings-file.ts'
import { parseEnvironmentFile } from '../../../src/cli/settings.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

const UNIT = '/etc/systemd/system/cambista.service'
const SETTINGS = '/etc/cambista/cambista.env'
const DIR = '/mnt/backup/cambista'

/** A root with the system user and a disk at /mnt/backup, whose systemd does what it is told. */
function machine(t: TestContext, { live = false } = {}) {
  const root = temporaryDirectory(t)
  const at = (path: string) => join(root, path)
  mkdirSync(at('/etc'))
  const passwd = `cambista:x:${process.getuid?.()}:${process.getgid?.()}::/:/bin/false\n`
  writeFileSync(at('/etc/passwd'), passwd)
  mkdirSync(at('/mnt/backup/lost+found'), { recursive: true, mode: 0o755 })
  writeFileSync(at('/download'), 'version 1')
  const said: string[] = []
  const ran: string[] = []
  const place = {
    root,
    live,
    run(command: string, words: readonly string[]) {
      ran.push([command, ...words].join(' '))
      return { status: 0, text: words[0] === 'is-enabled' ? 'enabled' : 'active' }
    },
    say: (line: string) => said.push(line),
  }
  const install = (backupDir?: string) => {
    said.length = 0
    ran.length = 0
    installService(place, at('/download'), { backupDir })
    return said
  }
  const settings = () => parseEnvironmentFile(readFileSync(at(SETTINGS), 'utf8'))
  return { place, at, install, settings, ran }
}

test('--backup-dir makes the directory for the service, writes it into the settings and into the unit', (t) => {
  const { install, at, settings } = machine(t)
  const said = install(DIR)
  assert.ok(said.includes(`made ${DIR}`))
  assert.ok(said.includes(`a backup is made each night into ${DIR} (CAMBISTA_BACKUP_DIR in ${SETTINGS})`))
  assert.ok(
    said.some((line) => /is on the disk of \/var\/lib\/cambista, and would be lost with it/.test(line)),
  )
  assert.ok(!said.some((line) => line.startsWith('there are no nightly backups')))
  const { uid, gid, mode } = statSync(at(DIR))
  assert.deepEqual([uid, gid, mode & 0o7777], [process.getuid?.(), process.getgid?.(), 0o700])
  assert.equal(settings().CAMBISTA_BACKUP_DIR, DIR)
  assert.equal(statSync(at(SETTINGS)).mode & 0o7777, 0o640)
  const unit = readFileSync(at(UNIT), 'utf8')
  assert.ok(unit.includes(`\nReadWritePaths=-/var/backups/cambista\nReadWritePaths="-${DIR}"\n`))
  assert.equal(unit.replace(`ReadWritePaths="-${DIR}"\n`, ''), unitText())
})

test('later installs keep it without being told, and another directory takes its place', (t) => {
  const { install, at, settings, place } = machine(t)
  install(DIR)
  const before = readFileSync(at(SETTINGS), 'utf8')
  for (const again of [install(), install(DIR)]) {
    assert.equal(again.length, 1)
    assert.match(again[0] ?? '', /^nothing to do: /)
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

test('a running service is restarted with it, after systemd has read the unit', (t) => {
  const { install, ran } = machine(t, { live: true })
  install()
  install(DIR)
  const did = ran.filter((line) => !/ is-/.test(line))
  assert.deepEqual(did, ['systemctl daemon-reload', 'systemctl restart cambista.service'])
  install(DIR)
  assert.deepEqual(
    ran.filter((line) => !/ is-/.test(line)),
    [],
  )
})

test('a disk that is mounted just there is taken, and what its file system has on it is left alone', (t) => {
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
test('a place that is no good is refused before anything is changed', (t) => {
  const { install, at } = machine(t)
  symlinkSync('mnt/backup', at('/link'))
  const before = readdirSync(at('/'), { recursive: true }).sort()
  for (const [dir, expected] of REFUSED) {
    assert.throws(() => install(dir), expected, dir)
    assert.deepEqual(readdirSync(at('/'), { recursive: true }).sort(), before, dir)
  }
})

test('a directory that the service may not enter is refused, with what to type', (t) => {
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
test('the setting gets its line, and every other setting stays as it is', () => {
  for (const [before, after] of FILES) assert.equal(withBackupDir(before, DIR), after)
  assert.throws(() => withBackupDir("CAMBISTA_HOST='open", DIR), /write it there yourself/)
})

test('systemd finds nothing to say about the unit with a directory of its own', (t) => {
  if (spawnSync('systemd-analyze', ['--version']).error) return t.skip('there is no systemd-analyze')
  const file = join(temporaryDirectory(t), 'cambista.service')
  const unit = unitWith(unitText(), '/mnt/my backup/ñandú')
  assert.notEqual(unit, unitText())
  writeFileSync(file, unit.replaceAll('/usr/local/bin/cambista', process.execPath))
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('cambista'))
  assert.deepEqual(said, [])
})

test('the command takes it, and its help says what it does', async () => {
  const { out } = await runCommand(['service', 'install', '--help'])
  assert.match(out, /--backup-dir DIR/)
  assert.match(out, /With --backup-dir the service makes a backup each night/)
})
