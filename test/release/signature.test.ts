// `verify` and Debian's minisign on the files of a release: both accept it, and both refuse each altered copy.
// `npm run test:release` names the release and its key.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { isCommentValid, isFileValid, parsePublicKey, parseSignature } from '../../src/formats/minisign.ts'
import { directory, run } from '../e2e/executable.ts'
import { readSecretKey, signContent } from '../support/release/signing.ts'

const { CAMBISTA_RELEASE: release = '', CAMBISTA_RELEASE_KEY: publicKey = '' } = process.env
if (!release || !publicKey) throw new Error('CAMBISTA_RELEASE is not set: use npm run test:release')
const SUMS = 'SHA256SUMS'
const SIGNATURE = 'SHA256SUMS.minisig'
const ARTEFACTS = readdirSync(release).filter((name) => !['cambista', SUMS, SIGNATURE].includes(name))
const [FIRST = ''] = ARTEFACTS

/** Links one file of the release into a directory, and copies the sums and the signature. */
function copyRelease(t: TestContext, name: string): string {
  const folder = directory(t)
  linkSync(join(release, name), join(folder, name))
  for (const one of [SUMS, SIGNATURE]) copyFileSync(join(release, one), join(folder, one))
  return folder
}

/** Returns whether the program, and minisign with sha256sum, accept a file; `message`: the program's. */
async function examine(t: TestContext, folder: string, name: string, key = publicKey) {
  const { code, out, err } = await run(t, ['verify', '--key', key, join(folder, name)])
  assert.ok(code === 0 || code === 1, `${code} ${err}`)
  return { own: code === 0, debian: isValidForDebian(folder, name, key), message: out + err }
}

function isValidForDebian(folder: string, name: string, key: string): boolean {
  const { status } = spawnSync('minisign', ['-q', '-V', '-p', key, '-m', SUMS], { cwd: folder })
  const sums = readFileSync(join(folder, SUMS), 'utf8').split('\n')
  const line = sums.find((one) => one.endsWith(`  ${name}`)) ?? ''
  const sum = spawnSync('sha256sum', ['--check', '--strict', '--status'], { cwd: folder, input: `${line}\n` })
  return status === 0 && sum.status === 0
}

for (const name of ARTEFACTS) {
  test(`both accept ${name}, and refuse it with a flipped bit`, async (t) => {
    const folder = copyRelease(t, name)
    const whole = await examine(t, folder, name)
    assert.deepEqual([whole.own, whole.debian], [true, true], whole.message)
    const commit = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout.trim()
    assert.match(whole.message, new RegExp(` of cambista \\d+\\.\\d+\\.\\d+, commit ${commit}\n$`))
    rmSync(join(folder, name))
    copyFileSync(join(release, name), join(folder, name))
    flipBit(join(folder, name))
    const { own, debian, message } = await examine(t, folder, name)
    assert.deepEqual([own, debian], [false, false], message)
    assert.match(message, /it is altered, or of another release than cambista/)
  })
}

const keys = mkdtempSync(join(tmpdir(), 'cambista-keys-'))
after(() => rmSync(keys, { recursive: true }))
test('the commands of README download, verify and unpack a release', (t) => {
  const folder = directory(t)
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  const block = blocks.find((one) => one.includes('minisign')) ?? ''
  assert.equal(block.trim().split('\n').length, 4)
  copyFileSync(publicKey, join(folder, 'release.pub'))
  const env = { PATH: process.env.PATH, RELEASE: `file://${release}` }
  const runBlock = () => spawnSync('bash', ['-ec', block], { cwd: folder, encoding: 'utf8', env })
  const whole = runBlock()
  assert.equal(whole.status, 0, whole.stderr)
  assert.match(
    whole.stdout,
    /Trusted comment: cambista \d\S+, commit [0-9a-f]{40}\ncambista-linux-x64\.tar\.xz: OK\n$/,
  )
  const program = join(folder, 'cambista-linux-x64/cambista')
  assert.ok(readFileSync(program).equals(readFileSync(join(release, 'cambista-linux-x64'))))
  rmSync(dirname(program), { recursive: true })
  copyFileSync(secret.publicKey, join(folder, 'release.pub'))
  assert.notEqual(runBlock().status, 0)
  assert.ok(!existsSync(program), 'nothing is unpacked')
})

