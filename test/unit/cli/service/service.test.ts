// The service is installed into a temporary root, with this user for its owners; what it runs is noted and answered.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Machine, Ran } from '../../../src/cli/host.ts'
import { installService, uninstallService, unitText } from '../../../src/cli/service/install.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

const UNIT = '/etc/systemd/system/cambista.service'
const SETTINGS = '/etc/cambista/cambista.env'
const NO_BACKUPS =
  'there are no nightly backups: sudo cambista service install --backup-dir DIR makes them (on another disk)'

type Answers = Record<string, Ran>

/** A machine without the user, whose commands succeed and are noted. */
function machine(t: TestContext, answers: Answers = {}, live = false) {
  const root = temporaryDirectory(t)
  const executable = join(root, 'download')
  writeFileSync(executable, 'version 1')
  const said: string[] = []
  const ran: string[] = []
  const place: Machine = {
    root,
    live,
    run(command, words) {
      const line = [command, ...words].join(' ')
      ran.push(line)
      const answer = answers[line] ?? answers[command] ?? { status: 0, text: '' }
      if (answer.status === 0 && /sysusers|useradd/.test(command)) addUser(root)
      return answer
    },
    say: (line) => said.push(line),
  }
  const install = (backupDir?: string) => {
    said.length = 0
    ran.length = 0
    installService(place, executable, { backupDir })
    return said
  }
  const at = (path: string) => join(root, path)
  return { root, place, executable, said, ran, install, at }
}

function addUser(root: string): void {
  mkdirSync(join(root, 'etc'), { recursive: true })
  appendFileSync(
    join(root, 'etc/passwd'),
    `cambista:x:${process.getuid?.()}:${process.getgid?.()}::/:/bin/false\n`,
  )
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8)
}

