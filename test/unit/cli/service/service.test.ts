// `service install` and `uninstall` in a temporary root that this user owns. Commands are recorded, not run.

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
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { CommandResult, Machine } from '../../../../src/cli/host.ts'
import { currentUnit, installService, unitText } from '../../../../src/cli/service/install.ts'
import { PACKAGE_EXECUTABLE, PACKAGE_UNIT_FILE, TOKENS } from '../../../../src/cli/service/service-names.ts'
import { uninstallService } from '../../../../src/cli/service/uninstall.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const UNIT = '/etc/systemd/system/cambista.service'
const SETTINGS = '/etc/cambista/cambista.env'
const NO_BACKUPS =
  'there are no nightly backups: sudo cambista service install --backup-dir DIR makes them (on another disk)'

type Answers = Record<string, CommandResult>

/** A machine without the system user. Records the commands and returns `answers`, or success. */
function machine(t: TestContext, answers: Answers = {}, live = false) {
  const root = temporaryDirectory(t)
  const executable = join(root, 'download')
  writeFileSync(executable, 'version 1')
  const printed: string[] = []
  const commands: string[] = []
  const place: Machine = {
    root,
    live,
    run(command, words) {
      const line = [command, ...words].join(' ')
      commands.push(line)
      const answer = answers[line] ?? answers[command] ?? { status: 0, text: '' }
      if (answer.status === 0 && /sysusers|useradd/.test(command)) addUser(root)
      return answer
    },
    print: (line) => printed.push(line),
  }
  const install = (backupDir?: string) => {
    printed.length = 0
    commands.length = 0
    installService(place, executable, { backupDir })
    return printed
  }
  const at = (path: string) => join(root, path)
  return { root, place, executable, printed, commands, install, at }
}

function addUser(root: string): void {
  mkdirSync(join(root, 'etc'), { recursive: true })
  appendFileSync(
    join(root, 'etc/passwd'),
    `cambista:x:${process.getuid?.()}:${process.getgid?.()}::/:/bin/false\n`,
  )
}

function fileMode(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8)
}

