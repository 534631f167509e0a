import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadCommands } from '../../../../src/cli/commands.ts'
import { helpTexts } from '../../../../src/cli/help/texts.ts'
import { variableName } from '../../../../src/cli/options/names.ts'
import { OPTIONS } from '../../../../src/cli/options/options.ts'
import { OPTIONAL_OPTIONS } from '../../../../src/cli/options/provider-options.ts'
import { temporaryDirectory } from '../../../support/app.ts'
import { runCommand } from '../../../support/terminal.ts'

const COMMANDS = await loadCommands()

test('--help lists every command; the help of a command lists its flags and an example', async () => {
  const program = await runCommand(['--help'])
  assert.equal(program.code, 0)
  assert.equal(program.err, '')
  for (const command of COMMANDS) {
    const { summary, example } = helpTexts('en').command(command.name)
    assert.ok(summary.length > 10 && example.includes(command.name), command.name)
    assert.match(program.out, new RegExp(`^  ${command.name}\\b.*(\\n {10,})?${summary.slice(0, 10)}`, 'm'))
    const help = await runCommand([...command.name.split(' '), '--help'])
    assert.equal(help.code, 0, command.name)
    // The help names the manual in place of the options of optional providers.
    const isOptional = (name: string) => OPTIONAL_OPTIONS.has(name)
    for (const name of command.options)
      if (!isOptional(name)) assert.match(help.out, new RegExp(`--${name}\\b`), command.name)
    assert.equal(
      /cambista manual\s+sources/.test(help.out),
      command.options.some(isOptional) || command.name === 'provider enable',
    )
    const oneLine = help.out.replaceAll(/ \\\n {4}/g, ' ')
    assert.ok(oneLine.includes(`Example: ${example}`), command.name)
  }
})

test('a required flag is in the usage line, and a command without it is wrong usage', async () => {
  for (const command of COMMANDS) {
    const { example } = helpTexts('en').command(command.name)
    const positionals = command.positionals.map(() => 'a')
    for (const name of command.required ?? []) {
      const help = await runCommand([...command.name.split(' '), '--help'])
      assert.match(help.out, new RegExp(`^Usage: [^]*? --${name} [^]*?\\n\\n`), command.name)
      const others = (command.required ?? [])
        .filter((other) => other !== name)
        .flatMap((other) => [`--${other}`, new RegExp(`--${other} (\\S+)`).exec(example)?.[1] ?? '1'])
      const end = await runCommand([...command.name.split(' '), ...positionals, ...others])
      assert.equal(end.code, 2, command.name)
      assert.match(end.err, new RegExp(`--${name} is missing`))
    }
  }
})

test('the usage line has flags of which one is required, and a command without them is wrong usage', async () => {
  const commands = COMMANDS.filter(({ anyOf }) => anyOf)
  assert.ok(commands.some(({ name }) => name === 'web'))
  for (const { name, positionals, required = [], anyOf = [] } of commands) {
    const help = await runCommand([...name.split(' '), '--help'])
    const choice = anyOf.map((flag) => `--${flag} [A-Z-]+`).join('\\|')
    assert.match(help.out, new RegExp(`^Usage: [^]*?\\s${choice}\\s[^]*?\n\n`), name)
    const others = required.flatMap((flag) => [`--${flag}`, '1'])
    const end = await runCommand([...name.split(' '), ...positionals.map(() => '1'), ...others])
    assert.equal(end.code, 2, name)
    for (const flag of anyOf) assert.match(end.err, new RegExp(`^cambista: give .*--${flag}`))
  }
})

test('--help after the first word of a command lists the commands that begin with it', async () => {
  for (const help of ['--help', '-h']) {
    const end = await runCommand(['key', help])
    assert.deepEqual([end.code, end.err], [0, ''])
    for (const word of ['create', 'list', 'revoke']) assert.match(end.out, new RegExp(`^  key ${word}`, 'm'))
    assert.doesNotMatch(end.out, /^ {2}serve/m)
  }
})