test('install makes user, directories, settings, a token file, executable and unit, and says each', (t) => {
  const { install, at, ran } = machine(t)
  const said = install()
  const made = said.filter((line) => line.startsWith('made ')).map((line) => line.slice(5))
  assert.deepEqual(made, [
    'the system user cambista',
    '/etc/cambista',
    SETTINGS,
    '/etc/cambista/bccr-token',
    '/var/lib/cambista',
    '/var/backups/cambista',
    '/usr/local/bin/cambista',
    UNIT,
  ])
  const modes = made.slice(1).map((path) => modeOf(at(path)))
  assert.deepEqual(modes, ['750', '640', '600', '700', '700', '755', '644'])
  assert.match(readFileSync(at('/etc/cambista/bccr-token'), 'utf8'), /^# Write the bank's token here, .*\n$/)
  assert.equal(readFileSync(at('/usr/local/bin/cambista'), 'utf8'), 'version 1')
  assert.equal(readFileSync(at(UNIT), 'utf8'), unitText())
  assert.equal(readlinkSync(at('/etc/systemd/system/multi-user.target.wants/cambista.service')), UNIT)
  assert.match(said.join('\n'), /cambista key create erp/)
  assert.ok(
    ran.every((line) => !line.startsWith('systemctl')),
    'nothing is started in an image',
  )
})

test('a second install changes nothing and says so; what an administrator wrote is kept', (t) => {
  const { root, install, at } = machine(t)
  install()
  appendFileSync(at(SETTINGS), 'CAMBISTA_PORT=9000\n')
  writeFileSync(at('/etc/cambista/bccr-token'), 'secret')
  const before = snapshot(root)
  const said = install()
  assert.equal(said.length, 2)
  assert.match(said[0] ?? '', /^nothing to do: cambista \S+ is installed/)
  assert.equal(said[1], NO_BACKUPS)
  assert.deepEqual(snapshot(root), before)
})

test('an empty token file of an earlier version gets the comment that there is no token yet', (t) => {
  const { install, at } = machine(t)
  install()
  const file = at('/etc/cambista/bccr-token')
  const comment = readFileSync(file, 'utf8')
  writeFileSync(file, '\n')
  assert.match(install().join('\n'), /wrote into \/etc\/cambista\/bccr-token that there is no token yet/)
  assert.deepEqual([readFileSync(file, 'utf8'), modeOf(file)], [comment, '600'])
})

test('an upgrade replaces the executable and the unit, and repairs modes, and nothing else', (t) => {
  const { install, executable, at } = machine(t)
  install()
  writeFileSync(executable, 'version 2')
  writeFileSync(at(UNIT), '[Service]\n')
  spawnSync('chmod', ['0755', at('/var/lib/cambista')])
  assert.deepEqual(
    [...install()],
    [
      'corrected owner and mode of /var/lib/cambista',
      'replaced /usr/local/bin/cambista',
      `replaced ${UNIT}`,
      NO_BACKUPS,
    ],
  )
  assert.equal(readFileSync(at('/usr/local/bin/cambista'), 'utf8'), 'version 2')
  assert.equal(readFileSync(at(UNIT), 'utf8'), unitText())
  assert.deepEqual(readdirSync(at('/usr/local/bin')), ['cambista'])
})

const systemctl = (words: string) => `systemctl ${words} cambista.service`
const DOWN = {
  [systemctl('is-enabled')]: { status: 1, text: 'disabled' },
  [systemctl('is-active')]: { status: 3, text: 'inactive' },
}
const UP = {
  [systemctl('is-enabled')]: { status: 0, text: 'enabled' },
  [systemctl('is-active')]: { status: 0, text: 'active' },
}
const QUESTIONS = Object.keys(UP)

test('on a machine it reloads systemd, enables the unit and starts it', (t) => {
  const { install, ran } = machine(t, DOWN, true)
  const said = install()
  assert.deepEqual(
    ran.filter((line) => line.startsWith('systemctl') && !QUESTIONS.includes(line)),
    ['systemctl daemon-reload', systemctl('enable'), systemctl('reset-failed'), systemctl('restart')],
  )
  assert.match(said.join('\n'), /^started cambista\.service: cambista \S+ is ready$/m)
})

test('a running service is left alone, restarted for an upgrade, and started when it is down', (t) => {
  const answers: Answers = { ...UP }
  const { install, ran, executable } = machine(t, answers, true)
  install()
  assert.match(install()[0] ?? '', /^nothing to do: .* is installed, enabled and running$/)
  assert.deepEqual(ran, QUESTIONS)

  writeFileSync(executable, 'version 2')
  assert.match(install().join('\n'), /^restarted cambista\.service: /m)
  assert.deepEqual(ran, [...QUESTIONS, systemctl('restart')])

  answers[systemctl('is-active')] = { status: 3, text: 'failed' }
  assert.match(install().join('\n'), /^started cambista\.service: /)
})

test('a service that does not start is a failure that says where to look', (t) => {
  const refusal = 'Job for cambista.service failed. See "journalctl -xeu cambista.service" for details.'
  const { install } = machine(t, { ...DOWN, [systemctl('restart')]: { status: 1, text: refusal } }, true)
  assert.throws(install, /systemctl restart cambista\.service failed: Job for .* See "journalctl/)
})

test('uninstalling stops and disables it first', (t) => {
  const { install, place, ran, said } = machine(t, UP, true)
  install()
  ran.length = 0
  said.length = 0
  uninstallService(place)
  assert.deepEqual(ran, ['systemctl disable --now cambista.service', 'systemctl daemon-reload'])
  assert.equal(said[0], 'stopped and disabled cambista.service')
})

test('directories above are for everybody, whatever the umask', (t) => {
  const { install, at } = machine(t)
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  install()
  for (const path of ['/etc/systemd/system', '/usr/local/bin', '/var/lib'])
    assert.equal(modeOf(at(path)), '755', path)
  assert.equal(modeOf(at(UNIT)), '644')
})

test('without systemd-sysusers the user is made by useradd', (t) => {
  const { install, ran, root } = machine(t, { 'systemd-sysusers': { status: undefined, text: '' } })
  install()
  assert.match(ran[1] ?? '', new RegExp(`^useradd --prefix ${root} --system --user-group .* cambista$`))
})

test('a user that cannot be made is a clear failure, before anything else is done', (t) => {
  const none = { status: undefined, text: '' }
  const missing = machine(t, { 'systemd-sysusers': none, useradd: none })
  assert.throws(
    missing.install,
    /cannot make the system user cambista: there is neither systemd-sysusers nor useradd/,
  )
  assert.deepEqual(readdirSync(missing.root), ['download'])
  const failing = machine(t, {
    'systemd-sysusers': none,
    useradd: { status: 1, text: 'useradd: cannot lock /etc/passwd' },
  })
  assert.throws(failing.install, /cannot lock \/etc\/passwd/)
})

test('uninstall removes the unit, keeps and names the rest, and does nothing twice', (t) => {
  const { install, place, said, at } = machine(t)
  install()
  said.length = 0
  uninstallService(place)
  assert.equal(existsSync(at(UNIT)), false)
  assert.deepEqual(readdirSync(at('/etc/systemd/system/multi-user.target.wants')), [])
  for (const path of ['/var/lib/cambista', SETTINGS, '/etc/cambista/bccr-token', '/usr/local/bin/cambista']) {
    assert.ok(existsSync(at(path)), path)
    assert.ok(said.join('\n').includes(dirname(path)), path)
  }
  said.length = 0
  uninstallService(place)
  assert.equal(said[0], `nothing to do: there is no ${UNIT}`)
})

test('from source, or by another user than root, it says what to do', async (t) => {
  const root = temporaryDirectory(t)
  mkdirSync(join(root, 'etc'))
  const end = await runCommand(['service', 'install', '--root', root])
  assert.equal(end.code, 1)
  const expected =
    process.getuid?.() === 0 ? /only the packed executable can be installed: npm run build/ : /with sudo/
  assert.match(end.err, expected)
  const nowhere = await runCommand(['service', 'uninstall', '--root', '/none'])
  assert.match(
    nowhere.err,
    process.getuid?.() === 0 ? /there is no system in \/none: check --root/ : /with sudo/,
  )
})

/** Each file with its mode and the times of its content and of everything else about it. */
function snapshot(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { mode, mtimeMs, ctimeMs } = lstatSync(join(root, name))
    return [name, mode, mtimeMs, ctimeMs].join(' ')
  })
}