test('`service install` creates and prints user, directories, settings, token file, executable and unit', (t) => {
  const { install, at, commands } = machine(t)
  const printed = install()
  const createdPaths = printed.filter((line) => line.startsWith('made ')).map((line) => line.slice(5))
  assert.deepEqual(createdPaths, [
    'the system user cambista',
    '/etc/cambista',
    SETTINGS,
    ...TOKENS.map(({ file }) => file),
    '/var/lib/cambista',
    '/var/backups/cambista',
    '/usr/local/bin/cambista',
    UNIT,
  ])
  const modes = createdPaths.slice(1).map((path) => fileMode(at(path)))
  assert.deepEqual(modes, ['750', '640', ...TOKENS.map(() => '600'), '700', '700', '755', '644'])
  assert.match(readFileSync(at('/etc/cambista/bccr-token'), 'utf8'), /^# Write the bank's token here, .*\n$/)
  assert.equal(readFileSync(at('/usr/local/bin/cambista'), 'utf8'), 'version 1')
  assert.equal(readFileSync(at(UNIT), 'utf8'), unitText())
  assert.equal(readlinkSync(at('/etc/systemd/system/multi-user.target.wants/cambista.service')), UNIT)
  assert.match(printed.join('\n'), /cambista key create erp/)
  assert.ok(
    commands.every((line) => !line.startsWith('systemctl')),
    'nothing is started outside of a live machine',
  )
})

test('each credential of the unit is a file that `service install` makes', (t) => {
  const { install, at } = machine(t)
  install()
  const files = [...readFileSync(at(UNIT), 'utf8').matchAll(/^LoadCredential=([^:]+):(.*)$/gm)]
  assert.deepEqual(
    files.map(([, name]) => name),
    ['bccr-token', 'banxico-token'],
  )
  for (const [, , file = ''] of files) assert.equal(fileMode(at(file)), '600', file)
})

test('a second `service install` changes nothing, nor the edits of an administrator', (t) => {
  const { root, install, at } = machine(t)
  install()
  appendFileSync(at(SETTINGS), 'CAMBISTA_PORT=9000\n')
  writeFileSync(at('/etc/cambista/bccr-token'), 'secret')
  const before = snapshot(root)
  const printed = install()
  assert.equal(printed.length, 2)
  assert.match(printed[0] ?? '', /^nothing to do: cambista \S+ is installed/)
  assert.equal(printed[1], NO_BACKUPS)
  assert.deepEqual(snapshot(root), before)
})

test('`service install` writes its comment into an empty token file of an earlier version', (t) => {
  const { install, at } = machine(t)
  install()
  const file = at('/etc/cambista/bccr-token')
  const comment = readFileSync(file, 'utf8')
  writeFileSync(file, '\n')
  assert.match(install().join('\n'), /wrote into \/etc\/cambista\/bccr-token that there is no token yet/)
  assert.deepEqual([readFileSync(file, 'utf8'), fileMode(file)], [comment, '600'])
})

test('an upgrade replaces the executable and the unit, and repairs modes', (t) => {
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
const SERVICE_DOWN = {
  [systemctl('is-enabled')]: { status: 1, text: 'disabled' },
  [systemctl('is-active')]: { status: 3, text: 'inactive' },
}
const SERVICE_UP = {
  [systemctl('is-enabled')]: { status: 0, text: 'enabled' },
  [systemctl('is-active')]: { status: 0, text: 'active' },
}
const STATE_QUERIES = Object.keys(SERVICE_UP)

test('`service install` on a live machine reloads systemd, enables the unit and starts it', (t) => {
  const { install, commands } = machine(t, SERVICE_DOWN, true)
  const printed = install()
  assert.deepEqual(
    commands.filter((line) => line.startsWith('systemctl') && !STATE_QUERIES.includes(line)),
    ['systemctl daemon-reload', systemctl('enable'), systemctl('reset-failed'), systemctl('restart')],
  )
  assert.match(printed.join('\n'), /^started cambista\.service: cambista \S+ is ready$/m)
})

test('`service install` restarts a running service for an upgrade only, and starts a stopped one', (t) => {
  const answers: Answers = { ...SERVICE_UP }
  const { install, commands, executable } = machine(t, answers, true)
  install()
  assert.match(install()[0] ?? '', /^nothing to do: .* is installed, enabled and running$/)
  assert.deepEqual(commands, STATE_QUERIES)

  writeFileSync(executable, 'version 2')
  assert.match(install().join('\n'), /^restarted cambista\.service: /m)
  assert.deepEqual(commands, [...STATE_QUERIES, systemctl('restart')])

  answers[systemctl('is-active')] = { status: 3, text: 'failed' }
  assert.match(install().join('\n'), /^started cambista\.service: /)
})

test('`service install` fails with the message of systemctl when the service does not start', (t) => {
  const refusal = 'Job for cambista.service failed. See "journalctl -xeu cambista.service" for details.'
  const { install } = machine(
    t,
    { ...SERVICE_DOWN, [systemctl('restart')]: { status: 1, text: refusal } },
    true,
  )
  assert.throws(install, /systemctl restart cambista\.service failed: Job for .* See "journalctl/)
})

test('`service uninstall` first stops and disables the service', (t) => {
  const { install, place, commands, printed } = machine(t, SERVICE_UP, true)
  install()
  commands.length = 0
  printed.length = 0
  uninstallService(place)
  assert.deepEqual(commands, ['systemctl disable --now cambista.service', 'systemctl daemon-reload'])
  assert.equal(printed[0], 'stopped and disabled cambista.service')
})

test('`service install` gives parent directories mode 755 under any umask', (t) => {
  const { install, at } = machine(t)
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  install()
  for (const path of ['/etc/systemd/system', '/usr/local/bin', '/var/lib'])
    assert.equal(fileMode(at(path)), '755', path)
  assert.equal(fileMode(at(UNIT)), '644')
})

test('`service install` without systemd-sysusers creates the user by useradd', (t) => {
  const { install, commands, root } = machine(t, { 'systemd-sysusers': { status: undefined, text: '' } })
  install()
  assert.match(commands[1] ?? '', new RegExp(`^useradd --prefix ${root} --system --user-group .* cambista$`))
})

test('`service install` that cannot create the user fails before any other change', (t) => {
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

test('`service uninstall` removes the unit and prints the remaining paths; a second one does nothing', (t) => {
  const { install, place, printed, at } = machine(t)
  install()
  printed.length = 0
  uninstallService(place)
  assert.equal(existsSync(at(UNIT)), false)
  assert.deepEqual(readdirSync(at('/etc/systemd/system/multi-user.target.wants')), [])
  for (const path of ['/var/lib/cambista', SETTINGS, '/etc/cambista/bccr-token', '/usr/local/bin/cambista']) {
    assert.ok(existsSync(at(path)), path)
    assert.ok(printed.join('\n').includes(dirname(path)), path)
  }
  printed.length = 0
  uninstallService(place)
  assert.equal(printed[0], `nothing to do: there is no ${UNIT}`)
})

test('`service install` from source or without root fails with the command that helps', async (t) => {
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
    process.getuid?.() === 0 ? /there is no directory etc in \/none: check --root/ : /with sudo/,
  )
})

/** Returns each file with its mode, mtime and ctime. */
function snapshot(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { mode, mtimeMs, ctimeMs } = lstatSync(join(root, name))
    return [name, mode, mtimeMs, ctimeMs].join(' ')
  })
}

test('`service print` prints the unit that is installed, or that of the package', (t) => {
  const { install, at } = machine(t)
  const warnings: string[] = []
  const printed = () => currentUnit(at('/'), (text) => warnings.push(text))
  assert.equal(printed(), unitText())
  mkdirSync(at('/mnt'))
  install('/mnt/backup')
  assert.equal(printed(), readFileSync(at(UNIT), 'utf8'))
  assert.match(printed(), /^ReadWritePaths="-\/mnt\/backup"$/m)
  assert.deepEqual(warnings, [])
  rmSync(at(SETTINGS))
  mkdirSync(at(SETTINGS))
  assert.equal(printed(), unitText())
  assert.match(warnings.join(), /^the unit lacks the directories of .*, which cannot be read: EISDIR/)
  mkdirSync(dirname(at(PACKAGE_UNIT_FILE)), { recursive: true })
  writeFileSync(at(PACKAGE_UNIT_FILE), '')
  assert.equal(printed(), unitText(PACKAGE_EXECUTABLE))
})

test('with a database in the settings the unit mounts and writes the blobs; --backup-dir is refused', (t) => {
  const { install, at } = machine(t)
  install()
  appendFileSync(
    at(SETTINGS),
    'CAMBISTA_DATABASE=postgres://cambista@db/cambista\nCAMBISTA_BLOBS=/mnt/cambista\n',
  )
  const printed = install()
  assert.ok(!printed.includes(NO_BACKUPS), printed.join('\n'))
  const unit = readFileSync(at(UNIT), 'utf8').split('\n')
  assert.ok(unit.includes('ReadWritePaths="-/mnt/cambista"'))
  assert.ok(unit.indexOf('RequiresMountsFor="/mnt/cambista"') < unit.indexOf('[Service]'))
  assert.ok(unit.includes('RequiresMountsFor="/mnt/cambista"'))
  assert.throws(() => install('/mnt/backup'), {
    code: 'usage',
    message: /--backup-dir is for a data directory/,
  })
})

test('a bucket in the settings does not change the unit', (t) => {
  const { install, at } = machine(t)
  install()
  appendFileSync(at(SETTINGS), 'CAMBISTA_DATABASE_FILE=/etc/cambista/db\nCAMBISTA_BLOBS=s3://contents\n')
  install()
  assert.equal(readFileSync(at(UNIT), 'utf8'), unitText())
})
