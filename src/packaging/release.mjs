// Makes and signs a release in dist/: the build, the packages that are made of it, SHA256SUMS and its signature.
//
//   npm run release -- --key FILE        signs with a secret key of minisign; RELEASE_PASSWORD has its password, if any
//
//   npm run release -- --unsigned        makes all but the signature, to compare a release with its sources
//
//   npm run release -- --make-key FILE   makes a secret key, FILE, and its public key, FILE.pub
//
//   npm run release -- --missing         prints the Debian packages that are missing here
//
//   npm run release -- --notes           prints the section of CHANGELOG.md of this version
//
// The public key is src/packaging/release.pub, or that of --public-key. Two clean checkouts of a commit give the same
// bytes, those of the signature too.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { SUMS } from '../domain/operations/release.ts'
import { parsePublicKey } from '../formats/minisign.ts'
import { RELEASE_KEY } from '../runtime/assets.ts'
import { makeDeb } from './deb.mjs'
import { makeImage } from './image.mjs'
import { MACHINES, missingPackages } from './machines.mjs'
import { makeKeyPair, readSecretKey, signContent } from './sign.mjs'
import { changedFiles, headCommit, sourceEpoch, versionTags } from './sources.mjs'
import { writeSums } from './sums.mjs'

const ROOT = join(import.meta.dirname, '../..')

const { values: options } = parseArgs({
  options: {
    key: { type: 'string' },
    'public-key': { type: 'string' },
    'make-key': { type: 'string' },
    missing: { type: 'boolean' },
    notes: { type: 'boolean' },
    unsigned: { type: 'boolean' },
  },
})
const caller = process.env.INIT_CWD ?? process.cwd() // npm runs scripts in the folder of package.json
process.chdir(ROOT)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

try {
  if (options.missing) process.stdout.write([...listMissing(), ''].join('\n'))
  else if (options.notes) process.stdout.write(releaseNotes())
  else if (options['make-key'] !== undefined) makeKey(resolve(caller, options['make-key']))
  else if (options.key !== undefined || options.unsigned) await release()
  else
    throw new Error(
      'give --key FILE, the secret key that signs, or --make-key FILE, which makes one; or --unsigned',
    )
} catch (error) {
  process.stderr.write(`release: ${error.message}\n`)
  process.exitCode = 1
}

async function release() {
  const publicKey = options['public-key'] === undefined ? RELEASE_KEY : resolve(caller, options['public-key'])
  const key = options.unsigned ? undefined : readKey(publicKey)
  const changes = changedFiles() ?? 'there is no repository'
  if (changes !== '') throw new Error(`commit first, so that the release is that of a commit:\n${changes}`)
  const tags = versionTags()
  if (tags.length > 0 && !tags.includes(`v${version}`))
    throw new Error(`the commit has the tag ${tags.join(', ')}, but package.json the version ${version}`)
  releaseNotes()
  const missing = listMissing()
  if (missing.length > 0)
    throw new Error(`these Debian packages are missing: apt-get install ${missing.join(' ')}`)

  run(process.execPath, ['build.mjs', ...(existsSync(publicKey) ? ['--public-key', publicKey] : [])])
  const commit = headCommit()
  const common = { version, commit, epoch: sourceEpoch(), licenses: readLicenses(), dist: 'dist' }
  const executables = Object.fromEntries(
    Object.keys(MACHINES).map((arch) => [arch, join('dist', `cambista-linux-${arch}`)]),
  )
  makeImage({ ...common, executables })
  for (const [arch, executable] of Object.entries(executables)) await makeDeb({ ...common, arch, executable })

  const sums = writeSums('dist')
  const comment = `cambista ${version}, commit ${commit}`
  if (key) writeFileSync(`dist/${SUMS}.minisig`, signContent(key, Buffer.from(sums), comment))
  for (const name of readdirSync('dist').sort())
    say(`${(statSync(join('dist', name)).size / 1e6).toFixed(1).padStart(6)} MB  ${name}`)
  say(key ? `signed as "${comment}" with the key of ${relative(ROOT, publicKey)}` : 'not signed')
}

/** Returns the licences of packages, which the build collected for the archives. */
function readLicenses() {
  const name = `cambista-linux-${process.arch}`
  const words = ['-xJOf', join('dist', `${name}.tar.xz`), `${name}/THIRD-PARTY-LICENSES`]
  const { status, stdout } = spawnSync('tar', words, { encoding: 'utf8', maxBuffer: 1e8 })
  if (status !== 0) throw new Error(`tar ended with ${status}`)
  return stdout
}

/** Reads the secret key. @throws Error if it is not the pair of the public key */
function readKey(publicKey) {
  if (!existsSync(publicKey))
    throw new Error(
      `there is no ${publicKey}: make a pair of keys with --make-key, and put its public key there`,
    )
  const builtIn = parsePublicKey(readFileSync(publicKey, 'utf8'))
  if (!builtIn) throw new Error(`${publicKey} is no public key of minisign`)
  const path = resolve(caller, options.key)
  const key = readFaulty(path, () => readSecretKey(readFileSync(path, 'utf8'), process.env.RELEASE_PASSWORD))
  for (const name of ['RELEASE_KEY', 'RELEASE_PASSWORD']) delete process.env[name] // the build has no need of them
  const own = parsePublicKey(key.publicKey)
  if (!own.key.equals(builtIn.key) || own.id !== builtIn.id)
    throw new Error(`${path} is key ${own.id}, but the public key ${publicKey} is key ${builtIn.id}`)
  return key
}

/** Makes a pair of keys outside of the repository. An existing file is not overwritten. */
function makeKey(path) {
  const isInside = !relative(ROOT, path).startsWith('..')
  if (isInside)
    throw new Error(`${path} is in the repository, where no secret key may be: give another folder`)
  for (const file of [path, `${path}.pub`]) if (existsSync(file)) throw new Error(`${file} exists already`)
  const { secretKey, publicKey } = makeKeyPair()
  readFaulty(dirname(path), () => {
    writeFileSync(path, secretKey, { flag: 'wx', mode: 0o600 })
    writeFileSync(`${path}.pub`, publicKey, { flag: 'wx' })
  })
  say(`${path} is the secret key. Store it offline; minisign -C -s ${path} gives it a password.`)
  say(`${path}.pub is its public key. Copy it to ${RELEASE_KEY}, and its second line into README.md,`)
  say('src/manual/es/leame.md and .github/SECURITY.md:')
  process.stdout.write(publicKey)
}

/** Returns the section of this version. @throws Error without one */
function releaseNotes() {
  const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^(?=## )/m)
  const section = sections.find((text) => text.startsWith(`## ${version}`))
  if (!section) throw new Error(`CHANGELOG.md has no section ${version}`)
  return `${section.trimEnd()}\n`
}

function listMissing() {
  return missingPackages(Object.keys(MACHINES), { archives: true })
}

/** Runs work on a file, and names it in an error. */
function readFaulty(path, work) {
  try {
    return work()
  } catch (error) {
    throw new Error(`${path}: ${error.message}`, { cause: error })
  }
}

function run(command, words) {
  const { status, signal } = spawnSync(command, words, { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${words[0]} ended with ${status ?? signal}`)
}

function say(line) {
  process.stdout.write(`release: ${line}\n`)
}