test('with a database in the settings the unit lets it write contents once they are mounted, and backups are not ours', (t) => {
  const { install, at } = machine(t)
  install()
  appendFileSync(
    at(SETTINGS),
    'CAMBISTA_DATABASE=postgres://cambista@db/cambista\nCAMBISTA_BLOBS=/mnt/cambista\n',
  )
  const said = install()
  assert.ok(!said.includes(NO_BACKUPS), said.join('\n'))
  const unit = readFileSync(at(UNIT), 'utf8').split('\n')
  assert.ok(unit.includes('ReadWritePaths="-/mnt/cambista"'))
  assert.ok(unit.indexOf('RequiresMountsFor="/mnt/cambista"') < unit.indexOf('[Service]'))
  assert.ok(unit.includes('RequiresMountsFor="/mnt/cambista"'))
  assert.throws(() => install('/mnt/backup'), {
    code: 'usage',
    message: /--backup-dir is for a data directory/,
  })
})

test('with a bucket in the settings the unit is as it was', (t) => {
  const { install, at } = machine(t)
  install()
  appendFileSync(at(SETTINGS), 'CAMBISTA_DATABASE_FILE=/etc/cambista/db\nCAMBISTA_BLOBS=s3://contents\n')
  install()
  assert.equal(readFileSync(at(UNIT), 'utf8'), unitText())
})
