import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { bccr } from '../../../../../src/providers/bccr/bccr.ts'
import { ecb } from '../../../../../src/providers/ecb/ecb.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

const PROVIDERS = [bccr, ecb]

function open(t: TestContext) {
  const dir = temporaryDirectory(t)
  const file = join(dir, 'token')
  const dataDir = join(dir, 'data')
  const key = (...words: string[]) => runCommand(['key', ...words, '--data-dir', dataDir], {}, PROVIDERS)
  return { file, key, dataDir }
}

test('`key create --in-url --side` creates a key for URLs and one side; `key list` shows both', async (t) => {
  const { key } = open(t)
  const created = await key('create', 'kmymoney', '--in-url', '--side', 'compra')
  assert.equal(created.code, 0)
  assert.match(created.out, /^cbk_\S+\n$/)
  assert.match(created.err, /http:\/\/HOST\/k\/KEY\//)
  await key('create', 'erp')
  const { out } = await key('list')
  assert.match(out, /kmymoney .* active; for URLs; compra\n/)
  assert.match(out, /erp .* active\n/)
  const [first] = JSON.parse((await key('list', '--json')).out)
  assert.deepEqual([first.kind, first.side, first.network], ['url', 'compra', null])
})

test('`key create --in-url --allow-origin` creates a key for the pages of websites', async (t) => {
  const { key } = open(t)
  const shop = 'https://tienda.example.com'
  const other = 'http://localhost:5173'
  assert.equal((await key('create', 'shop', '--in-url', '--allow-origin', `${shop}, ${other}`)).code, 0)
  assert.match(
    (await key('list')).out,
    /shop .* active; for URLs of https:\/\/tienda\.example\.com,http:\/\/localhost:5173\n/,
  )
  await key('rotate', 'shop')
  const [first] = JSON.parse((await key('list', '--json')).out)
  assert.deepEqual([first.origins, first.requests_30_days, first.networks], [`${shop},${other}`, 0, []])
})

test('`key create --secret-from` registers a token of the bank once and does not print it', async (t) => {
  const { file, key } = open(t)
  writeFileSync(file, '\ufeffA1B2C3D4E5\r\n')
  const created = await key('create', 'pos', '--secret-from', file, '--network', '192.168.1.0/24')
  assert.equal(created.code, 0, created.err)
  assert.ok(!(created.out + created.err).includes('A1B2C3D4E5'))
  assert.match((await key('list')).out, /pos .* active; the bank's token, from 192\.168\.1\.0\/24\n/)
  const again = await key('create', 'pos2', '--secret-from', file, '--network', '10.0.0.0/8')
  assert.deepEqual([again.code, again.out], [1, ''])
  assert.match(again.err, /this token is registered already/)
  const rotated = await key('rotate', 'pos')
  assert.deepEqual([rotated.code, rotated.out], [1, ''])
  assert.match(rotated.err, /a token of the bank, which has no new secret/)
})

for (const [title, words, code, message] of [
  [
    'a token without a network',
    ['--secret-from', 'FILE'],
    2,
    /--network is missing: such tokens are known to others/,
  ],
  [
    'a website without --in-url',
    ['--allow-origin', 'https://a.example'],
    2,
    /--allow-origin goes with --in-url/,
  ],
  ['a website with a path', ['--in-url', '--allow-origin', 'https://a.example/x'], 2, /must be origins/],
  ['a network without a token', ['--network', '10.0.0.0/8'], 2, /--network goes with --secret-from/],
  [
    'a network that is none',
    ['--secret-from', 'FILE', '--network', '10.0.0'],
    2,
    /--network must be addresses or networks/,
  ],
  [
    'a network of the whole internet',
    ['--secret-from', 'FILE', '--network', '0.0.0.0/1,128.0.0.0/1'],
    2,
    /--network must not be the whole internet/,
  ],
  [
    'a network of half the internet',
    ['--secret-from', 'FILE', '--network', '0.0.0.0/1'],
    2,
    /--network must be private networks, or at most 65,536 IPv4 addresses .*: 0\.0\.0\.0\/1 is larger/,
  ],
  [
    'a token for another provider',
    ['--secret-from', 'FILE', '--network', '10.0.0.0/8', '--provider', 'ecb'],
    2,
    /--provider does not go with --secret-from/,
  ],
  [
    'a token for URLs',
    ['--secret-from', 'FILE', '--network', '10.0.0.0/8', '--in-url'],
    2,
    /--in-url does not go/,
  ],
  [
    'a file that is not there',
    ['--secret-from', '/nowhere', '--network', '10.0.0.0/8'],
    1,
    /cannot read \/nowhere/,
  ],
  [
    'a file of two words',
    ['--secret-from', 'FILE', '--network', '10.0.0.0/8'],
    1,
    /must hold one token of 6 to 200/,
  ],
  ['a side that is none', ['--side', 'medio'], 2, /--side must be one of compra, venta/],
] as const) {
  test(`\`key create\` with ${title} is refused and creates nothing`, async (t) => {
    const { file, key } = open(t)
    writeFileSync(file, 'two words')
    await key('create', 'first')
    const end = await key('create', 'pos', ...words.map((word) => (word === 'FILE' ? file : word)))
    assert.equal(end.code, code, end.err)
    assert.match(end.err, message)
    assert.equal(JSON.parse((await key('list', '--json')).out).length, 1)
  })
}

test('`key create --provider` makes a key for the rates of an enabled source', async (t) => {
  const { key, dataDir } = open(t)
  const off = await key('create', 'frankfurt', '--provider', 'ecb')
  assert.deepEqual([off.code, off.out], [1, ''])
  assert.match(off.err, /the provider ecb is not enabled: cambista provider enable ecb\n/)
  const unknown = await key('create', 'frankfurt', '--provider', 'fed')
  assert.equal(unknown.code, 1)
  assert.match(unknown.err, /there is no provider fed: see cambista provider list\n/)
  assert.equal((await key('list', '--json')).out, '[]\n')

  assert.equal(
    (await runCommand(['provider', 'enable', 'ecb', '--data-dir', dataDir], {}, PROVIDERS)).code,
    0,
  )
  const created = await key('create', 'frankfurt', '--provider', 'ecb', '--in-url', '--json')
  assert.equal(JSON.parse(created.out).provider, 'ecb')
  assert.equal((await key('create', 'bank', '--provider', 'bccr', '--side', 'compra')).code, 0)
  const { out } = await key('list')
  assert.match(out, /frankfurt .* active; for URLs; rates of ecb\n/)
  assert.match(out, /bank .* active; compra\n/)
  await runCommand(['provider', 'disable', 'ecb', '--data-dir', dataDir], {}, PROVIDERS)
  assert.equal((await key('create', 'late', '--provider', 'ecb')).code, 1)
  await key('rotate', 'frankfurt')
  const [first, second] = JSON.parse((await key('list', '--json')).out)
  assert.deepEqual([first.provider, second.provider], ['ecb', null])
})
