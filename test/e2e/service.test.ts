// Runs the service as systemd would. It is installed into a root of its own, whose /etc, /var and /usr/local/bin are
// mounted for one process. User, environment and command lines come from the unit.

import assert from 'node:assert/strict'
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseEnvironmentFile } from '../../src/cli/parse/settings.ts'
import { unitText } from '../../src/cli/service/install.ts'
import { startBank } from '../../src/demo/bank.ts'
import { currentDay } from '../../src/values/dates.ts'
import { freePort } from '../support/program.ts'
import { until } from '../support/terminal.ts'
import { directory, EXECUTABLE, run, start } from './executable.ts'

const NEEDS_ROOT = process.getuid?.() !== 0 && 'only root can install a service'
const OVER = ['/etc', '/var/lib', '/var/backups', '/usr/local/bin']
const NOBODY = { uid: 65534, gid: 65534 }

/** A machine with the service installed and these settings added. */
async function machine(t: TestContext, ...settings: string[]) {
  const root = directory(t)
  mkdirSync(join(root, 'etc'))
  const installed = await run(t, ['service', 'install', '--root', root], {
    env: { PATH: process.env.PATH ?? '' },
  })
  assert.equal(installed.code, 0, installed.err)
  const at = (path: string) => join(root, path)
  appendFileSync(at('etc/cambista/cambista.env'), settings.map((line) => `${line}\n`).join(''))
  const [, uid, gid] = /^cambista:[^:]*:(\d+):(\d+):/m.exec(readFileSync(at('etc/passwd'), 'utf8')) ?? []
  const cambista = { uid: Number(uid), gid: Number(gid) }
  const mounts = OVER.map((path) => `mount --bind ${at(path)} ${path}`).join('; ')
  const inside = ['/usr/bin/unshare', '--mount', '/bin/sh', '-ec', `${mounts}; exec "$@"`, 'sh']
  const as = (user: { uid: number; gid: number }) => [
    ...inside,
    ...`/usr/bin/setpriv --reuid=${user.uid} --regid=${user.gid} --clear-groups --no-new-privs --bounding-set=-all`.split(
      ' ',
    ),
  ]
  return { installed, at, cambista, inside, as }
}

test('the installed service serves; root and others use it from the command line', {
  skip: NEEDS_ROOT,
}, async (t) => {
  const bank = await startBank({ token: 'secret', today: () => currentDay(() => new Date()) })
  t.after(() => bank.close())
  const port = await freePort()
  const place = await machine(
    t,
    `CAMBISTA_PORT=${port}`,
    'CAMBISTA_NO_SCHEDULER=1',
    `CAMBISTA_BCCR_URL="${bank.url}"`,
    'CAMBISTA_BCCR_PACE=0',
  )
  const { at, as, inside, cambista } = place
  writeFileSync(at('etc/cambista/bccr-token'), 'secret\n')
  const executable = '/usr/local/bin/cambista'

  // Values of the unit, as systemd reads them.
  const credentials = directory(t)
  copyFileSync(at('etc/cambista/bccr-token'), join(credentials, 'bccr-token'))
  chownSync(join(credentials, 'bccr-token'), cambista.uid, cambista.gid)
  const unit = readFileSync(at('etc/systemd/system/cambista.service'), 'utf8')
  const unitValues = (key: string) =>
    [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)
  const environment = unitValues('Environment').map((line) => line.replaceAll('%S', '/var/lib').split('=', 2))
  const env = {
    ...Object.fromEntries(environment),
    ...parseEnvironmentFile(readFileSync(at('etc/cambista/cambista.env'), 'utf8')),
  } as Record<string, string>
  const commandWords = (key: string, pid = 0) =>
    unitValues(key).flatMap((line) =>
      line
        .replace('$' + '{CREDENTIALS_DIRECTORY}', credentials)
        .replace('$MAINPID', String(pid))
        .split(' ')
        .slice(1),
    )

  const TMPDIR = directory(t)
  chownSync(TMPDIR, cambista.uid, cambista.gid)
  const service = { under: as(cambista), executable, env: { ...env, TMPDIR }, cwd: '/' }
  const server = start(t, commandWords('ExecStart'), service)
  const ready = await run(t, commandWords('ExecStartPost', server.child.pid), service)
  assert.deepEqual(ready, { code: 0, out: `http://127.0.0.1:${port} is ready\n`, err: '' })
  await server.says(/ listening url=\S+ data=(\/var\/lib\/cambista) /)

  const shell = { under: inside, executable, env: {}, cwd: '/' }
  assert.equal((await run(t, ['healthcheck'], shell)).code, 0)
  const key = await run(t, ['key', 'create', 'erp'], shell)
  assert.equal(key.code, 0, key.err)
  assert.match(key.err, /^data directory: \/var\/lib\/cambista\n/)
  const synced = await run(t, ['sync', '--from', '2026-01-05', '--to', '2026-01-16', '--json'], shell)
  assert.equal(synced.code, 0, synced.err)
  assert.equal(JSON.parse(synced.out).status, 'ok')
  assert.ok(
    bank.requests.length > 0 && bank.requests.every(({ authorized }) => authorized),
    'the token was read',
  )
  const headers = { 'x-api-key': key.out.trim() }
  const requestRate = () => fetch(`http://127.0.0.1:${port}/api/v1/rates/latest?on=2026-01-16`, { headers })
  await until(async () => (await requestRate()).status === 200) // the server sees the key and the rates

  const other = await run(t, ['key', 'list'], { ...shell, under: as(NOBODY) })
  assert.equal(other.code, 1)
  const notice =
    /^cambista: not using the service's settings, because this user may not read \/etc\/cambista\/cambista\.env/
  assert.match(other.err, notice)
  const denied = await run(t, ['key', 'list', '--data-dir', '/nowhere'], { ...shell, under: as(NOBODY) })
  assert.doesNotMatch(denied.err, /settings/)

  assert.equal((await server.ended('SIGTERM')).code, 0)
  for (const name of readdirSync(at('var/lib/cambista'))) {
    const { uid, gid, mode } = statSync(at(`var/lib/cambista/${name}`))
    assert.deepEqual([uid, gid, mode & 0o077, name], [cambista.uid, cambista.gid, 0, name])
  }
  assert.deepEqual(readdirSync(TMPDIR), [])
})

