// The Debian package without its executable: its files, its scripts, and the values that they share with the program.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { unitText } from '../../../src/cli/service/install.ts'
import { TOKENS } from '../../../src/cli/service/service-names.ts'
import { settingsText } from '../../../src/cli/service/settings-file.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

type PackageFile = { path: string; mode: number; content: string | Uint8Array }
type Deb = {
  packageFiles(parts: { version: string; epoch: number; licenses: string }): Promise<PackageFile[]>
  maintainerScripts(version: string): Record<string, string>
  controlText(parts: { version: string; arch: string; kibibytes: number }): string
}

const MODULE = new URL('../../../src/packaging/deb.mjs', import.meta.url).href
const { packageFiles, maintainerScripts, controlText }: Deb = await import(MODULE)
const PARTS = { version: '1.2.3', epoch: Date.UTC(2026, 0, 31) / 1000, licenses: 'licences of others\n' }
const SCRIPTS = maintainerScripts(PARTS.version)

async function readFiles() {
  return new Map((await packageFiles(PARTS)).map(({ path, content }) => [path, content]))
}

test('the package has these files, for all to read', async () => {
  const files = await packageFiles(PARTS)
  assert.deepEqual(files.map(({ path }) => path).sort(), [
    '/usr/lib/systemd/system/cambista.service',
    '/usr/lib/sysusers.d/cambista.conf',
    '/usr/share/bash-completion/completions/cambista',
    '/usr/share/cambista/cambista.env',
    '/usr/share/doc/cambista/CHANGELOG.md.gz',
    '/usr/share/doc/cambista/THIRD-PARTY-LICENSES.gz',
    '/usr/share/doc/cambista/changelog.gz',
    '/usr/share/doc/cambista/copyright',
    '/usr/share/lintian/overrides/cambista',
    '/usr/share/man/man1/cambista.1.gz',
    '/usr/share/zsh/vendor-completions/_cambista',
  ])
  assert.deepEqual(
    files.filter(({ mode }) => mode !== 0o644),
    [],
  )
})

test('the package leaves /etc to its scripts', async () => {
  assert.deepEqual(
    (await packageFiles(PARTS)).filter(({ path }) => path.startsWith('/etc')),
    [],
  )
})

test('control names version, kind and what the executable needs', () => {
  const control = controlText({ version: '1.2.3', arch: 'arm64', kibibytes: 5 })
  const fields = new Map([...control.matchAll(/^([\w-]+): (.*)$/gm)].map(([, name, value]) => [name, value]))
  assert.equal(fields.get('Package'), 'cambista')
  assert.equal(fields.get('Version'), '1.2.3')
  assert.equal(fields.get('Architecture'), 'arm64')
  assert.equal(fields.get('Installed-Size'), '5')
  const needed = ['libc6 (>= 2.34)', 'libatomic1', 'systemd | systemd-standalone-sysusers']
  const depends = fields.get('Depends')?.split(', ') ?? []
  assert.deepEqual(
    needed.filter((one) => !depends.includes(one)),
    [],
  )
  assert.match(controlText({ version: '1', arch: 'x64', kibibytes: 1 }), /^Architecture: amd64$/m)
})

test('the unit of the package is that of `service install`, with the other executable', async () => {
  const unit = (await readFiles()).get('/usr/lib/systemd/system/cambista.service')
  assert.equal(unit, unitText().replaceAll('/usr/local/bin/cambista', '/usr/bin/cambista'))
  assert.match(String(unit), /^ExecStart=\/usr\/bin\/cambista serve /m)
})

test('the packaged settings are those of `service install`', async () => {
  assert.equal((await readFiles()).get('/usr/share/cambista/cambista.env'), settingsText())
})

