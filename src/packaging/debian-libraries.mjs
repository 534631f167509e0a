// C libraries of the image, out of Debian's packages: those of debian-packages.json, by version and SHA-256.
//
//   node src/packaging/debian-libraries.mjs --renew    writes the versions that Debian has now into that file
//
// apt downloads them from the sources of this machine, for both machine kinds. Its lists are in a folder of their own.
// The libraries' licences demand their copyright files. Scanners of images read os-release and the control files.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MACHINES } from './machines.mjs'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/cambista/debian')
const PINS = join(import.meta.dirname, 'debian-packages.json')
const LIBRARY =
  /^(usr\/)?lib(64)?\/([\w-]+-linux-gnu\/)?(ld-linux-[\w-]+|lib(atomic|c|dl|gcc_s|m|pthread|stdc\+\+))\.so\.[\d.]+$/
const PAPER =
  /^(etc\/(debian_version|os-release)|usr\/lib\/os-release|usr\/share\/(doc\/[^/]+(\/copyright)?|common-licenses\/[\w.-]+))$/

/**
 * Returns the entries of the libraries for a machine kind, as `tar` takes them. `cache` is the folder of the downloaded
 * packages. @throws Error if Debian has another version, or another file
 */
export function debianLibraries(arch, cache = CACHE) {
  const kind = MACHINES[arch].debian
  const packages = listPackages(cache)
  const absent = packages.filter(({ file }) => !fs.existsSync(file))
  if (absent.length > 0) {
    fs.mkdirSync(cache, { recursive: true })
    const words = absent.map(({ name, kind, version }) => `${name}:${kind}=${version}`)
    withApt((apt) => apt(['download', ...words], { cwd: cache }))
  }
  const own = packages.filter((one) => one.kind === kind)
  return own.flatMap(({ name, file, digest }) => {
    if (createHash('sha256').update(fs.readFileSync(file)).digest('hex') !== digest) {
      fs.rmSync(file)
      throw new Error(`${file} is not what src/packaging/debian-packages.json says it is`)
    }
    return packageEntries(name, file)
  })
}

/** Returns the pinned packages for all machine kinds, with their files in `cache`. */
export function listPackages(cache = CACHE) {
  return Object.entries(readPins()).flatMap(([name, { version, ...digests }]) =>
    Object.entries(digests).map(([kind, digest]) => {
      const file = join(cache, `${name}_${version}_${kind}.deb`)
      return { name, version, kind, digest, file }
    }),
  )
}

/** Returns whether the image has the library of this path, such as `lib/x86_64-linux-gnu/libc.so.6`. */
export function isLibrary(path) {
  return LIBRARY.test(path)
}

/** Returns the libraries and papers of a package, with its control file where scanners look for it. */
function packageEntries(name, file) {
  const folder = fs.mkdtempSync(join(tmpdir(), 'cambista-deb-'))
  try {
    run('dpkg-deb', ['-x', file, folder])
    const entries = fs
      .readdirSync(folder, { recursive: true })
      .filter((path) => isLibrary(path) || PAPER.test(path))
      .map((path) => fileEntry(folder, path))
    const control = run('dpkg-deb', ['-f', file])
    return [...entries.filter(Boolean), { name: `var/lib/dpkg/status.d/${name}`, content: control }]
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns a file or a link; undefined for a folder. */
function fileEntry(folder, path) {
  const stats = fs.lstatSync(join(folder, path))
  if (stats.isSymbolicLink()) return { name: path, link: fs.readlinkSync(join(folder, path)) }
  if (!stats.isFile()) return undefined
  const mode = stats.mode & 0o100 ? 0o755 : 0o644
  return { name: path, content: fs.readFileSync(join(folder, path)), mode }
}

function renewPins() {
  const names = Object.keys(readPins())
  const kinds = Object.values(MACHINES).map(({ debian }) => debian)
  const words = names.flatMap((name) => kinds.map((kind) => `${name}:${kind}`))
  const uris = withApt((apt) => apt(['download', '--print-uris', ...words]))
  const pins = Object.fromEntries(names.map((name) => [name, {}]))
  for (const [, name, version, kind, digest] of uris.matchAll(/' (\S+)_(\S+)_(\w+)\.deb \d+ SHA256:(\w+)$/gm))
    Object.assign(pins[name], { version, [kind]: digest })
  fs.writeFileSync(PINS, `${JSON.stringify(pins, null, 2)}\n`)
}

/** Calls `work` with an apt-get that knows the packages of both machine kinds, and leaves this machine as it is. */
function withApt(work) {
  const state = fs.mkdtempSync(join(tmpdir(), 'cambista-apt-'))
  const kinds = Object.values(MACHINES).map(({ debian }) => `APT::Architectures::=${debian}`)
  const settings = [
    ...kinds,
    `Dir::State=${state}`,
    `Dir::Cache=${state}/cache`,
    'Acquire::Languages=none',
    'Acquire::Retries=3',
    ...(process.getuid() === 0 ? ['APT::Sandbox::User=root'] : []), // its user may not write into these folders
  ].flatMap((setting) => ['-o', setting])
  try {
    for (const folder of ['lists', 'cache']) fs.mkdirSync(join(state, folder, 'partial'), { recursive: true })
    const apt = (words, options) => run('apt-get', ['-q', ...settings, ...words], options)
    apt(['update'])
    return work(apt)
  } finally {
    fs.rmSync(state, { recursive: true, force: true })
  }
}

function readPins() {
  return JSON.parse(fs.readFileSync(PINS, 'utf8'))
}

function run(command, words, options) {
  const env = { ...process.env, LC_ALL: 'C' }
  const result = spawnSync(command, words, { encoding: 'utf8', maxBuffer: 1e8, env, ...options })
  if (result.status === 0) return result.stdout
  const reason = result.error?.message ?? result.stderr.trim()
  const advice = 'if Debian has newer packages: node src/packaging/debian-libraries.mjs --renew'
  throw new Error(`${command} failed: ${reason}${command === 'apt-get' ? `\n${advice}` : ''}`)
}

if (process.argv[1] === import.meta.filename && process.argv[2] === '--renew') renewPins()
