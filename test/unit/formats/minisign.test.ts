// Keys and signatures of minisign: those of Debian's program, those of src/packaging/sign.mjs, and altered ones.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCommentValid, isFileValid, parsePublicKey, parseSignature } from '../../../src/formats/minisign.ts'
import { makeKeyPair, readSecretKey, signContent } from '../../support/release/signing.ts'

// Made by `minisign -G -W` and `minisign -S` of Debian 12 (0.11), of a file with the line "hello".
const DEBIAN_KEY = `untrusted comment: minisign public key 8FB5A9D3A1FB43CE
RWTOQ/uh06m1jwjiib+6a1rAtF7TQMaC9vxHn/ioCOhRcCWfyrfVLmT6`
const DEBIAN_SIGNATURE = `untrusted comment: signature from minisign secret key
RUTOQ/uh06m1j/COvrzOaCAWM4oIWvdqzT0spxSDcCSYr+yIFU6jh0khXm6Sjm9YmyHf0CGdUyPJf7FLGQIjpxIQO+RUotlZHQc=
trusted comment: cambista 0.2.0, commit 52b1cc305e91415b8cfee0282049fdca0c32a537
zDzrDujmAUdlyDPfHdnLsEInka3pcunNAWQjkkglLU2o/ZQxO59Uma6mnTB+GohrUDGWdDptLKpJH5axnGJ2Dg==`
const CONTENT = Buffer.from('hello\n')
const COMMENT = 'cambista 0.2.0, commit 52b1cc305e91415b8cfee0282049fdca0c32a537'

const pair = makeKeyPair()
const secret = readSecretKey(pair.secretKey)
const signature = signContent(secret, CONTENT, COMMENT)

function isValid(text: string, content: Uint8Array, publicKey: string): boolean {
  const [parsed, key] = [parseSignature(text), parsePublicKey(publicKey)]
  return (
    parsed !== undefined &&
    key !== undefined &&
    parsed.keyId === key.id &&
    isCommentValid(parsed, key) &&
    isFileValid(parsed, key, content)
  )
}

test("a signature of Debian's minisign is valid, with its key id and its trusted comment", () => {
  assert.ok(isValid(DEBIAN_SIGNATURE, CONTENT, DEBIAN_KEY))
  const [, id] = /key (\w+)\n/.exec(DEBIAN_KEY) ?? []
  assert.equal(parsePublicKey(DEBIAN_KEY)?.id, id)
  assert.equal(parseSignature(DEBIAN_SIGNATURE)?.keyId, id)
  assert.equal(parseSignature(DEBIAN_SIGNATURE)?.comment, COMMENT)
})

test('a signature of `signContent` is valid, and always the same for the same key', () => {
  assert.ok(isValid(signature, CONTENT, pair.publicKey))
  assert.equal(signContent(readSecretKey(pair.secretKey), CONTENT, COMMENT), signature)
  assert.equal(secret.publicKey, pair.publicKey)
})

test('a public key is read with its comment or without it', () => {
  const [, line = ''] = pair.publicKey.split('\n')
  assert.equal(parsePublicKey(line)?.id, parsePublicKey(pair.publicKey)?.id)
  for (const text of ['', 'RWQ', line.slice(4), pair.secretKey, `${pair.publicKey}${line}`, signature])
    assert.equal(parsePublicKey(text), undefined, text)
})

const alterations: [name: string, alter: (lines: string[]) => string[]][] = [
  ['without its last line', (lines) => lines.slice(0, 3)],
  ['cut in its last line', (lines) => [...lines.slice(0, 3), lines[3]?.slice(0, -9) ?? '']],
  ['without its first line', (lines) => lines.slice(1)],
  ['with a line more', (lines) => [...lines, 'x']],
  ['with a zero byte', (lines) => lines.with(0, `${lines[0]}\0`)],
  ['with the parts of two signatures', (lines) => [...lines.slice(0, 3), otherLines[3] ?? '']],
  ['with another trusted comment', (lines) => lines.with(2, lines[2]?.replace('0.2.0', '0.3.0') ?? '')],
  ['of another key', () => otherLines],
  ['of the algorithm without a hash', (lines) => lines.with(1, `RW${lines[1]?.slice(2)}`)],
]
const otherLines = signContent(readSecretKey(makeKeyPair().secretKey), CONTENT, COMMENT).trimEnd().split('\n')
for (const [name, alter] of alterations) {
  test(`a signature ${name} is invalid`, () => {
    const text = alter(signature.trimEnd().split('\n')).join('\n')
    assert.notEqual(text, signature.trimEnd())
    assert.equal(isValid(text, CONTENT, pair.publicKey), false)
  })
}

test('each flipped bit of file, key or signature makes it invalid, but for the text of an untrusted comment', () => {
  const count = { refused: 0, untrusted: 0 }
  const inComment = 'untrusted comment: '.length
  const firstLine = signature.indexOf('\n')
  for (const flipped of flipBits(CONTENT))
    assert.equal(isValid(signature, flipped.bytes, pair.publicKey), false)
  for (const { bytes, at } of flipBits(Buffer.from(signature))) {
    const isUntrusted = at >= inComment && at < firstLine
    const valid = isValid(bytes.toString('latin1'), CONTENT, pair.publicKey)
    if (isUntrusted && valid) count.untrusted++
    else {
      assert.equal(valid, false, `bit of byte ${at}: ${bytes.toString('latin1')}`)
      count.refused++
    }
  }
  assert.ok(count.refused > 2000 && count.untrusted > 100, JSON.stringify(count))
})

const secretKeys: [name: string, text: string, message: RegExp][] = [
  ['a public key', pair.publicKey, /no secret key of minisign/],
  ['a cut one', `${pair.secretKey.slice(0, -9)}\n`, /no secret key of minisign/],
  [
    'one with a password that is not given',
    withMethod('Sc'),
    /has a password: set the variable RELEASE_PASSWORD/,
  ],
  ['one with an unknown method', withMethod('Xx'), /encrypted in an unknown way/],
  ['one whose halves do not belong together', withOtherSeed(), /password is wrong, or it is damaged/],
]
for (const [name, text, message] of secretKeys) {
  test(`\`readSecretKey\` refuses ${name}`, () => {
    assert.throws(() => readSecretKey(text), message)
  })
}

function* flipBits(content: Uint8Array): Generator<{ bytes: Buffer; at: number }> {
  for (let at = 0; at < content.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const bytes = Buffer.from(content)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
      yield { bytes, at }
    }
  }
}

function withMethod(method: string): string {
  return changeSecret((bytes) => void bytes.write(method, 2, 'latin1'))
}

function withOtherSeed(): string {
  return changeSecret((bytes) => void bytes.write('other', 70))
}

function changeSecret(change: (bytes: Buffer) => void): string {
  const [comment = '', line = ''] = pair.secretKey.split('\n')
  const bytes = Buffer.from(line, 'base64')
  change(bytes)
  return `${comment}\n${bytes.toString('base64')}\n`
}
