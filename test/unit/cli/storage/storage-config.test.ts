// Storage options: valid combinations, and the location of database and blobs. Wrong ones are refused before
// anything is opened, and errors never repeat a password.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { STORAGE, STORAGE_WITH_BLOBS, STORAGE_WITH_HOOK_KEY } from '../../../../src/cli/options/storage.ts'
import { parseWords } from '../../../../src/cli/parse/args.ts'
import { refuseWithoutRegion, storageConfig } from '../../../../src/cli/storage/storage-options.ts'
import type { StorageConfig } from '../../../../src/store/storage-config.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const URL = 'postgres://cambista@db.example.com/cambista'
const DATABASE = ['--database', URL]
const BUCKET = ['--blobs', 's3://contents/of/cambista']
const FOLDER = ['--blobs', 'nodes', '--blobs-shared']

function parseStorage(
  words: string[],
  env: Record<string, string> = {},
  names: typeof STORAGE_WITH_BLOBS | typeof STORAGE | typeof STORAGE_WITH_HOOK_KEY = STORAGE_WITH_BLOBS,
) {
  const { options, flags } = parseWords(words, [...names, 'no-migrate'], env)
  const warnings: string[] = []
  const config = storageConfig(options, { flags, warn: (text) => warnings.push(text) })
  return { config, warnings: warnings.join('') }
}

const configs: [words: string[], config: StorageConfig][] = [
  [[], { dataDir: './cambista-data' }],
  [['--data-dir', '/data'], { dataDir: '/data' }],
  [
    [...DATABASE, ...FOLDER],
    { dataDir: './cambista-data', database: URL, blobs: { folder: resolve('nodes') } },
  ],
  [[...DATABASE, ...BUCKET], inBucket({ bucket: 'contents', prefix: 'of/cambista' })],
  [[...DATABASE, '--blobs', 's3://contents'], inBucket({ bucket: 'contents', prefix: '' })],
  [[...DATABASE, '--blobs', 's3://contents/a/'], inBucket({ bucket: 'contents', prefix: 'a' })],
  [
    [...DATABASE, ...BUCKET, '--s3-endpoint', 'http://127.0.0.1:9000', '--s3-region', 'cr'],
    inBucket({ bucket: 'contents', prefix: 'of/cambista', endpoint: 'http://127.0.0.1:9000', region: 'cr' }),
  ],
]
for (const [words, config] of configs) {
  test(`\`${words.join(' ')}\` has its storage config`, () => {
    const result = parseStorage(words)
    assert.deepEqual(JSON.parse(JSON.stringify(result.config)), config)
    assert.equal(result.warnings, '')
  })
}

test('variables give the same storage config as flags', () => {
  const env = { CAMBISTA_DATABASE: URL, CAMBISTA_BLOBS: 'nodes', CAMBISTA_BLOBS_SHARED: '1' }
  assert.deepEqual(parseStorage([], env), parseStorage([...DATABASE, ...FOLDER]))
})

test('a command that needs no blobs does not require --blobs', () => {
  assert.deepEqual(parseStorage(DATABASE, {}, STORAGE).config, {
    dataDir: './cambista-data',
    database: URL,
    blobs: undefined,
    hookKey: undefined,
  })
})

const wrongOptions: [words: string[], message: RegExp][] = [
  [DATABASE, /^--database needs a place for .* --blobs s3:\/\/BUCKET\/PREFIX, or --blobs DIR --blobs-shared/],
  [
    [...DATABASE, '--blobs', 'nodes'],
    /^other nodes would not find .* nodes: give --blobs s3:.* --blobs-shared/,
  ],
  [[...DATABASE, ...BUCKET, '--blobs-shared'], /^--blobs-shared is for a directory/],
  [[...DATABASE, ...FOLDER, '--s3-region', 'cr'], /^--s3-region is for a bucket/],
  [[...DATABASE, ...FOLDER, '--s3-endpoint', 'http://a'], /^--s3-endpoint is for a bucket/],
  [[...DATABASE, '--database-file', 'x'], /^--database and --database-file .* both given/],
  [BUCKET, /^--blobs goes with --database/],
  [['--blobs', 'nodes'], /^--blobs goes with --database/],
  [['--blobs-shared'], /^--blobs-shared goes with --database/],
  [['--s3-endpoint', 'http://a'], /^--s3-endpoint goes with --database/],
  [['--s3-region', 'cr'], /^--s3-region goes with --database/],
  [['--no-migrate'], /^--no-migrate goes with --database/],
  [[...DATABASE, '--blobs', 's3://'], /^--blobs must be s3:\/\/BUCKET\/PREFIX/],
  [
    [...DATABASE, '--blobs', 's3://key:secret@contents'],
    /^--blobs must be s3:.* not "s3:\/\/\*\*\*@contents"$/,
  ],
  [[...DATABASE, '--blobs', 'gs://contents'], /^--blobs must be s3:/],
]
for (const [words, message] of wrongOptions) {
  test(`\`${words.join(' ')}\` is wrong usage`, () => {
    assert.throws(() => parseStorage(words), { code: 'usage', message })
  })
}

