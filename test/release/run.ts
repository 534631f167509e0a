// npm run test:release: makes the release of a fresh clone of HEAD with a key of its own. Makes it again in a second
// clone, checks dist/, and runs the executables out of the archives. Prints a table; the exit code is 1 if a step fails,
// and later steps are left out. Needs root where Debian packages are missing, and npm's registry.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const OWN = arch() === 'arm64' ? 'arm64' : 'x64'
const FOREIGN = OWN === 'arm64' ? 'x64' : 'arm64'
const IN_ARCHIVE = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'THIRD-PARTY-LICENSES',
  'cambista',
  'cambista.1',
  'cambista.service',
  'completions',
  'manual',
]
// Another user, at another place and time, must make the same bytes.
const ELSEWHERE = { LC_ALL: 'es_CR.UTF-8', LANG: 'es_CR.UTF-8', TZ: 'Pacific/Auckland' }
/** Debian packages of test/release, each with a command that succeeds where it is installed. */
const TOOLS: Record<string, string> = {
  minisign: 'minisign -v',
  skopeo: 'skopeo --version',
  'docker-compose': 'docker-compose version',
  mmdebstrap: 'mmdebstrap --version',
  lintian: 'lintian --version',
  'man-db': 'man --version',
  'dovecot-imapd': 'test -x /usr/sbin/dovecot',
  'python3-kubernetes': '/usr/bin/python3 -c "import kubernetes, yaml"',
}
// A clone has its own packages and Node, and no settings of the npm that runs this script.
const ENV = Object.fromEntries(
  Object.entries(process.env)
    .filter(([name]) => !/^(npm_|node_|cambista_|init_cwd$)/i.test(name))
    .map(([name, value = '']) => [name, name === 'PATH' ? pathWithoutModules(value) : value]),
)

type Step = { name: string; seconds: number; result: string }

const folder = mkdtempSync(join(tmpdir(), 'cambista-release-'))
chmodSync(folder, 0o755) // PostgreSQL of the tests is in the clone, and runs as another user
const clone = join(folder, 'clone')
const dist = join(clone, 'dist')
const secretKey = join(folder, 'release.key')
const publicKey = `${secretKey}.pub`
const unpacked = join(folder, 'unpacked')
const steps: Step[] = []
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

try {
  await step('Debian packages', installMissingPackages)
  await step('git clone', cloneHead)
  await step('npm ci', () => run('npm', ['ci'], { cwd: clone }).then(() => 'ok'))
  await step('npm run release', release)
  await step('checksums', checkSums)
  await step('archives', unpackArchives)
  await step('the same release again', releaseAgain)
  await step(`e2e, ${OWN} from its archive`, () => runTests('test/e2e'))
  await step(`signature, image, Debian package; ${FOREIGN} from its archive`, () => runTests('test/release'))
} catch {
  process.exitCode = 1 // the step has the reason
}
printTable()

async function step(name: string, work: () => Promise<string>): Promise<void> {
  process.stdout.write(`\n==> ${name}\n`)
  const start = performance.now()
  const add = (result: string) => steps.push({ name, seconds: (performance.now() - start) / 1000, result })
  try {
    add(await work())
  } catch (error) {
    add(`FAILED: ${error instanceof Error ? error.message : error}`)
    throw error
  }
}

async function installMissingPackages(): Promise<string> {
  const output = await run(process.execPath, ['build.mjs', '--missing'])
  const packages = output.split('\n').filter(Boolean)
  for (const [name, check] of Object.entries(TOOLS))
    if (spawnSync('/bin/sh', ['-c', check]).status !== 0) packages.push(name)
  if (packages.length === 0) return 'none missing'
  const retries = ['-o', 'Acquire::Retries=3']
  await run('apt-get', [...retries, 'update', '-q'])
  await run('apt-get', [...retries, 'install', '-q', '-y', '--no-install-recommends', ...packages])
  return `installed ${packages.join(' ')}`
}

