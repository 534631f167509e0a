// The Debian package in roots of Debian 12 and 13, without a terminal: it is installed, run, upgraded, removed, purged.
// In other roots it replaces an installation by `service install`. No systemd runs in a root: see systemctl.sh.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { directory, EXECUTABLE, run, serve } from '../e2e/executable.ts'
import { bankSettings, makeClient, useService } from './client.ts'
import { buildNext, foreignPackage, type NextBuild, ownPackage, ownVersion } from './packages.ts'
import { listPaths, makeRoot } from './roots.ts'

const SUITES = ['bookworm', 'trixie']
const WITH_SYSTEMD = ['systemd', 'libatomic1']
const WITHOUT_SYSTEMD = ['systemd-standalone-sysusers', 'libatomic1']
const UNIT = 'etc/systemd/system/cambista.service'
const WANTED = 'etc/systemd/system/multi-user.target.wants/cambista.service'

const deb = await ownPackage()
let builtNext: Promise<NextBuild> | undefined

function nextBuild(): Promise<NextBuild> {
  builtNext ??= buildNext()
  return builtNext
}

for (const suite of SUITES) {
  test(`${suite}: the package installs where no systemd runs, and a purge leaves the data alone`, async (t) => {
    const root = await makeRoot(t, suite, suite === 'trixie' ? WITHOUT_SYSTEMD : WITH_SYSTEMD)
    const before = new Set(listPaths(root.at('')))
    const installed = await root.install(deb)
    assert.equal(installed.code, 0, installed.text)
    assert.match(installed.text, /^cambista: enabled, but not started: systemd does not run this machine$/m)
    assert.match(
      installed.text,
      /^Next:\n {2}sudo cambista key create erp .*\n {2}sudo cambista healthcheck /m,
    )
    const [, uid, gid] = /^cambista:[^:]*:(\d+):(\d+):/m.exec(root.read('etc/passwd')) ?? []
    const modes = (path: string) => {
      const { uid, gid, mode } = statSync(root.at(path))
      return [uid, gid, (mode & 0o7777).toString(8)]
    }
    assert.deepEqual(modes('etc/cambista'), [0, Number(gid), '750'])
    assert.deepEqual(modes('etc/cambista/cambista.env'), [0, Number(gid), '640'])
    assert.deepEqual(modes('etc/cambista/bccr-token'), [0, 0, '600'])
    assert.deepEqual(modes('var/backups/cambista'), [Number(uid), Number(gid), '700'])
    assert.deepEqual(modes('var/lib/cambista'), [Number(uid), Number(gid), '700'])
    assert.equal(root.read('etc/cambista/cambista.env'), root.read('usr/share/cambista/cambista.env'))
    assert.match(readlinkSync(root.at(WANTED)), /^(\/usr)?\/lib\/systemd\/system\/cambista\.service$/)
    const verified = await root.run('systemd-analyze', 'verify', '/usr/lib/systemd/system/cambista.service')
    if (suite !== 'trixie') assert.doesNotMatch(verified.text, /cambista/)
    assert.match(await root.runOrFail('cambista', '--version'), new RegExp(`^cambista ${ownVersion()},`))
    await root.runOrFail('cambista', 'key', 'create', 'erp')
    assert.deepEqual(modes('var/lib/cambista/cambista.db'), [Number(uid), Number(gid), '600'])

    await root.runOrFail('dpkg', '--purge', 'cambista')
    assert.ok(existsSync(root.at('var/lib/cambista/cambista.db')))
    const remainder = listPaths(root.at('')).filter((path) => !before.has(path))
    const ofSystem =
      /^(tests|proc|run|var\/(lib\/(apt|dpkg)|log|cache|run))(\/|$)|^etc\/([^/]+-|g?shadow|\.pwd\.lock)$/
    const ofData = /^var\/(lib|backups)\/cambista(\/|$)/
    assert.deepEqual(
      remainder.filter((path) => !ofSystem.test(path) && !ofData.test(path)),
      [],
    )
  })

  test(`${suite}: the package serves, is upgraded with a migration, and a purge leaves the data`, async (t) => {
    const root = await makeRoot(t, suite, WITH_SYSTEMD)
    root.bootSystemd()
    const settings = await bankSettings(t)
    mkdirSync(root.at('etc/cambista'))
    writeFileSync(root.at('etc/cambista/cambista.env'), settings.text)
    const installed = await root.install(deb)
    assert.equal(installed.code, 0, installed.text + root.log())
    assert.match(installed.text, /^cambista: installed$/m, root.log())
    assert.equal(root.read('etc/cambista/cambista.env'), settings.text)
    const verified = await root.run('systemd-analyze', 'verify', '/usr/lib/systemd/system/cambista.service')
    assert.doesNotMatch(verified.text, /cambista/)
    const client = await useService(root, settings.url)
    assert.deepEqual(await client.look(), client.expected)
    const refused = await root.run('cambista', 'service', 'install')
    assert.match(refused.text, /^cambista: the package cambista owns the service: sudo apt install /m)

    const next = (await nextBuild()).package
    const upgraded = await root.install(next)
    assert.equal(upgraded.code, 0, upgraded.text + root.log())
    assert.doesNotMatch(upgraded.text, /does not start|^Next:/m, root.log())
    assert.doesNotMatch(
      await root.runOrFail('cambista', '--version'),
      new RegExp(`^cambista ${ownVersion()},`),
    )
    assert.deepEqual(await client.look(), client.expected)
    assert.ok(
      listPaths(root.at('var/lib/cambista')).some((name) => /^cambista\.db\.v\d+-.*\.bak$/.test(name)),
    )

    const removal = await root.runOrFail('dpkg', `--remove`, 'cambista')
    assert.match(removal, /^cambista: kept data, backups and settings$/m)
    await assert.rejects(fetch(`${settings.url}/healthz`), /fetch failed/)
    assert.equal(root.read('etc/cambista/cambista.env'), settings.text)
    const again = await root.install(next)
    assert.equal(again.code, 0, again.text + root.log())
    assert.deepEqual(await client.look(), client.expected)

    const purged = await root.runOrFail('dpkg', '--purge', 'cambista')
    assert.match(purged, /^cambista: kept the data in \/var\/lib\/cambista, .*, and the user cambista$/m)
    assert.equal(existsSync(root.at('etc/cambista')), false)
    const server = await serve(t, root.at('var/lib/cambista'), { executable: (await nextBuild()).executable })
    assert.deepEqual(await client.look(server.url), client.expected)
  })

  test(`${suite}: the package takes over an installation by \`service install\``, async (t) => {
    const root = await makeRoot(t, suite, WITH_SYSTEMD)
    copyFileSync(EXECUTABLE, root.at('tests/cambista'))
    const path = { env: { PATH: process.env.PATH ?? '' } }
    const service = await run(t, ['service', 'install', '--root', root.at('')], path)
    assert.equal(service.code, 0, service.err)
    const words = ['service', 'install', '--root', root.at(''), '--backup-dir', '/srv/backups']
    mkdirSync(root.at('srv'), { recursive: true })
    assert.equal((await run(t, words, path)).code, 0)
    root.bootSystemd()
    const settings = await bankSettings(t)
    root.addSettings(...settings.text.trim().split('\n').slice(1))
    const before = root.read('etc/cambista/cambista.env')
    await root.runOrFail('systemctl', 'start', 'cambista.service')
    const client = await useService(root, settings.url)

    const installed = await root.install(deb)
    assert.equal(installed.code, 0, installed.text + root.log())
    assert.match(installed.text, /^cambista: took over the service of \/usr\/local\/bin\/cambista, /m)
    assert.deepEqual(await client.look(), client.expected)
    assert.equal(root.read('etc/cambista/cambista.env'), before)
    const pid = root.read('run/cambista.pid').trim()
    assert.equal(readlinkSync(`/proc/${pid}/exe`), root.at('usr/bin/cambista'))
    assert.match(readlinkSync(root.at(WANTED)), /lib\/systemd\/system\/cambista\.service$/)
    assert.deepEqual([existsSync(root.at(UNIT)), existsSync(root.at(`${UNIT}.previous`))], [false, true])
    assert.match(
      root.read(`${UNIT}.d/replaced-unit.conf`),
      /^\[Service\]\nReadWritePaths="-\/srv\/backups"$/m,
    )
    assert.equal(readlinkSync(root.at('usr/local/bin/cambista')), '/usr/bin/cambista')
    assert.doesNotMatch((await root.run('cambista', 'doctor')).text, /^FINDING {2}installation/m)

    // An older executable knows nothing of the package and installs itself anew.
    await root.runOrFail('cp', '/tests/cambista', '/usr/local/bin/cambista.new')
    await root.runOrFail('mv', '/usr/local/bin/cambista.new', '/usr/local/bin/cambista')
    copyFileSync(root.at(`${UNIT}.previous`), root.at(UNIT))
    const doctor = (await root.run('cambista', 'doctor')).text
    assert.equal(doctor.match(/^FINDING {2}installation: /gm)?.length, 2, doctor)
    const reconfigured = await root.runOrFail('dpkg-reconfigure', 'cambista')
    assert.match(reconfigured, /^cambista: took over the service of /m)
    assert.doesNotMatch((await root.run('cambista', 'doctor')).text, /^FINDING {2}installation/m)
    assert.deepEqual(await client.look(), client.expected)

    await root.runOrFail('dpkg', '--purge', 'cambista')
    assert.equal(lstatSync(root.at('usr/local/bin/cambista'), { throwIfNoEntry: false }), undefined)
    assert.ok(existsSync(root.at('var/lib/cambista/cambista.db')))
  })

  test(`${suite}: the package is installed with a message if the service does not start`, async (t) => {
    const root = await makeRoot(t, suite, WITH_SYSTEMD)
    root.bootSystemd()
    mkdirSync(root.at('etc/cambista'))
    writeFileSync(root.at('etc/cambista/cambista.env'), 'CAMBISTA_PROT=8081\n')
    const { code, text } = await root.install(deb)
    assert.equal(code, 0, text)
    assert.match(text, /^cambista: installed, but cambista\.service does not start: journalctl -u cambista /m)
    assert.match(root.log(), /CAMBISTA_PROT/)
    assert.match(await root.runOrFail('dpkg', '--status', 'cambista'), /^Status: install ok installed$/m)
  })

  test(`${suite}: the package refuses another unit in /etc, and changes nothing`, async (t) => {
    const root = await makeRoot(t, suite, WITH_SYSTEMD)
    const unit = '[Service]\nExecStart=/opt/cambista serve\n'
    writeFileSync(root.at(UNIT), unit)
    const { code, text } = await root.install(deb)
    assert.notEqual(code, 0)
    assert.match(
      text,
      /^cambista: \/etc\/systemd\/system\/cambista\.service is not of cambista service install: /m,
    )
    assert.equal(root.read(UNIT), unit)
    assert.equal(existsSync(root.at('usr/bin/cambista')), false)
    assert.equal(existsSync(root.at('etc/cambista')), false)
  })
}

