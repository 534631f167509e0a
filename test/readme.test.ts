// README is true: its option table is the program's, and its commands are ones that the program takes.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseWords } from '../src/cli/args.ts'
import { flagOf } from '../src/cli/help.ts'
import { CALL_ONLY, OPTIONS, type Option, type OptionName } from '../src/cli/options.ts'
import { COMMANDS } from '../src/main.ts'

const ROOT = join(import.meta.dirname, '..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

test('the option table is that of the program', () => {
  const expected = Object.entries(OPTIONS as Record<string, Option>)
    .filter(([name]) => !CALL_ONLY.has(name))
    .map(([name, { fallback, help }]) => {
      const value = fallback === undefined ? '' : `\`${fallback}\``
      return `| \`${flagOf(name as OptionName)}\` | ${value} | ${help} |`
    })
  const [, table = ''] =
    /\| Flag \| Default \| Meaning \|\n\|---\|---\|---\|\n((?:\|.*\n)+)/.exec(readme) ?? []
  assert.deepEqual(table.trimEnd().split('\n'), expected)
})

test('every cambista command in it is one that the program takes', () => {
  const lines = [...readme.matchAll(/^cambista (.+?)(?: +#.*)?$/gm)].map(([, line]) => line ?? '')
  assert.ok(lines.length >= 7)
  for (const line of lines) {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    const command = COMMANDS.find(({ name }) => `${words.join(' ')} `.startsWith(`${name} `))
    assert.ok(command, line)
    const { positionals } = parseWords(words.slice(command.name.split(' ').length), command.options, {})
    assert.equal(positionals.length, command.takes.length, line)
  }
})

test('it names every endpoint that is there', async () => {
  const sources = [
    'rates',
    'series',
    'convert',
    'providers',
    'sync-runs',
    'scheduler',
    'health',
    'uploads',
    'agents',
  ]
  for (const source of [...sources, 'documents']) {
    const text = readFileSync(join(ROOT, `src/http/${source}.ts`), 'utf8')
    for (const [, path = ''] of text.matchAll(/^ {4}path: '([^']+)'/gm)) {
      const said = readme.includes(path) || readme.includes(path.replace('/api/v1/documents/{id}', '…/{id}'))
      assert.ok(said, path)
    }
  }
})

test('it is at most 250 lines', () => {
  assert.ok(readme.split('\n').length <= 250)
})
