import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { loadCommands } from '../../../../src/cli/commands.ts'
import { PROVIDER_OPTIONS } from '../../../../src/cli/options/provider-options.ts'
import { type Environment, parseWords } from '../../../../src/cli/parse/args.ts'
import { providerSettingsReader } from '../../../../src/cli/parse/provider-settings.ts'
import {
  parseEnvironmentFile,
  readLibrarySettings,
  readSettings,
  withSettings,
} from '../../../../src/cli/parse/settings.ts'
import { run } from '../../../../src/main.ts'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import { TEST_PROVIDERS } from '../../../support/providers.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const COMMANDS = await loadCommands()

/** Runs a command line with the settings file of a service. */
async function runWithSettings(settingsFile: string, line: string, env: Environment = {}) {
  const printed = { out: '', err: '' }
  const stop = new AbortController()
  stop.abort() // `serve` and `demo` end at once
  const code = await run(line.split(' '), {
    env,
    settingsFile,
    out: (text) => {
      printed.out += text
    },
    err: (text) => {
      printed.err += text
    },
    providers: TEST_PROVIDERS,
    interactive: false,
    stop: stop.signal,
  })
  return { code, ...printed }
}

function writeSettings(t: TestContext, settings: (home: string) => string) {
  const home = temporaryDirectory(t)
  const file = join(home, 'cambista.env')
  writeFileSync(file, settings(home))
  return { home, file }
}

test('a command uses the data directory of the service and prints it on stderr', async (t) => {
  const { home, file } = writeSettings(t, (home) => `CAMBISTA_DATA_DIR=${home}/theirs\n`)
  const created = await runWithSettings(file, 'key create erp --json')
  assert.equal(created.code, 0, created.err)
  assert.equal(JSON.parse(created.out).name, 'erp')
  assert.ok(created.err.startsWith(`data directory: ${home}/theirs\n`), created.err)
  assert.ok(existsSync(join(home, 'theirs/cambista.db')))
})

test('a variable wins over the settings, a flag over both, and an empty variable over nothing', async (t) => {
  const { home, file } = writeSettings(t, (home) => `CAMBISTA_DATA_DIR=${home}/settings\n`)
  const where = async (line: string, env: Environment) =>
    /^data directory: (.*)$/m.exec((await runWithSettings(file, line, env)).err)?.[1]
  const env = { CAMBISTA_DATA_DIR: join(home, 'variable') }
  assert.equal(await where(`key create a --data-dir ${home}/flag`, env), join(home, 'flag'))
  assert.equal(await where('key create a', env), join(home, 'variable'))
  assert.equal(await where('key create a', { CAMBISTA_DATA_DIR: '' }), join(home, 'settings'))
})

test('commands that only read do not print the data directory', async (t) => {
  const { file } = writeSettings(t, (home) => `CAMBISTA_DATA_DIR=${home}/data\n`)
  await runWithSettings(file, 'key create erp')
  for (const line of [
    'key list',
    'company list --json',
    'series list',
    'directory export',
    'revision list',
    'indicator list',
  ]) {
    assert.deepEqual([(await runWithSettings(file, line)).err, line], ['', line])
  }
})

test('commands that change data print the data directory, also when they fail', async (t) => {
  const { home, file } = writeSettings(t, (home) => `CAMBISTA_DATA_DIR=${home}/data\n`)
  await runWithSettings(file, 'key create erp')
  const lines = `key revoke 9,key rotate 9,token rotate a,provider disable x,provider enable x,series disable 999,series enable 999,indicator disable 999,token revoke 9,
    company create --name A --code A,owner create --name A,agent create --company 9 --name A,agent activate 9,agent deactivate 9,
    token create erp --allow documents:GET,token update b --quota 1GiB,company update 9 --quota 1GiB,document delete 9,document purge --older-than 1,sync --from 2026-01-01`
  for (const line of lines.split(',').map((one) => one.trim())) {
    const { err } = await runWithSettings(file, line, { CAMBISTA_BCCR_URL: 'http://127.0.0.1:1' })
    assert.ok(err.startsWith(`data directory: ${home}/data\n`), `${line}: ${err}`)
  }
})

test('the error of a missing data directory is one line', async (t) => {
  const { file } = writeSettings(t, (home) => `CAMBISTA_DATA_DIR=${home}/none\n`)
  const { err } = await runWithSettings(file, 'key revoke 1')
  assert.match(err, /^cambista: there is no cambista database in [^\n]*\n$/)
})

test('a wrong value in the settings file is wrong usage with the path of the file', async (t) => {
  const { file } = writeSettings(t, () => 'CAMBISTA_PORT=http\n')
  const end = await runWithSettings(file, 'serve')
  assert.equal(end.code, 2)
  assert.match(end.err, /CAMBISTA_PORT in \/.*cambista\.env must be an integer from 0 to 65535, not "http"/)
})

test('commands that do not use the data of the service ignore its settings', async (t) => {
  const { file } = writeSettings(t, () => 'CAMBISTA_PORT=http\n')
  assert.equal((await runWithSettings(file, 'demo --host 127.0.0.1 --port 0')).code, 0)
  assert.equal((await runWithSettings(file, 'service print')).code, 0)
  assert.equal((await runWithSettings(file, '--version')).code, 0)
  const ignoring = COMMANDS.filter(({ ignoresService }) => ignoresService).map(({ name }) => name)
  const service = ['service install', 'service uninstall', 'service print']
  const metrics = ['metrics rules', 'metrics dashboard']
  assert.deepEqual(ignoring, [
    'demo',
    ...service,
    'cert create',
    'compat cert',
    ...metrics,
    'verify',
    'upgrade',
    'manual',
    'example',
    'completion',
    'version',
  ])
})

