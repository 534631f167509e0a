// The script of a release: keys, notes, sums. `npm run test:release` makes a whole release.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parsePublicKey } from '../../../src/formats/minisign.ts'
import { makeKeyPair, readSecretKey } from '../../support/release/signing.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SUMS = join(ROOT, 'src/packaging/sums.mjs')
const SOURCES = join(ROOT, 'src/packaging/sources.mjs')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

function release(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'src/packaging/release.mjs'), ...words],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  )
  return { code: status, out: stdout, err: stderr }
}

test('`npm run release -- --make-key` makes a pair, its secret half for this user alone', (t) => {
  const path = join(temporaryDirectory(t), 'release.key')
  const { code, out, err } = release('--make-key', path)
  assert.deepEqual([code, err], [0, ''])
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const publicKey = readFileSync(`${path}.pub`, 'utf8')
  assert.ok(out.endsWith(publicKey))
  assert.ok(parsePublicKey(publicKey))
  assert.equal(readSecretKey(readFileSync(path, 'utf8')).publicKey, publicKey)
  const again = release('--make-key', path)
  assert.deepEqual([again.code, again.err], [1, `release: ${path} exists already\n`])
  const inside = release('--make-key', 'src/packaging/release.key')
  assert.equal(inside.code, 1)
  assert.match(inside.err, /is in the repository, where no secret key may be/)
})

const refusals: [fault: string, words: (files: Record<string, string>) => string[], message: RegExp][] = [
  ['no key', () => [], /give --key FILE, .*, or --make-key FILE/],
  ['a missing key', ({ own = '' }) => ['--key', '/none', '--public-key', own], /^release: \/none: ENOENT/],
  [
    'a public key as the key',
    ({ own = '' }) => ['--key', own, '--public-key', own],
    /no secret key of minisign/,
  ],
  [
    'the key of another pair',
    ({ secret = '', other = '' }) => ['--key', secret, '--public-key', other],
    /is key \w{16}, but the public key .* is key \w{16}/,
  ],
  [
    'no public key',
    ({ secret = '' }) => ['--key', secret, '--public-key', '/none'],
    /there is no \/none: make a pair/,
  ],
]
for (const [fault, words, message] of refusals) {
  test(`\`npm run release\` refuses ${fault}, before it builds`, (t) => {
    const { code, out, err } = release(...words(writeKeys(t)))
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, message)
  })
}

test('`npm run release -- --notes` prints the section of this version', () => {
  const { code, out, err } = release('--notes')
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, new RegExp(`^## ${version} - \\d{4}-\\d\\d-\\d\\d\n`))
  assert.equal(out.match(/^## /gm)?.length, 1)
})

test('no file of the repository is a secret key of minisign', () => {
  const patterns = ['*', '{.ci,.github,bin,src,test}/**']
  const files = globSync(patterns, { cwd: ROOT, exclude: ['**/node_modules', 'dist'], withFileTypes: true })
  const paths = files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  assert.ok(paths.includes(join(ROOT, 'src/packaging/release.mjs')))
  const isKey = (text: string) => /^RW[A-Za-z0-9+/=]{200,}$/m.test(text)
  assert.ok(isKey(makeKeyPair().secretKey))
  assert.deepEqual(
    paths.filter((path) => isKey(readFileSync(path, 'latin1'))),
    [],
  )
})

test('`writeSums` lists each file once, as sha256sum reads them', async (t) => {
  const folder = temporaryDirectory(t)
  for (const name of ['b', 'a', 'cambista', 'SHA256SUMS.minisig']) writeFileSync(join(folder, name), name)
  const { writeSums }: { writeSums(folder: string): string } = await import(SUMS)
  assert.equal(writeSums(folder), readFileSync(join(folder, 'SHA256SUMS'), 'utf8'))
  assert.equal(writeSums(folder), writeSums(folder))
  const check = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
    cwd: folder,
    encoding: 'utf8',
  })
  assert.deepEqual([check.status, check.stdout], [0, 'a: OK\nb: OK\n'])
})

test('`headCommit` names a commit, changed files, and no repository', (t) => {
  const folder = temporaryDirectory(t)
  mkdirSync(join(folder, 'sources'))
  const env = { PATH: process.env.PATH, GIT_CEILING_DIRECTORIES: folder, HOME: folder }
  const cwd = join(folder, 'sources')
  const git = (...words: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
      cwd,
      env,
      encoding: 'utf8',
    })
  const script = `const { headCommit } = await import(${JSON.stringify(SOURCES)}); console.log(JSON.stringify(headCommit()))`
  const headCommit = () =>
    JSON.parse(spawnSync(process.execPath, ['-e', script], { cwd, env, encoding: 'utf8' }).stdout)
  assert.equal(headCommit(), null)
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--message', 'first')
  const commit = git('rev-parse', 'HEAD').stdout.trim()
  assert.match(commit, /^[0-9a-f]{40}$/)
  assert.equal(headCommit(), commit)
  writeFileSync(join(cwd, 'new'), '')
  assert.equal(headCommit(), `${commit}-dirty`)
})

/** Writes a secret key, its public key and that of another pair. */
function writeKeys(t: TestContext): Record<string, string> {
  const folder = temporaryDirectory(t)
  const pair = makeKeyPair()
  const texts = { secret: pair.secretKey, own: pair.publicKey, other: makeKeyPair().publicKey }
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      writeFileSync(join(folder, name), text)
      return [name, join(folder, name)]
    }),
  )
}
