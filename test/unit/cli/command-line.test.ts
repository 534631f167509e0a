// The parser of command lines: flags at any position, version, help, and hints for mistyped commands and flags.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadCommands } from '../../../src/cli/commands.ts'
import { helpTexts } from '../../../src/cli/help/texts.ts'
import { SCHEMA_VERSION } from '../../../src/store/migrations.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

const COMMANDS = await loadCommands()

test('version, --version, -V and -v print version and schema, also after other flags', async () => {
  const { default: manifest } = await import('../../../package.json', { with: { type: 'json' } })
  const { version } = manifest
  for (const line of ['version', '--version', '-v', '-V', '-v serve', '-V serve']) {
    const out = `cambista ${version}, run from its sources, schema ${SCHEMA_VERSION}\n`
    assert.deepEqual(await runCommand(line.split(' ')), { code: 0, out, err: '' }, line)
  }
  for (const line of ['version --json', '--version --json', '--json --version', '--json -V']) {
    const { code, out, err } = await runCommand(line.split(' '))
    assert.deepEqual([code, err], [0, ''], line)
    const expected = { version, commit: null, date: null, schema: SCHEMA_VERSION, packed: false }
    assert.deepEqual(JSON.parse(out), expected, line)
  }
})

test('flags are accepted before a command, between its words and after it', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const lines = [
    ['--data-dir', dataDir, '--json', 'key', 'create', 'a'],
    [`--data-dir=${dataDir}`, 'key', '--json', 'create', 'b'],
    ['key', 'create', '--data-dir', dataDir, 'c', '--json'],
    ['--json', 'key', '--data-dir', dataDir, 'create', '--', 'd'],
  ]
  for (const [index, words] of lines.entries()) {
    const { code, out, err } = await runCommand(words)
    assert.equal(code, 0, err)
    const key = JSON.parse(out)
    assert.deepEqual([key.id, key.name], [index + 1, 'abcd'[index]])
  }
  const end = await runCommand(['--data-dir', 'key', '--limit', 'list', 'key', 'list'])
  assert.match(end.err, /unknown flag '--limit'/, 'the value of a flag is no command')
})

test('help describes the program, a group or one command, with --help at any position', async () => {
  const serve = await runCommand(['serve', '--help'])
  assert.match(serve.out, /^Usage: cambista serve /)
  for (const line of ['--help serve', 'help serve', '-h serve', 'serve -h', '--port 80 serve --help']) {
    assert.deepEqual(await runCommand(line.split(' ')), serve, line)
  }
  const create = await runCommand(['key', 'create', '--help'])
  assert.deepEqual(await runCommand(['help', 'key', 'create']), create)
  const group = await runCommand(['key', '--help'])
  assert.doesNotMatch(group.out, /^ {2}serve/m)
  for (const line of ['help key', 'key help', '--help key', '-h key']) {
    assert.deepEqual(await runCommand(line.split(' ')), group, line)
  }
  const program = await runCommand(['--help'])
  assert.deepEqual(await runCommand(['help']), program)
  assert.deepEqual(await runCommand([]), { ...program, code: 2 })
})

test('the help of the program lists the commands in groups with titles, in the order of COMMANDS', async () => {
  const { out } = await runCommand(['--help'])
  const titles = [...out.matchAll(/^([A-Z][^:\n]*):$/gm)].map(([, title]) => title)
  assert.deepEqual(
    titles,
    helpTexts('en').groups.map(({ title }) => title),
  )
  assert.ok(helpTexts('en').groups.every(({ commands }) => commands.length > 0 && commands.length <= 12))
  assert.equal(new Set(COMMANDS.map(({ name }) => name)).size, COMMANDS.length)
})

const commandHints: [typed: string, hint: string][] = [
  ['serv', '"serv": did you mean cambista serve?'],
  ['Serve', '"Serve": did you mean cambista serve?'],
  ['snyc', '"snyc": did you mean cambista sync?'],
  ['start', '"start": did you mean cambista serve?'],
  ['status', '"status": did you mean cambista healthcheck?'],
  ['key crate erp', '"key crate": did you mean cambista key create?'],
  ['keys list', '"keys list": did you mean cambista key list?'],
  ['list keys', '"list keys": did you mean cambista key list?'],
  ['create key', '"create key": did you mean cambista key create?'],
  ['kye create erp', '"kye create": did you mean cambista key create?'],
  ['restore', '"restore": did you mean cambista backup restore?'],
  ['backups', '"backups": did you mean cambista backup create, or backup verify, or backup restore?'],
  ['rotate', '"rotate": did you mean cambista key rotate, or token rotate, or hook rotate?'],
  ['migrate', '"migrate": did you mean cambista cluster import, or database upgrade?'],
  ['migrate --to=postgres://a', '"migrate": did you mean cambista cluster import, or database upgrade?'],
  ['database migrate', '"database migrate": did you mean cambista database upgrade?'],
  ['help database migrate', '"database migrate": did you mean cambista database upgrade?'],
  ['backup frobnicate', '"backup frobnicate", but there are: backup create, backup verify, backup restore'],
  ['frobnicate', '"frobnicate"'],
  ['help frobnicate', '"frobnicate"'],
  ['8080', '"8080"'],
]
for (const [typed, hint] of commandHints) {
  test(`the unknown command ${typed} has the hint ${hint}`, async () => {
    const end = await runCommand(typed.split(' '))
    assert.deepEqual([end.code, end.out], [2, ''])
    const help = 'Try cambista --help, or cambista COMMAND --help.'
    assert.equal(end.err, `cambista: there is no command ${hint}\n${help}\n`)
  })
}

const flagHints: [typed: string, hint: string][] = [
  ['serve --prot 1', "'--prot': did you mean --port?"],
  ['serve --prot=1', "'--prot': did you mean --port?"],
  ['serve -port 1', "'-port': did you mean --port?"],
  ['serve --Data_Dir x', "'--Data_Dir': did you mean --data-dir?"],
  ['serve --bakcup-dri x', "'--bakcup-dri': did you mean --backup-dir?"],
  ['--prot 1 serve', "'--prot': did you mean --port?"],
  ['key list --hlep', "'--hlep': did you mean --help?"],
  ['key list --port 1', "'--port': this command takes --data-dir, --database, --database-file, --json"],
  ['service print --json', "'--json': this command takes --low-ports"],
  ['manual --json', "'--json': this command takes none"],
  ['serve --frobnicate', "'--frobnicate'"],
  ['serve -x', "'-x'"],
]
for (const [typed, hint] of flagHints) {
  test(`${typed}: the unknown flag has the hint ${hint}`, async () => {
    const end = await runCommand(typed.split(' '))
    assert.deepEqual([end.code, end.out], [2, ''])
    assert.equal(end.err.split('\n')[0], `cambista: unknown flag ${hint}`)
  })
}

test('flags without a command are wrong usage', async () => {
  const end = await runCommand(['--data-dir', 'serve'])
  assert.equal(end.code, 2)
  assert.match(end.err, /^cambista: COMMAND is missing\n/)
})
