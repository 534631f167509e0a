// The help as JSON, for programs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCommandLine } from '../../../../src/cli/command-line.ts'
import { loadCommands } from '../../../../src/cli/commands.ts'
import { runCommand } from '../../../support/terminal.ts'

type DescribedCommand = {
  name: string
  arguments: string[]
  changes_data: boolean
  options: { flag: string; value: string | null; default: string | null; variable: string | null }[]
}

test('`--help --json` describes each command, with the variable and default of each option', async () => {
  const { code, out } = await runCommand(['--help', '--json'])
  assert.equal(code, 0)
  const { commands } = JSON.parse(out) as { commands: DescribedCommand[] }
  assert.deepEqual(
    commands.map(({ name }) => name),
    (await loadCommands()).map(({ name }) => name),
  )
  const find = (name: string) => commands.find((one) => one.name === name)
  assert.deepEqual(
    find('serve')?.options.find(({ flag }) => flag === '--port'),
    {
      ...{ flag: '--port', value: 'PORT', default: '8080', variable: 'CAMBISTA_PORT' },
      ...{ repeats: false, required: false },
    },
  )
  assert.deepEqual([find('key create')?.arguments, find('key create')?.changes_data], [['NAME'], true])
  const allow = find('token create')?.options.find(({ flag }) => flag === '--allow')
  assert.deepEqual(allow, {
    ...{
      flag: '--allow',
      value: 'FAMILY:METHOD',
      default: null,
      variable: null,
      repeats: true,
      required: true,
    },
  })
})

test('`--help --json` of a command or a group describes it alone, in the form of the whole help', async () => {
  const whole = JSON.parse((await runCommand(['--help', '--json'])).out) as { commands: DescribedCommand[] }
  const describe = async (words: string[]) => {
    const { code, out } = await runCommand(words)
    return { code, help: JSON.parse(out) as unknown }
  }
  const expected = (isWanted: (name: string) => boolean) => ({
    code: 0,
    help: { ...whole, commands: whole.commands.filter(({ name }) => isWanted(name)) },
  })
  for (const words of [
    ['key', '--help', '--json'],
    ['key', 'help', '--json'],
    ['help', 'key', '--json'],
  ])
    assert.deepEqual(
      await describe(words),
      expected((name) => name.startsWith('key ')),
    )
  for (const words of [
    ['key', 'create', '--help', '--json'],
    ['key', '--json', '--help', 'create', 'erp'],
    ['help', 'key', 'create', '--json'],
  ])
    assert.deepEqual(
      await describe(words),
      expected((name) => name === 'key create'),
    )
  // A command without --json of its own.
  assert.deepEqual(
    await describe(['serve', '--json', '-h']),
    expected((name) => name === 'serve'),
  )
})

test('`--json` before or after `--help` means the same, and help without it is a text', () => {
  for (const words of [
    ['--help', '--json'],
    ['--json', '--help'],
  ])
    assert.deepEqual(readCommandLine(words, []), { kind: 'help', json: true })
  assert.deepEqual(readCommandLine(['--help'], []), { kind: 'help', json: false })
})