test('install and uninstall can be repeated, and what root left in the data directory is handed over', {
  skip: NEEDS_ROOT,
}, async (t) => {
  const { at, cambista } = await machine(t)
  const env = { PATH: process.env.PATH ?? '' }
  const words = ['--root', at('')]
  const again = await run(t, ['service', 'install', ...words], { env })
  assert.match(
    again.out,
    /^nothing to do: cambista \S+ is installed, enabled and running\nthere are no nightly /,
  )
  chownSync(at('var/lib/cambista'), 0, 0)
  mkdirSync(at('var/lib/cambista/blobs'))
  writeFileSync(at('var/lib/cambista/blobs/a'), '')
  const repaired = await run(t, ['service', 'install', ...words], { env })
  assert.match(repaired.out, /^corrected owner and mode of \/var\/lib\/cambista\nthere are no nightly .*\n$/)
  assert.equal(statSync(at('var/lib/cambista/blobs/a')).uid, cambista.uid)
  const backups = ['--backup-dir', '/var/backups/cambista']
  const backed = await run(t, ['service', 'install', ...words, ...backups], { env })
  assert.match(backed.out, /^a backup is made each night into \/var\/backups\/cambista /)
  assert.match((await run(t, ['service', 'install', ...words], { env })).out, /^nothing to do: [^\n]*\n$/)

  const removal = await run(t, ['service', 'uninstall', ...words], { env })
  assert.match(removal.out, /^removed \/etc\/systemd\/system\/cambista\.service\nkept \/var\/lib\/cambista /)
  assert.equal((await run(t, ['service', 'install', ...words], { env })).code, 0)
})

test('commands of the service refuse without systemd, and change nothing', {
  skip: NEEDS_ROOT,
}, async (t) => {
  const empty = directory(t)
  const under = [
    '/usr/bin/unshare',
    '--mount',
    '/bin/sh',
    '-ec',
    `mount --bind ${empty} /run; exec "$@"`,
    'sh',
  ]
  const advice: [words: string[], end: RegExp][] = [
    [['service', 'install'], /--root DIR to prepare an image\n$/],
    [['service', 'uninstall'], /--root DIR removes that of an image\n$/],
    [['upgrade', EXECUTABLE], /exchange its program, and start it again \(cambista manual upgrades\)\n$/],
    [['upgrade', '--back'], /exchange its program, and start it again \(cambista manual upgrades\)\n$/],
    [['upgrade', '--forget'], /exchange its program, and start it again \(cambista manual upgrades\)\n$/],
  ]
  for (const [words, hint] of advice) {
    const end = await run(t, words, { under })
    assert.equal(end.code, 1)
    assert.match(end.err, /^cambista: systemd does not run this machine /)
    assert.match(end.err, hint)
  }
})

test('`service print` prints the unit of the archives', async (t) => {
  assert.deepEqual(await run(t, ['service', 'print']), { code: 0, out: unitText(), err: '' })
  assert.doesNotMatch(unitText(), /\{(codes|credentials|variables|flags)\}/)
  assert.ok(statSync(EXECUTABLE).size > 0)
})