async function cloneHead(): Promise<string> {
  await run('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone])
  const commit = await run('git', ['log', '-1', '--format=%h %s'], { cwd: clone })
  await releaseSchema()
  const changes = await run('git', ['status', '--porcelain'])
  return `${commit.trim()}${changes ? ' (uncommitted changes are not part of it)' : ''}`
}

/**
 * Ends the changes of the schema in the clone, as a release does. Else a later version refuses the databases of this
 * one, which an unreleased build made.
 */
async function releaseSchema(): Promise<void> {
  const file = join(clone, 'src/store/migrations.ts')
  const { RELEASED_SCHEMA, SCHEMA_VERSION } = await import(file)
  if (RELEASED_SCHEMA === SCHEMA_VERSION) return
  const line = 'export const RELEASED_SCHEMA = '
  writeFileSync(file, readFileSync(file, 'utf8').replace(line + RELEASED_SCHEMA, line + SCHEMA_VERSION))
  const author = ['-c', 'user.name=release', '-c', 'user.email=release@example.com']
  await run('git', [...author, 'commit', '--quiet', '--all', '-m', 'the schema is released'], { cwd: clone })
}

async function release(): Promise<string> {
  await run('npm', ['run', 'release', '--', '--make-key', secretKey], { cwd: clone })
  const words = ['run', 'release', '--', '--key', secretKey, '--public-key', publicKey]
  const output = await run('npm', words, { cwd: clone })
  const [incomplete] = /^build: .*\b(?:INCOMPLETE|NOT|NO ARCHIVE)\b.*$/m.exec(output) ?? []
  if (incomplete) throw new Error(incomplete)
  return 'ok'
}

/** Makes the release unsigned in another folder, with another umask, locale and time zone, and compares the files. */
async function releaseAgain(): Promise<string> {
  const other = join(folder, 'a second clone')
  const script = `umask 077; git clone --quiet --no-hardlinks "$1" "$2"; cd "$2"
    npm run release -- --unsigned --public-key "$3"`
  const env = { ...ENV, ...ELSEWHERE }
  await run('sh', ['-ec', script, 'sh', clone, other, publicKey], { env })
  const names = readdirSync(dist).filter((name) => !name.endsWith('.minisig'))
  sameNames(readdirSync(join(other, 'dist')), names)
  const different = names.filter((name) => sha256(join(dist, name)) !== sha256(join(other, 'dist', name)))
  rmSync(other, { recursive: true })
  if (different.length > 0) throw new Error(`other bytes: ${different.join(', ')}`)
  return `${names.length} files with the same bytes`
}

async function checkSums(): Promise<string> {
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: dist })
  const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'))
  const kinds = [OWN, FOREIGN].flatMap((kind) => [`cambista-linux-${kind}`, `cambista-linux-${kind}.tar.xz`])
  const debs = ['amd64', 'arm64'].map((kind) => `cambista_${version}_${kind}.deb`)
  const expected = [...kinds, `cambista-${version}.cdx.json`, `cambista-${version}.oci.tar`, ...debs]
  const listedNames = readFileSync(join(dist, 'SHA256SUMS'), 'utf8').matchAll(/^[0-9a-f]{64} {2}(.+)$/gm)
  sameNames(
    [...listedNames].map(([, name = '']) => name),
    expected,
  )
  sameNames(readdirSync(dist), [...expected, 'cambista', 'SHA256SUMS', 'SHA256SUMS.minisig'])
  return `${expected.length} files as SHA256SUMS lists them`
}

async function unpackArchives(): Promise<string> {
  mkdirSync(unpacked)
  for (const kind of [OWN, FOREIGN]) {
    const name = `cambista-linux-${kind}`
    await run('tar', ['-xJf', join(dist, `${name}.tar.xz`), '-C', unpacked])
    sameNames(readdirSync(join(unpacked, name)), IN_ARCHIVE)
    if (sha256(executable(kind)) !== sha256(join(dist, name)))
      throw new Error(`${name} differs from the one in its archive`)
  }
  return 'executables as in dist/'
}

/** Runs tests of the clone on the unpacked executables. */
async function runTests(tests: string): Promise<string> {
  const env = {
    ...ENV,
    CAMBISTA_EXECUTABLE: executable(OWN),
    CAMBISTA_FOREIGN_EXECUTABLE: executable(FOREIGN),
    CAMBISTA_FOREIGN_ARCH: FOREIGN,
    CAMBISTA_RELEASE: dist,
    CAMBISTA_RELEASE_KEY: publicKey,
  }
  const node = join(clone, 'node_modules/.bin/node')
  const words = ['--test', '--test-timeout=1800000', `${tests}/**/*.test.ts`]
  const output = await run(node, words, { cwd: clone, env })
  const [, passed = '0'] = /^\S* ?pass (\d+)$/m.exec(output) ?? []
  const [, skipped = '0'] = /^\S* ?skipped (\d+)$/m.exec(output) ?? []
  if (passed === '0') throw new Error(`no test of ${tests} ran`)
  return `${passed} passed, ${skipped} skipped`
}

function printTable(): void {
  const width = Math.max(...steps.map(({ name }) => name.length))
  const rows = steps.map(
    ({ name, seconds, result }) => `${name.padEnd(width)} ${seconds.toFixed(1).padStart(7)} s  ${result}`,
  )
  process.stdout.write(`\n${rows.join('\n')}\n`)
  if (process.exitCode) return
  const files = readdirSync(dist).sort()
  const sizes = files.map((name) => {
    const path = join(dist, name)
    return `${String(statSync(path).size).padStart(11)} bytes  ${sha256(path)}  ${name}`
  })
  process.stdout.write(`\n${sizes.join('\n')}\n`)
}

/** Runs a command that must succeed, showing its output, and returns its stdout. */
async function run(
  command: string,
  words: readonly string[],
  { cwd = ROOT, env = ENV }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    process.stdout.write(text)
  })
  const [code, signal] = await once(child, 'close')
  if (code !== 0)
    throw new Error(`${[command, ...words].join(' ').slice(0, 80)} ended with ${code ?? signal}`)
  return output
}

function executable(kind: string): string {
  return join(unpacked, `cambista-linux-${kind}`, 'cambista')
}

function sameNames(actual: readonly string[], expected: readonly string[]): void {
  const [found, wanted] = [actual, expected].map((names) => [...names].sort().join(' '))
  if (found !== wanted) throw new Error(`found ${found} instead of ${wanted}`)
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function pathWithoutModules(path: string): string {
  return path
    .split(':')
    .filter((entry) => !entry.includes('node_modules'))
    .join(':')
}