test('a directory in place of the settings file is a failure, a missing file is not', async (t) => {
  const home = temporaryDirectory(t)
  const end = await runWithSettings(home, 'key list')
  assert.equal(end.code, 1)
  assert.match(end.err, /cannot read the service's settings: EISDIR/)
  const none = await runWithSettings(join(home, 'a/b'), `key create erp --data-dir ${home}/data`)
  assert.equal(none.code, 0)
})

test('a token in the environment overrides the token file of the settings, and a flag overrides both', async (t) => {
  const { home, file } = writeSettings(t, (home) => `CAMBISTA_BCCR_TOKEN_FILE=${home}/bccr-token\n`)
  const token = (words: string[], env: Environment) => {
    const settings = readSettings(file, env)
    const { options } = parseWords(words, PROVIDER_OPTIONS, env, settings)
    return providerSettingsReader(options, withSettings(env, settings), TEST_PROVIDERS)(bccr).token
  }
  assert.throws(() => token([], {}), /cannot read the bank's token: ENOENT.*bccr-token/)
  writeFileSync(join(home, 'bccr-token'), '')
  assert.throws(() => token([], {}), /the file of the bank's token is empty: .*bccr-token/)
  writeFileSync(join(home, 'bccr-token'), 'of the file\n')
  writeFileSync(join(home, 'other'), 'of the flag\n')
  assert.equal(token([], {}), 'of the file')
  assert.equal(token([], { CAMBISTA_BCCR_TOKEN: 'of the environment' }), 'of the environment')
  const flag = ['--bccr-token-file', join(home, 'other')]
  assert.equal(token(flag, { CAMBISTA_BCCR_TOKEN: 'of the environment' }), 'of the flag')
})

// Recorded from systemd 252: each file was the EnvironmentFile of a unit that prints its environment.
const environmentFiles: [string, Record<string, string>][] = [
  ['CAMBISTA_A=b', { CAMBISTA_A: 'b' }],
  ['CAMBISTA_A=0 5 * * *  \n', { CAMBISTA_A: '0 5 * * *' }],
  ['CAMBISTA_A="0 5 * * *"\n', { CAMBISTA_A: '0 5 * * *' }],
  ["  CAMBISTA_A = ' b '\r\nCAMBISTA_B=c\r\n", { CAMBISTA_A: ' b ', CAMBISTA_B: 'c' }],
  ['# CAMBISTA_A=a\n;CAMBISTA_B=b\n #CAMBISTA_C=c\nCAMBISTA_D=d # e', { CAMBISTA_D: 'd # e' }],
  ['# continued \\\nCAMBISTA_A=a\nCAMBISTA_B=b', { CAMBISTA_B: 'b' }],
  ['CAMBISTA_A=a\nCAMBISTA_A=\n', { CAMBISTA_A: '' }],
  ['CAMBISTA_A="a\\"\\$\\n\n\\\nb"\'c\'d"e"', { CAMBISTA_A: 'a"$\\n\nbcd"e"' }],
  ['CAMBISTA_A=\\\\a\\\nb\\  \nexport CAMBISTA_B=c\nPATH=/\n', { CAMBISTA_A: '\\ab ' }],
  ["CAMBISTA_A='open\nCAMBISTA_B=b", { CAMBISTA_A: 'open\nCAMBISTA_B=b' }],
  [' = "\nnonsense\nCAMBISTA_A=`x`', { CAMBISTA_A: '`x`' }],
]
for (const [text, expected] of environmentFiles) {
  test(`${JSON.stringify(text)} is read as systemd reads it`, () => {
    assert.deepEqual(parseEnvironmentFile(text), expected)
  })
}

test('the settings file does not set options of a single call, such as --json', () => {
  const settings = { file: 'f', values: { CAMBISTA_JSON: '1' } }
  assert.equal(parseWords([], ['json'], {}, settings).options.json, false)
})

test('CAMBISTA_DATABASE in the environment replaces CAMBISTA_DATABASE_FILE of the settings', (t) => {
  const { file } = writeSettings(t, () => 'CAMBISTA_DATABASE_FILE=/etc/cambista/database\nCAMBISTA_PORT=1\n')
  assert.deepEqual(readSettings(file, { CAMBISTA_DATABASE: 'postgres://a@b/c' }).values, {
    CAMBISTA_PORT: '1',
  })
  const expected = { CAMBISTA_DATABASE_FILE: '/etc/cambista/database', CAMBISTA_PORT: '1' }
  assert.deepEqual(readSettings(file, { CAMBISTA_DATABASE: '' }).values, expected)
})

test('readLibrarySettings returns the variables of the clients of PostgreSQL and S3', (t) => {
  const text =
    'AWS_ACCESS_KEY_ID=key\nAWS_REGION="cr"\nPGPASSFILE=/etc/cambista/pgpass\nPATH=/evil\nNODE_OPTIONS=x\n'
  const { file } = writeSettings(t, () => text)
  const settings = readSettings(file, {})
  assert.deepEqual(settings.values, {})
  const expected = { AWS_ACCESS_KEY_ID: 'key', AWS_REGION: 'cr', PGPASSFILE: '/etc/cambista/pgpass' }
  assert.deepEqual(readLibrarySettings(settings), expected)
  assert.deepEqual(readLibrarySettings({ ...settings, hidden: true }), {})
  assert.deepEqual(readLibrarySettings(readSettings(undefined, {})), {})
})