const ADDRESS = 'postgres://cambista:s3cr3t@db.example.com/cambista'

test('a password in --database has a warning, one in the environment or in a file has none', (t) => {
  const { warnings } = parseStorage(['--database', ADDRESS, ...FOLDER])
  assert.match(warnings, /ps shows it/)
  assert.match(warnings, /CAMBISTA_DATABASE or --database-file.*PGPASSFILE/)
  assert.doesNotMatch(warnings, /s3cr3t/)
  assert.equal(parseStorage(FOLDER, { CAMBISTA_DATABASE: ADDRESS }).warnings, '')
  const result = parseStorage(['--database-file', writeTemporaryFile(t, `${ADDRESS}\n`), ...FOLDER])
  assert.deepEqual([result.warnings, result.config.database], ['', ADDRESS])
})

test('`cluster import` warns of a password in --to, which overrides any other address', async (t) => {
  const dir = join(temporaryDirectory(t), 'none')
  const words = ['cluster', 'import', '--data-dir', dir, ...FOLDER]
  const other = { CAMBISTA_DATABASE_FILE: `${dir}/address` }
  for (const [flag, env] of [
    ['--database', {}],
    ['--to', {}],
    ['--to', other],
  ] as const) {
    const { code, err } = await runCommand([...words, flag, ADDRESS], env)
    assert.deepEqual([code, /ps shows it/.test(err)], [1, true], err)
    assert.match(err, new RegExp(`${dir}`))
    assert.doesNotMatch(err, /s3cr3t/)
  }
})

test('--database-file that is empty or missing is a failure with its path', (t) => {
  const file = writeTemporaryFile(t, '\n')
  assert.throws(() => parseStorage(['--database-file', file, ...FOLDER]), {
    code: 'failed',
    message: new RegExp(file),
  })
  assert.throws(() => parseStorage(['--database-file', `${file}.no`, ...FOLDER]), {
    code: 'failed',
    message: /ENOENT/,
  })
})

test('--hook-key-file reads the key as bytes, base64 or hex', (t) => {
  const key = randomBytes(32)
  const words = (bytes: Buffer | string) => [...DATABASE, '--hook-key-file', writeTemporaryFile(t, bytes)]
  for (const bytes of [
    key,
    `${key.toString('base64')}\n`,
    `\ufeff${key.toString('base64')}\r\n`,
    `\ufeff${key.toString('hex')}\r\n`,
    key.toString('hex'),
    key.toString('base64url'),
  ]) {
    assert.deepEqual(parseStorage(words(bytes), {}, STORAGE_WITH_HOOK_KEY).config.hookKey, key)
  }
  for (const bytes of ['', key.subarray(1), key.toString('hex').slice(2), 'k'.repeat(43).concat('!')]) {
    const expected = { code: 'failed', message: /there is no key in .*openssl rand -base64 32/ }
    assert.throws(() => parseStorage(words(bytes), {}, STORAGE_WITH_HOOK_KEY), expected)
  }
  const nowhere = ['--hook-key-file', '/nowhere/key']
  assert.throws(() => parseStorage([...DATABASE, ...nowhere], {}, STORAGE_WITH_HOOK_KEY), {
    code: 'failed',
    message: /ENOENT/,
  })
  const alone = { code: 'usage', message: /^--hook-key-file goes with --database/ }
  assert.throws(() => parseStorage(nowhere, {}, STORAGE_WITH_HOOK_KEY), alone)
})

test('--data-dir with --database is ignored with a warning', () => {
  const { config, warnings } = parseStorage([...DATABASE, ...FOLDER, '--data-dir', '/data'])
  assert.equal(config.database, URL)
  assert.match(warnings, /^cambista: --data-dir \/data is ignored/)
})

test('wrong storage options exit with 2, and the password is not in the error', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const mistakes = [
    ['serve', '--data-dir', dataDir, ...BUCKET],
    ['serve', ...DATABASE],
    ['document', 'export', '1', '--out', join(dataDir, 'x'), ...DATABASE],
    ['key', 'list', '--database', 'postgers://u:s3cr3t@h/d'],
    ['key', 'list', '--database', 'postgres://u:s3c/r3t@h/d'],
    ['key', 'list', '--database', 'postgres://h/d'],
    ['key', 'list', '--database', 'postgres://u:s3cr3t@h/d?sslmode=prefer'],
  ]
  for (const words of mistakes) {
    const { code, err } = await runCommand(words)
    assert.equal(code, 2, words.join(' '))
    assert.doesNotMatch(err, /s3c/)
  }
})