test('the compressed files have neither name nor time', async () => {
  const gzipped = (await packageFiles(PARTS)).filter(({ path }) => path.endsWith('.gz'))
  assert.equal(gzipped.length, 4)
  for (const { path, content } of gzipped) {
    assert.ok(content instanceof Uint8Array)
    assert.deepEqual([...content.subarray(3, 9)], [0, 0, 0, 0, 0, 2], path) // flags, time, best compression
  }
  const changelog = (await readFiles()).get('/usr/share/doc/cambista/changelog.gz') as Uint8Array
  const text = gunzipSync(changelog).toString()
  assert.match(text, /^cambista \(1\.2\.3\) .*\n\n {2}\* /)
  assert.match(text, /> {2}Sat, 31 Jan 2026 00:00:00 \+0000\n$/)
})

for (const [name, text] of Object.entries(SCRIPTS)) {
  test(`${name} is a script of sh without a placeholder`, () => {
    const checked = spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' })
    assert.equal(checked.status, 0, checked.stderr)
    assert.match(text, /^#!\/bin\/sh\n# /)
    assert.doesNotMatch(text, /@[A-Z_]+@|undefined/)
  })
}

test('postinst makes each file that the unit loads as a credential, and postrm purges it', () => {
  const files = [...unitText().matchAll(/^LoadCredential=[^:]+:(.*)$/gm)].map(([, file = '']) => file)
  assert.deepEqual(
    files,
    TOKENS.map(({ file }) => file),
  )
  const calls = [...(SCRIPTS.postinst ?? '').matchAll(/^ensure_token (\S+) /gm)].map(([, file]) => file)
  assert.deepEqual(calls, files)
  const purgedFiles = /^ {2}rm -f (.*)$/m.exec(SCRIPTS.postrm ?? '')?.[1] ?? ''
  for (const file of files) assert.ok(purgedFiles.split(' ').includes(file), file)
})

test('ensure_token makes a file for root alone, and changes none that has a token', (t) => {
  const folder = temporaryDirectory(t)
  const body = /^ensure_token\(\) \{\n[\s\S]*?^\}$/m.exec(SCRIPTS.postinst ?? '')?.[0] ?? ''
  writeFileSync(join(folder, 'empty'), ' \n')
  writeFileSync(join(folder, 'token'), 'secret')
  const calls = ['missing', 'empty', 'token'].map((name) => `ensure_token ${join(folder, name)} '# none'`)
  const { status, stderr } = spawnSync('sh', ['-ec', [body, ...calls].join('\n')], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const texts = ['missing', 'empty', 'token'].map((name) => readFileSync(join(folder, name), 'utf8'))
  assert.deepEqual(texts, ['# none\n', '# none\n', 'secret'])
})

test('postinst takes over a unit of `service install` once, and no other', (t) => {
  const folder = temporaryDirectory(t)
  const [unit, program, wanted] = ['unit', 'program', 'wanted'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const functions = (SCRIPTS.postinst ?? '')
    .split('\ncase "$1" in')[0]
    ?.replaceAll('/etc/systemd/system/cambista.service', unit)
    .replaceAll('/etc/systemd/system/multi-user.target.wants/cambista.service', wanted)
    .replaceAll('/usr/local/bin/cambista', program)
  const runTakeover = () => {
    const script = `${functions}\ntake_over; echo "taken=$is_taken disabled=$is_disabled"`
    return spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout.trim().split('\n').at(-1)
  }
  writeFileSync(program, '#!/bin/sh\necho 1.0.0\n', { mode: 0o755 })
  writeFileSync(unit, '[Service]\nExecStart=/usr/bin/cambista serve\n')
  assert.equal(runTakeover(), 'taken= disabled=')
  assert.ok(existsSync(unit), 'a unit of the administrator stays')
  writeFileSync(unit, unitText().replaceAll('/usr/local/bin/cambista', program))
  symlinkSync(unit, wanted)
  assert.equal(runTakeover(), 'taken=yes disabled=')
  assert.deepEqual(readdirSync(folder).sort(), ['program', 'program.previous', 'unit.previous', 'wanted'])
  assert.deepEqual(
    [program, wanted].map((path) => readlinkSync(path)),
    ['/usr/bin/cambista', '/usr/lib/systemd/system/cambista.service'],
  )
  assert.equal(runTakeover(), 'taken= disabled=', 'repeated')
})

test('a purge leaves settings and tokens to a unit of `service install`', (t) => {
  const folder = temporaryDirectory(t)
  const script = (SCRIPTS.postrm ?? '').replaceAll('/etc/', `${folder}/`).replaceAll('/usr/', `${folder}/`)
  const purge = () =>
    spawnSync('sh', ['-c', script, 'postrm', 'purge'], {
      env: { PATH: `${folder}/bin:${process.env.PATH}` },
      encoding: 'utf8',
    })
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/deb-systemd-helper'), '#!/bin/sh\n', { mode: 0o755 })
  mkdirSync(join(folder, 'cambista'))
  mkdirSync(join(folder, 'systemd/system'), { recursive: true })
  writeFileSync(join(folder, 'cambista/cambista.env'), '')
  writeFileSync(join(folder, 'systemd/system/cambista.service'), unitText())
  assert.match(purge().stdout, /^cambista: kept settings and tokens, for /)
  assert.deepEqual(readdirSync(join(folder, 'cambista')), ['cambista.env'])
  rmSync(join(folder, 'systemd/system/cambista.service'))
  const settings =
    'CAMBISTA_DATA_DIR=/srv/data\nCAMBISTA_BACKUP_DIR="/mnt/sets"\nCAMBISTA_BLOBS=s3://bucket/contents\n'
  writeFileSync(join(folder, 'cambista/cambista.env'), settings)
  assert.equal(
    purge().stdout,
    'cambista: kept the data in /srv/data, contents of documents in s3://bucket/contents, backups in /mnt/sets, and the user cambista\n',
  )
  assert.equal(existsSync(join(folder, 'cambista')), false)
  const { stdout } = purge()
  assert.match(
    stdout,
    /^cambista: kept the data in \/var\/lib\/cambista, backups in \/var\/backups\/cambista, /,
  )
})

test('preinst refuses a unit in /etc that `service install` did not write, and one of a newer version', (t) => {
  const folder = temporaryDirectory(t)
  mkdirSync(join(folder, 'bin'))
  const unit = join(folder, 'cambista.service')
  const program = join(folder, 'cambista')
  // Compares as dpkg does, which is not on every machine.
  const dpkg = `#!/bin/sh\n[ "$1" = --compare-versions ] && [ "$3" = gt ] && [ "$2" != "$4" ] &&
  [ "$(printf '%s\\n' "$2" "$4" | sort -V | tail -n 1)" = "$2" ]\n`
  writeFileSync(join(folder, 'bin/dpkg'), dpkg, { mode: 0o755 })
  const script = (SCRIPTS.preinst ?? '')
    .replaceAll('/etc/systemd/system/cambista.service', unit)
    .replaceAll('/usr/local/bin/cambista', program)
  const preinst = () => {
    const env = { PATH: `${folder}/bin:${process.env.PATH}` }
    return spawnSync('sh', ['-c', script, 'preinst', 'install'], { env, encoding: 'utf8' })
  }
  assert.equal(preinst().status, 0)
  writeFileSync(unit, '[Service]\nExecStart=/usr/bin/cambista serve\n')
  assert.equal(preinst().status, 0, 'of the administrator')
  writeFileSync(unit, '[Service]\nExecStart=/opt/cambista serve\n')
  assert.match(preinst().stderr, /^cambista: .*cambista\.service is not of cambista service install: /)
  writeFileSync(unit, unitText().replaceAll('/usr/local/bin/cambista', program))
  const program2 = (version: string) =>
    writeFileSync(program, `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 })
  program2('1.2.3')
  assert.deepEqual([preinst().status, preinst().stderr], [0, ''])
  program2('cambista 1.10.0 (2026-01-01)')
  assert.match(
    preinst().stderr,
    /is version 1\.10\.0, and this package 1\.2\.3: install the package of 1\.10\.0/,
  )
  program2('1.0.0')
  mkdirSync(`${unit}.d`)
  writeFileSync(`${unit}.d/override.conf`, `[Service]\nExecStart=${program} serve\n`)
  assert.match(
    preinst().stderr,
    /override\.conf names .*\. Write \/usr\/bin\/cambista there, and install again\n$/,
  )
})