test('lintian has no error and no warning about the package, and man none about its page', async (t) => {
  const lintian = spawnSync('lintian', ['--pedantic', '--allow-root', '--fail-on', 'error,warning', deb], {
    encoding: 'utf8',
  })
  assert.equal(lintian.status, 0, lintian.error?.message ?? lintian.stdout + lintian.stderr)
  assert.equal(lintian.stdout, '')
  const folder = directory(t)
  assert.equal(spawnSync('dpkg-deb', ['-x', deb, folder]).status, 0)
  const page = join(folder, 'usr/share/man/man1/cambista.1.gz')
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8', MANROFFSEQ: '', MANWIDTH: '80' }
  const words = ['--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', page]
  const man = spawnSync('man', words, { encoding: 'utf8', env })
  assert.deepEqual([man.status, man.stderr], [0, ''], String(man.error))
})

test('the package of the other machine kind serves under qemu: an upload and a rate', async (t) => {
  const foreign = await foreignPackage()
  if (foreign === undefined) return t.skip('npm run test:release names the other executable')
  const folder = directory(t)
  assert.equal(spawnSync('dpkg-deb', ['-x', foreign, folder]).status, 0)
  const machines: string = new URL('../../src/packaging/machines.mjs', import.meta.url).href
  const { runnerWords }: { runnerWords(arch?: string): string[] | undefined } = await import(machines)
  const under = runnerWords(process.env.CAMBISTA_FOREIGN_ARCH)
  assert.ok(under, 'this machine cannot run it: node build.mjs --missing')
  const how = { executable: join(folder, 'usr/bin/cambista'), under }
  const data = join(folder, 'data')
  const bank = await bankSettings(t)
  const client = await makeClient(async (...words) => {
    const end = await run(t, [...words, '--data-dir', data], { ...how, env: bank.variables })
    assert.equal(end.code, 0, end.err)
    return end.out
  })
  const { url } = await serve(t, data, how)
  await client.upload(url)
  assert.deepEqual(await client.look(url), client.expected)
})