const backupLines = ['backup create DIR', 'backup restore DIR', 'serve --backup-dir DIR']
for (const line of backupLines) {
  test(`${line} with PostgreSQL is wrong usage: its administrator makes the backups`, async (t) => {
    const dir = join(temporaryDirectory(t), 'set')
    const env = { CAMBISTA_DATABASE: URL, CAMBISTA_BLOBS: 's3://contents', CAMBISTA_S3_REGION: 'cr' }
    const { code, err } = await runCommand(line.replace('DIR', dir).split(' '), env)
    assert.equal(code, 2)
    assert.match(
      err,
      /PostgreSQL, which its administrator backs up \(pg_dump.*--keep-removed days.*manual cluster/,
    )
    assert.equal(existsSync(dir), false)
  })
}

test('refuseWithoutRegion accepts --s3-region, AWS_REGION or a file of AWS', async (t) => {
  const { config } = parseStorage([...DATABASE, ...BUCKET])
  const home = temporaryDirectory(t)
  const missing = /^the region of the bucket contents is missing: give --s3-region, or AWS_REGION/
  const refuses = (env: Record<string, string>) => {
    assert.throws(() => refuseWithoutRegion(config, env), { code: 'usage', message: missing })
  }
  refuses({ HOME: home })
  refuses({ HOME: home, AWS_REGION: '', AWS_CONFIG_FILE: join(home, 'none') })
  refuseWithoutRegion(config, { HOME: home, AWS_REGION: 'cr' })
  refuseWithoutRegion(config, {
    HOME: home,
    AWS_CONFIG_FILE: writeTemporaryFile(t, '[default]\nregion = cr\n'),
  })
  refuseWithoutRegion(parseStorage([...DATABASE, ...BUCKET, '--s3-region', 'cr']).config, { HOME: home })
  refuseWithoutRegion(parseStorage([...DATABASE, ...FOLDER]).config, { HOME: home })
  mkdirSync(join(home, '.aws'))
  writeFileSync(join(home, '.aws/credentials'), '')
  refuseWithoutRegion(config, { HOME: home })
})

for (const line of ['serve', 'doctor', 'cluster import', 'document delete 1']) {
  test(`${line} without a region of the bucket is wrong usage`, async (t) => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
    process.env.HOME = temporaryDirectory(t)
    const { code, err } = await runCommand([...line.split(' '), ...DATABASE, ...BUCKET])
    assert.equal(code, 2)
    assert.match(err, /the region of the bucket contents is missing/)
  })
}

function inBucket(blobs: StorageConfig['blobs']): StorageConfig {
  return { dataDir: './cambista-data', database: URL, blobs }
}

function writeTemporaryFile(t: TestContext, text: string | Buffer): string {
  const file = join(temporaryDirectory(t), 'address')
  writeFileSync(file, text)
  return file
}

const misplacedAddresses: [line: string, message: RegExp][] = [
  ['cluster import ADDRESS', /unexpected address of a database: it is the value of --to or --database/],
  ['sync ADDRESS', /unexpected address .* the value of --database\n/],
  ['key create ADDRESS', /unexpected address .* the value of --database\n/],
  ['backup verify ADDRESS', /unexpected address of a database: /],
  ['version ADDRESS', /unexpected address of a database: this command takes none/],
  ['manual ADDRESS', /unexpected address of a database/],
  ['ADDRESS', /unexpected address .* the value of --database\n/],
  ['ADDRESS sync', /unexpected address/],
  ['agent ADDRESS', /unexpected address/],
  ['agent --databse ADDRESS list', /unexpected address/],
  ['--databse ADDRESS migrate', /unknown flag '--databse'/],
  ['cluster import --too ADDRESS', /unknown flag '--too': did you mean --to\?/],
  ['cluster import --too=ADDRESS', /unknown flag '--too': did you mean --to\?/],
  ['cluster import --ADDRESS', /unknown flag '--postgres:\/\/\*\*\*@/],
  ['cluster import -ADDRESS', /unknown flag '-postgres:\/\/\*\*\*@/],
  ['cluster import --json=ADDRESS', /--json takes no value/],
  ['key list --database-file ADDRESS', /^cambista: --database-file must not be the address of a database/],
  ['key list --data-dir ADDRESS', /^cambista: --data-dir must not be the address of a database/],
  ['key revoke a host=db,password=hidden', /unexpected "host=db,password=\*\*\*"/],
]
for (const [line, message] of misplacedAddresses) {
  test(`the error of \`${line}\` has no part of the database address`, async () => {
    const address = 'postgres://ana:hid/den@db.example.com/cambista?password=hidden'
    for (const language of ['en', 'es']) {
      const words = line.replace('ADDRESS', address).split(' ')
      const { code, out, err } = await runCommand(words, { LANG: language })
      assert.deepEqual([code, out], [2, ''])
      if (language === 'en') assert.match(err, message)
      assert.doesNotMatch(err, /hid|den@/, language)
    }
  })
}

test('CAMBISTA_DATABASE_FILE with an address is wrong usage', async () => {
  const env = { CAMBISTA_DATABASE_FILE: 'postgres://ana:hidden@db.example.com/cambista' }
  const { code, err } = await runCommand(['key', 'list'], env)
  assert.equal(code, 2)
  assert.match(err, /^cambista: CAMBISTA_DATABASE_FILE must not be the address of a database/)
  assert.doesNotMatch(err, /hidden/)
})
