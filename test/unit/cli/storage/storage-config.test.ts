// Which options of several nodes go together, and where a command then looks for its data: decided before anything is
// opened. What was typed is refused without a word of a password in it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseWords } from '../../../src/cli/args.ts'
import { HOOKS_PLACE, PLACE, WHOLE_PLACE } from '../../../src/cli/place/options.ts'
import { placeOf, refuseWithoutRegion } from '../../../src/cli/place/place.ts'
import type { Place } from '../../../src/store/place.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

const URL = 'postgres://cambista@db.example.com/cambista'
const DATABASE = ['--database', URL]
const BUCKET = ['--blobs', 's3://contents/of/cambista']
const FOLDER = ['--blobs', 'nodes', '--blobs-shared']

function placeBy(
  words: string[],
  env: Record<string, string> = {},
  names: typeof WHOLE_PLACE | typeof PLACE | typeof HOOKS_PLACE = WHOLE_PLACE,
) {
  const { options, flags } = parseWords(words, [...names, 'no-migrate'], env)
  const said: string[] = []
  const place = placeOf(options, { flags, say: (text) => said.push(text) })
  return { place, said: said.join('') }
}

const places: [words: string[], place: Place][] = [
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
for (const [words, place] of places) {
  test(`the data of \`${words.join(' ')}\``, () => {
    const found = placeBy(words)
    assert.deepEqual(JSON.parse(JSON.stringify(found.place)), place)
    assert.equal(found.said, '')
  })
}

test('variables say the same as flags', () => {
  const env = { CAMBISTA_DATABASE: URL, CAMBISTA_BLOBS: 'nodes', CAMBISTA_BLOBS_SHARED: '1' }
  assert.deepEqual(placeBy([], env), placeBy([...DATABASE, ...FOLDER]))
})

test('a command that needs no contents is not asked where they are', () => {
  assert.deepEqual(placeBy(DATABASE, {}, PLACE).place, {
    dataDir: './cambista-data',
    database: URL,
    blobs: undefined,
    hookKey: undefined,
  })
})

const refused: [words: string[], message: RegExp][] = [
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
for (const [words, message] of refused) {
  test(`refused: ${words.join(' ')}`, () => {
    assert.throws(() => placeBy(words), { code: 'usage', message })
  })
}

const ADDRESS = 'postgres://cambista:s3cr3t@db.example.com/cambista'

test('a password in a flag is warned of, and one in the environment or in a file is not', (t) => {
  const { said } = placeBy(['--database', ADDRESS, ...FOLDER])
  assert.match(said, /ps shows it/)
  assert.match(said, /CAMBISTA_DATABASE or --database-file.*PGPASSFILE/)
  assert.doesNotMatch(said, /s3cr3t/)
  assert.equal(placeBy(FOLDER, { CAMBISTA_DATABASE: ADDRESS }).said, '')
  const found = placeBy(['--database-file', fileWith(t, `${ADDRESS}\n`), ...FOLDER])
  assert.deepEqual([found.said, found.place.database], ['', ADDRESS])
})

test('a move is told of a password in its flags too, and --to is in place of any other address', async (t) => {
  const dir = join(temporaryDirectory(t), 'none')
  const words = ['migrate', '--data-dir', dir, ...FOLDER]
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

test('a file of the address that is empty or not there is a failure that names it', (t) => {
  const file = fileWith(t, '\n')
  assert.throws(() => placeBy(['--database-file', file, ...FOLDER]), {
    code: 'failed',
    message: new RegExp(file),
  })
  assert.throws(() => placeBy(['--database-file', `${file}.no`, ...FOLDER]), {
    code: 'failed',
    message: /ENOENT/,
  })
})

test('the key of hooks is read from a file, as it is or in words that openssl prints', (t) => {
  const key = randomBytes(32)
  const words = (bytes: Buffer | string) => [...DATABASE, '--hook-key-file', fileWith(t, bytes)]
  for (const bytes of [key, `${key.toString('base64')}\n`, key.toString('hex'), key.toString('base64url')]) {
    assert.deepEqual(placeBy(words(bytes), {}, HOOKS_PLACE).place.hookKey, key)
  }
  for (const bytes of ['', key.subarray(1), key.toString('hex').slice(2), 'k'.repeat(43).concat('!')]) {
    const expected = { code: 'failed', message: /there is no key in .*openssl rand -base64 32/ }
    assert.throws(() => placeBy(words(bytes), {}, HOOKS_PLACE), expected)
  }
  const nowhere = ['--hook-key-file', '/nowhere/key']
  assert.throws(() => placeBy([...DATABASE, ...nowhere], {}, HOOKS_PLACE), {
    code: 'failed',
    message: /ENOENT/,
  })
  const alone = { code: 'usage', message: /^--hook-key-file goes with --database/ }
  assert.throws(() => placeBy(nowhere, {}, HOOKS_PLACE), alone)
})

test('a data directory beside a database is ignored, with a word', () => {
  const { place, said } = placeBy([...DATABASE, ...FOLDER, '--data-dir', '/data'])
  assert.equal(place.database, URL)
  assert.match(said, /^cambista: --data-dir \/data is ignored/)
})

test('a command line ends with exit code 2 and opens nothing', async (t) => {
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

const backups = ['backup create DIR', 'backup restore DIR', 'serve --backup-dir DIR']
for (const line of backups) {
  test(`cambista ${line}: the administrator of the database makes backups of it`, async (t) => {
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

test('the region of a bucket is given, or is that of the environment or of a file of AWS', async (t) => {
  const { place } = placeBy([...DATABASE, ...BUCKET])
  const home = temporaryDirectory(t)
  const missing = /^the region of the bucket contents is missing: give --s3-region, or AWS_REGION/
  const refuses = (env: Record<string, string>) => {
    assert.throws(() => refuseWithoutRegion(place, env), { code: 'usage', message: missing })
  }
  refuses({ HOME: home })
  refuses({ HOME: home, AWS_REGION: '', AWS_CONFIG_FILE: join(home, 'none') })
  refuseWithoutRegion(place, { HOME: home, AWS_REGION: 'cr' })
  refuseWithoutRegion(place, { HOME: home, AWS_CONFIG_FILE: fileWith(t, '[default]\nregion = cr\n') })
  refuseWithoutRegion(placeBy([...DATABASE, ...BUCKET, '--s3-region', 'cr']).place, { HOME: home })
  refuseWithoutRegion(placeBy([...DATABASE, ...FOLDER]).place, { HOME: home })
  mkdirSync(join(home, '.aws'))
  writeFileSync(join(home, '.aws/credentials'), '')
  refuseWithoutRegion(place, { HOME: home })
})

for (const line of ['serve', 'doctor', 'migrate', 'document delete 1']) {
  test(`cambista ${line}: without a region nothing is opened`, async (t) => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
    process.env.HOME = temporaryDirectory(t)
    const { code, err } = await runCommand([...line.split(' '), ...DATABASE, ...BUCKET])
    assert.equal(code, 2)
    assert.match(err, /the region of the bucket contents is missing/)
  })
}

function inBucket(blobs: Place['blobs']): Place {
  return { dataDir: './cambista-data', database: URL, blobs }
}

function fileWith(t: TestContext, text: string | Buffer): string {
  const file = join(temporaryDirectory(t), 'address')
  writeFileSync(file, text)
  return file
}

const misplaced: [line: string, message: RegExp][] = [
  ['migrate ADDRESS', /unexpected address of a database: it is the value of --to or --database/],
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
  ['migrate --too ADDRESS', /unknown flag '--too': did you mean --to\?/],
  ['migrate --too=ADDRESS', /unknown flag '--too': did you mean --to\?/],
  ['migrate --ADDRESS', /unknown flag '--postgres:\/\/\*\*\*@/],
  ['migrate -ADDRESS', /unknown flag '-postgres:\/\/\*\*\*@/],
  ['migrate --json=ADDRESS', /'--json' does not take an argument/],
  ['key list --database-file ADDRESS', /^cambista: --database-file must not be the address of a database/],
  ['key list --data-dir ADDRESS', /^cambista: --data-dir must not be the address of a database/],
  ['key revoke a host=db,password=hidden', /unexpected "host=db,password=\*\*\*"/],
]
for (const [line, message] of misplaced) {
  test(`what an address of a database has is not repeated by \`${line}\``, async () => {
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

test('a variable that needs a file is not given an address', async () => {
  const env = { CAMBISTA_DATABASE_FILE: 'postgres://ana:hidden@db.example.com/cambista' }
  const { code, err } = await runCommand(['key', 'list'], env)
  assert.equal(code, 2)
  assert.match(err, /^cambista: CAMBISTA_DATABASE_FILE must not be the address of a database/)
  assert.doesNotMatch(err, /hidden/)
})