const wrongLines: [string, string, RegExp][] = [
  ['an unknown command', 'bogus', /no command "bogus"/],
  ['half a command', 'key', /key create, key list, key revoke/],
  ['an unknown flag', 'serve --prot 1', /'--prot'/],
  ['a flag of another command', 'key list --port 1', /'--port'/],
  ['a flag without its value', 'serve --port', /--port/],
  ['a port that is no number', 'serve --port abc', /--port must be an integer from 0 to 65535, not "abc"/],
  ['a port out of range', 'serve --port 65536', /--port must be/],
  ['a day that is none', 'sync --from 2026-02-30', /--from must be a calendar day written YYYY-MM-DD/],
  [
    'a range that ends before it begins',
    'sync --from 2026-02-02 --to 2026-02-01',
    /--from 2026-02-02 is after/,
  ],
  ['a range beyond tomorrow', 'sync --to 2999-01-01', /--to must not be after tomorrow/],
  ['a pattern that is none', 'serve --sync-cron x', /--sync-cron must be a cron pattern such as/],
  [
    'an hour that is none',
    'serve --sync-cron=0_25_*_*_*',
    /--sync-cron must be .* day of the week\), not "0 25/,
  ],
  [
    'a field too few',
    'serve --backup-cron=0_5_*_*',
    /--backup-cron must be .* day of the week\), not "0 5 \* \*"/,
  ],
  ['a pattern that never comes true', 'serve --sync-cron=0_5_30_2_*', /--sync-cron .* it never comes true/],
  [
    'a log level that is none',
    'serve --log-level loud',
    /--log-level must be one of debug, info, warn, error/,
  ],
  ['an address that is none', 'sync --bccr-url ftp://x', /--bccr-url must be an http or https URL/],
  ['a proxy that is no address', 'serve --trust-proxy nginx', /--trust-proxy must be .*: "nginx" is none/],
  [
    'a network too narrow',
    'serve --trust-proxy loopback,10.0.0.0/33',
    /--trust-proxy must be .*"10.0.0.0\/33"/,
  ],
  ['a certificate without a key', 'serve --tls-cert a.pem', /--tls-key is missing: --tls-cert is given/],
  ['a key without a certificate', 'serve --tls-key a.pem', /--tls-cert is missing: --tls-key is given/],
  [
    'an origin with a path',
    'serve --cors-origin https://a.b/',
    /--cors-origin must be origins .*"https:\/\/a.b\/" is none/,
  ],
  [
    'a host name with a port',
    'serve --host-name a.example:80',
    /--host-name must be host names .*"a.example:80"/,
  ],
  ['a port of the metrics that is none', 'serve --metrics-port x', /--metrics-port must be an integer/],
  ['a missing word', 'key create', /NAME is missing; usage: cambista key create NAME/],
  ['a word too many', 'key create a b', /unexpected "b"/],
  ['an id that is none', 'key revoke 0', /ID must be a positive integer, not "0"/],
]
for (const [title, line, expected] of wrongLines) {
  test(`${title} is wrong usage: exit 2, and the message names it`, async () => {
    const words = line.split(' ').map((word) => word.replaceAll('_', ' '))
    const end = await runCommand(words)
    assert.equal(end.code, 2)
    assert.match(end.err, expected)
    assert.equal(end.out, '')
    assert.doesNotMatch(end.err, /\n {4}at /)
  })
}

test('an address with a user or a password is wrong usage, and neither is shown', async () => {
  for (const address of [
    'http://ana:clave-4711@bank.example/api',
    'https://ana-4711@bank.example',
    'ftp://a:4711@b/',
  ]) {
    const flag = await runCommand(['sync', '--bccr-url', address])
    const variable = await runCommand(['sync'], { CAMBISTA_BCCR_URL: address })
    for (const { code, err } of [flag, variable]) {
      assert.equal(code, 2)
      assert.match(
        err,
        /must be an http or https URL without user and password, not "(http|https|ftp):\/\/\*\*\*@b/,
      )
      assert.doesNotMatch(err, /4711/)
    }
  }
})

test('the error of a wrong variable has its name, and a flag overrides a variable', async (t) => {
  const env = { CAMBISTA_PORT: '99999' }
  const end = await runCommand(['serve'], env)
  assert.equal(end.code, 2)
  assert.match(end.err, /CAMBISTA_PORT must be an integer/)

  const dataDir = temporaryDirectory(t)
  const other = await runCommand(['key', 'create', 'erp', '--data-dir', join(dataDir, 'a')], {
    CAMBISTA_DATA_DIR: join(dataDir, 'b'),
  })
  assert.equal(other.code, 0)
  assert.equal(existsSync(join(dataDir, 'b')), false)
})

test('an empty variable counts as unset', async () => {
  const env = Object.fromEntries(Object.keys(OPTIONS).map((name) => [variableName(name as never), '']))
  const end = await runCommand(['serve', '--help'], env)
  assert.equal(end.code, 0)
})

test('commands that need existing data do not create a data directory', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'none')
  const lines = `key list,key revoke 1,key rotate 1,token rotate a,key revoke a,provider list,series list,revision list,company list,owner list,agent list,agent activate 1,
    agent create --company 1 --name A,directory export,token list,token revoke 1,document list,document show 1,document export 1 --out x,
    document delete 1,document purge --older-than 1`
  for (const line of lines.split(',').map((one) => one.trim())) {
    const end = await runCommand([...line.split(' '), '--data-dir', dataDir])
    assert.equal(end.code, 1, line)
    assert.match(end.err, /there is no cambista database in .*: check --data-dir/)
  }
  assert.equal(existsSync(dataDir), false)
})

test('`key create` reports a data directory that cannot be created', async () => {
  const end = await runCommand(['key', 'create', 'erp', '--data-dir', '/proc/cambista'])
  assert.equal(end.code, 1)
  assert.match(end.err, /cannot open the database \/proc\/cambista/)
})