const secret = makeMinisignKey('other')
const alterations: [name: string, alter: (folder: string) => void, message: RegExp, key?: string][] = [
  ['a flipped bit in the sums', (folder) => flipBit(join(folder, SUMS)), /SHA256SUMS is altered/],
  ['a line more in the sums', (folder) => appendFileSync(join(folder, SUMS), 'x\n'), /SHA256SUMS is altered/],
  ['another key', () => {}, /\.minisig is of key \w+, not of key \w+/, secret.publicKey],
  [
    'the signature of another key',
    (folder) => secret.sign(folder),
    /\.minisig is of key \w+, not of key \w+/,
  ],
  [
    'a truncated signature',
    (folder) => changeText(join(folder, SIGNATURE), (text) => text.slice(0, -30)),
    /is cut off/,
  ],
  ['an empty signature', (folder) => writeFileSync(join(folder, SIGNATURE), ''), /is cut off/],
  [
    'another trusted comment',
    (folder) => changeText(join(folder, SIGNATURE), (text) => text.replace(/cambista \d/, 'cambista 9')),
    /\.minisig is altered/,
  ],
  [
    'the sums of another release',
    (folder) => changeText(join(folder, SUMS), (text) => text.replaceAll(/^[0-9a-f]{8}/gm, '01234567')),
    /SHA256SUMS is altered, or of another release than its signature/,
  ],
  ['no signature', (folder) => rmSync(join(folder, SIGNATURE)), /cannot read .*minisig/],
  ['no file', (folder) => rmSync(join(folder, FIRST)), /there is no such file/],
]
for (const [name, alter, fault, key] of alterations) {
  test(`both refuse ${name}`, async (t) => {
    const folder = copyRelease(t, FIRST)
    alter(folder)
    const { own, debian, message } = await examine(t, folder, FIRST, key)
    assert.deepEqual([own, debian], [false, false], message)
    assert.match(message, fault)
  })
}

test('both refuse a file that is not in the sums', async (t) => {
  const folder = copyRelease(t, FIRST)
  writeFileSync(join(folder, 'cambista_9.9.9_amd64.deb'), 'x')
  const { own, debian, message } = await examine(t, folder, 'cambista_9.9.9_amd64.deb')
  assert.deepEqual([own, debian], [false, false], message)
  assert.match(message, /cambista \d\S+ has no such file/)
})

test('both agree on each flipped bit of the signature, but for unused bits of Base64, which the program refuses', (t) => {
  const folder = copyRelease(t, FIRST)
  const path = join(folder, SIGNATURE)
  const whole = readFileSync(path)
  const [content, key] = [readFileSync(join(folder, SUMS)), parsePublicKey(readFileSync(publicKey, 'utf8'))]
  assert.ok(key)
  const count = { accepted: 0, refused: 0, unused: 0 }
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const altered = Buffer.from(whole)
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    writeFileSync(path, altered)
    const signature = parseSignature(altered.toString())
    const isOwn: boolean =
      signature?.keyId === key.id && isCommentValid(signature, key) && isFileValid(signature, key, content)
    const { status } = spawnSync('minisign', ['-q', '-V', '-p', publicKey, '-m', SUMS], { cwd: folder })
    const isUnused = decodeLines(altered) === decodeLines(whole)
    assert.equal(isOwn, status === 0 && !isUnused, `bit ${bit}: ${altered.toString('latin1')}`)
    count[isUnused ? 'unused' : isOwn ? 'accepted' : 'refused']++
  }
  t.diagnostic(`${JSON.stringify(count)}; accepted are those of the untrusted comment`)
  assert.ok(count.refused > 1500 && count.unused < 10)
})

/** Returns a signature file with its Base64 decoded. */
function decodeLines(file: Buffer): string {
  const lines = file.toString('latin1').split('\n')
  return lines
    .map((line) => (/^[\w+/]+=+$/.test(line) ? Buffer.from(line, 'base64').toString('hex') : line))
    .join()
}

test('a secret key that minisign encrypted signs with its password only', (t) => {
  const folder = copyRelease(t, FIRST)
  const own = makeMinisignKey('encrypted', 'a password')
  assert.throws(() => readSecretKey(own.secretKey), /has a password/)
  const content = readFileSync(join(folder, SUMS))
  const key = readSecretKey(own.secretKey, 'a password')
  writeFileSync(join(folder, SIGNATURE), signContent(key, content, 'a comment'))
  assert.equal(isValidForDebian(folder, FIRST, own.publicKey), true)
})

/** Makes a pair of keys with Debian's minisign, with or without a password. */
function makeMinisignKey(name: string, password?: string) {
  const [secretFile, publicFile] = [join(keys, `${name}.key`), join(keys, `${name}.pub`)]
  const words = ['-G', ...(password === undefined ? ['-W'] : []), '-s', secretFile, '-p', publicFile]
  const { status, stderr } = spawnSync('minisign', words, { input: `${password}\n${password}\n` })
  assert.equal(status, 0, String(stderr))
  return {
    publicKey: publicFile,
    secretKey: readFileSync(secretFile, 'utf8'),
    /** Signs the sums of a directory. */
    sign: (target: string) => {
      const comment =
        /^trusted comment: (.*)$/m.exec(readFileSync(join(target, SIGNATURE), 'utf8'))?.[1] ?? ''
      const signing = spawnSync('minisign', ['-S', '-s', secretFile, '-m', SUMS, '-t', comment], {
        cwd: target,
      })
      assert.equal(signing.status, 0, String(signing.stderr))
    },
  }
}

/** Flips a bit in the middle of a file. */
function flipBit(path: string): void {
  const file = openSync(path, 'r+')
  const at = statSync(path).size >> 1
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, at)
  byte[0] = (byte[0] ?? 0) ^ 1
  writeSync(file, byte, 0, 1, at)
}

function changeText(path: string, change: (text: string) => string): void {
  const text = readFileSync(path, 'utf8')
  assert.notEqual(change(text), text)
  writeFileSync(path, change(text))
}
