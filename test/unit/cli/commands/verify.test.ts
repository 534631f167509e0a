// `verify` on a release that the test makes and signs. Each test of a fault alters it in one place.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { releaseKey } from '../../../../src/runtime/assets.ts'
import { makeKeyPair, readSecretKey, signContent } from '../../../support/release/signing.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const COMMIT = '52b1cc305e91415b8cfee0282049fdca0c32a537'
const FILES = { 'cambista-linux-x64': 'the program', 'cambista_0.2.0_amd64.deb': 'the package' }
const pair = makeKeyPair()
const secret = readSecretKey(pair.secretKey)

/** Makes a directory with the files of a release, their sums and the signature; a public key is beside it. */
function makeRelease(
  t: TestContext,
  {
    version = '0.2.0',
    files = FILES,
    key = secret,
  }: { version?: string; files?: object; key?: typeof secret } = {},
) {
  const home = temporaryDirectory(t)
  const folder = join(home, 'release')
  mkdirSync(folder)
  const sums = Object.entries(files).map(([name, content]) => {
    writeFileSync(join(folder, name), content)
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`
  })
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  const signature = signContent(key, Buffer.from(sums.join('')), `cambista ${version}, commit ${COMMIT}`)
  writeFileSync(join(folder, 'SHA256SUMS.minisig'), signature)
  const publicKey = join(home, 'release.pub')
  writeFileSync(publicKey, pair.publicKey)
  const path = (name: string) => join(folder, name)
  return {
    folder,
    publicKey,
    path,
    verify: (...words: string[]) => runCommand(['verify', '--key', publicKey, ...words]),
  }
}

test('`verify` prints version and commit of each file that belongs to the release', async (t) => {
  const { path, verify } = makeRelease(t)
  const files = Object.keys(FILES).map(path)
  const lines = Object.keys(FILES).map(
    (name) => `ok     ${path(name)}: ${name} of cambista 0.2.0, commit ${COMMIT}\n`,
  )
  assert.deepEqual(await verify(...files), { code: 0, out: lines.join(''), err: '' })
})

test('`verify --sums` reads the sums of another directory, and finds a renamed file by its content', async (t) => {
  const { path, verify } = makeRelease(t)
  const installed = join(temporaryDirectory(t), 'cambista')
  copyFileSync(path('cambista-linux-x64'), installed)
  const beside = await verify(installed)
  assert.equal(beside.code, 1)
  assert.match(beside.err, /^cambista: cannot read .*\/SHA256SUMS: .* give its path with --sums\n$/)
  const { code, out } = await verify('--sums', path('SHA256SUMS'), installed)
  assert.deepEqual(
    [code, out],
    [0, `ok     ${installed}: cambista-linux-x64 of cambista 0.2.0, commit ${COMMIT}\n`],
  )
})

test('`verify` finds the sums in the directory above an unpacked archive', async (t) => {
  const { path, verify } = makeRelease(t)
  const unpacked = path('unpacked/cambista')
  mkdirSync(path('unpacked'))
  copyFileSync(path('cambista-linux-x64'), unpacked)
  const { code, out } = await verify(unpacked)
  assert.deepEqual(
    [code, out],
    [0, `ok     ${unpacked}: cambista-linux-x64 of cambista 0.2.0, commit ${COMMIT}\n`],
  )
})

type Altered = ReturnType<typeof makeRelease> & { file: string }
const alterations: [fault: string, alter: (release: Altered, t: TestContext) => void, message: RegExp][] = [
  [
    'a flipped bit in the file',
    ({ file }) => flipBit(file),
    /x64: it is altered, or of another release than cambista 0\.2\.0\n$/,
  ],
  ['a missing file', ({ file }) => rmSync(file), /x64: there is no such file\n$/],
  ['a directory', ({ file }) => rmSync(file) ?? mkdirSync(file), /x64: cannot be read: .*EISDIR/],
  [
    'another file of the release under its name',
    ({ file, path }) => copyFileSync(path('cambista_0.2.0_amd64.deb'), file),
    /x64: its content is that of cambista_0\.2\.0_amd64\.deb of cambista 0\.2\.0\n$/,
  ],
  [
    'another key with the same id',
    ({ publicKey }) => writeFileSync(publicKey, withId(makeKeyPair().publicKey)),
    /SHA256SUMS\.minisig is altered, or another key with the id [0-9A-F]{16} made it/,
  ],
  [
    'another key',
    ({ publicKey }) => writeFileSync(publicKey, makeKeyPair().publicKey),
    /SHA256SUMS\.minisig is of key [0-9A-F]{16}, not of key [0-9A-F]{16}\n/,
  ],
  [
    'a key that is none',
    ({ publicKey }) => writeFileSync(publicKey, 'x'),
    /release\.pub is no public key of minisign/,
  ],
  ['a missing key', ({ publicKey }) => rmSync(publicKey), /cannot read the public key: .*ENOENT/],
  [
    'a missing signature',
    ({ path }) => rmSync(path('SHA256SUMS.minisig')),
    /cannot read .*SHA256SUMS\.minisig: /,
  ],
  [
    'a truncated signature',
    ({ path }) => changeText(path('SHA256SUMS.minisig'), (text) => text.slice(0, -20)),
    /SHA256SUMS\.minisig is no signature of minisign, or is cut off/,
  ],
  [
    'another trusted comment',
    ({ path }) =>
      changeText(path('SHA256SUMS.minisig'), (text) => text.replace('cambista 0.2.0', 'cambista 0.3.0')),
    /SHA256SUMS\.minisig is altered/,
  ],
  [
    'a flipped bit in the sums',
    ({ path }) => flipBit(path('SHA256SUMS')),
    /SHA256SUMS is altered, or of another release/,
  ],
  [
    'the sums of another release',
    ({ path }, t) =>
      copyFileSync(
        makeRelease(t, { version: '0.2.1', files: { a: '' } }).path('SHA256SUMS'),
        path('SHA256SUMS'),
      ),
    /SHA256SUMS is altered, or of another release than its signature \("cambista 0\.2\.0, commit/,
  ],
  [
    'sums and signature of another release',
    ({ path }, t) => {
      const other = makeRelease(t, { version: '0.2.1', files: { 'cambista-linux-x64': 'newer' } })
      for (const name of ['SHA256SUMS', 'SHA256SUMS.minisig']) copyFileSync(other.path(name), path(name))
    },
    /x64: it is altered, or of another release than cambista 0\.2\.1\n$/,
  ],
  [
    'a file that the sums do not list',
    ({ path }, t) => {
      const other = makeRelease(t, { files: { other: '' } })
      for (const name of ['SHA256SUMS', 'SHA256SUMS.minisig']) copyFileSync(other.path(name), path(name))
    },
    /x64: cambista 0\.2\.0 has no such file\n$/,
  ],
  [
    'a signature of something else by the same key',
    ({ path }) =>
      writeFileSync(
        path('SHA256SUMS.minisig'),
        signContent(secret, readFileSync(path('SHA256SUMS')), 'timestamp:1'),
      ),
    /SHA256SUMS\.minisig is of "timestamp:1", not of cambista/,
  ],
  [
    'signed sums that are none',
    ({ path }) => {
      writeFileSync(path('SHA256SUMS'), 'x\n')
      const signature = signContent(secret, Buffer.from('x\n'), `cambista 0.2.0, commit ${COMMIT}`)
      writeFileSync(path('SHA256SUMS.minisig'), signature)
    },
    /SHA256SUMS has the line "x", which is no sum of a file/,
  ],
]
for (const [fault, alter, message] of alterations) {
  test(`\`verify\` exits with 1 and names ${fault}`, async (t) => {
    const release = makeRelease(t)
    const file = release.path('cambista-linux-x64')
    alter({ ...release, file }, t)
    const { code, out, err } = await release.verify(file)
    assert.equal(code, 1)
    assert.match(out + err, message)
    assert.ok(out === '' || err === '', 'a fault is printed once')
  })
}

test('`verify` checks each file, also after one with a fault', async (t) => {
  const { path, verify } = makeRelease(t)
  flipBit(path('cambista-linux-x64'))
  const { code, out } = await verify(...Object.keys(FILES).map(path))
  assert.equal(code, 1)
  assert.match(out, /^FAULT {2}.*x64: .*\nok {5}.*amd64\.deb: /)
})

test('`verify` without --key uses the built-in key, or names --key where there is none', async (t) => {
  const { path } = makeRelease(t)
  const { code, err } = await runCommand(['verify', path('cambista-linux-x64')])
  assert.equal(code, 1)
  const isBuiltIn = existsSync(join(import.meta.dirname, '../../../../src/packaging/release.pub'))
  assert.equal(releaseKey() !== undefined, isBuiltIn)
  assert.match(
    err,
    isBuiltIn ? /is of key \w+, not of key/ : /no built-in key of the releases: give .*--key FILE/,
  )
})

function flipBit(path: string): void {
  const bytes = readFileSync(path)
  bytes[3] = (bytes[3] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

function changeText(path: string, change: (text: string) => string): void {
  const text = readFileSync(path, 'utf8')
  assert.notEqual(change(text), text)
  writeFileSync(path, change(text))
}

/** Returns a public key with the id of the test's key. */
function withId(publicKey: string): string {
  const [comment, line = ''] = publicKey.split('\n')
  const bytes = Buffer.from(line, 'base64')
  Buffer.from(secret.id).copy(bytes, 2)
  return `${comment}\n${bytes.toString('base64')}\n`
}
