// Which command is meant: flags in any place, the version, help, and what was probably meant by a mistake.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { COMMANDS, GROUPS } from '../../src/cli/commands.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { runCommand } from '../support/terminal.ts'

test('version, --version, -V and -v print the version, with flags before them too', async () => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } })
  for (const line of ['version', '--version', '-v', '-V', '--json --version', '-v serve', '-V serve']) {
    const expected = { code: 0, out: `${manifest.version}\n`, err: '' }
    assert.deepEqual(await runCommand(line.split(' ')), expected, line)
  }
})

test('flags may stand before a command, between its words and after it', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const lines = [
    ['--data-dir', dataDir, '--json', 'key', 'create', 'a'],
    [`--data-dir=${dataDir}`, 'key', '--json', 'create', 'b'],
    ['key', 'create', '--data-dir', dataDir, 'c', '--json'],
    ['--json', 'key', '--data-dir', dataDir, 'create', '--', 'd'],
  ]
  for (const [at, words] of lines.entries()) {
    const end = await runCommand(words)
    assert.equal(end.code, 0, end.err)
    assert.deepEqual([JSON.parse(end.out).id, JSON.parse(end.out).name], [at + 1, 'abcd'[at]])
  }
  const named = await runCommand(['--data-dir', 'key', '--limit', 'list', 'key', 'list'])
  assert.match(named.err, /unknown flag '--limit'/, 'the value of a flag is no command')
})

test('help is that of the program, of a group or of one command, wherever it is asked for', async () => {
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

test('the help of the program is in groups, each with a title, in the order of the list', async () => {
  const { out } = await runCommand(['--help'])
  const titles = [...out.matchAll(/^([A-Z][^:\n]*):$/gm)].map(([, title]) => title)
  assert.deepEqual(
    titles,
    GROUPS.map(({ title }) => title),
  )
  assert.ok(GROUPS.every(({ commands }) => commands.length > 0 && commands.length <= 12))
  assert.equal(new Set(COMMANDS.map(({ name }) => name)).size, COMMANDS.length)
})

const meant: [typed: string, hint: string][] = [
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
  ['backup frobnicate', '"backup frobnicate", but there are: backup create, backup verify, backup restore'],
  ['frobnicate', '"frobnicate"'],
  ['help frobnicate', '"frobnicate"'],
  ['8080', '"8080"'],
]
for (const [typed, hint] of meant) {
  test(`${typed} is no command: ${hint}`, async () => {
    const end = await runCommand(typed.split(' '))
    assert.deepEqual([end.code, end.out], [2, ''])
    const help = 'Try cambista --help, or cambista COMMAND --help.'
    assert.equal(end.err, `cambista: there is no command ${hint}\n${help}\n`)
  })
}

const flags: [typed: string, hint: string][] = [
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
for (const [typed, hint] of flags) {
  test(`${typed}: unknown flag ${hint}`, async () => {
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
