// README and the manual are true: the option table is the program's, and the commands are ones that the program takes.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseWords } from '../src/cli/args.ts'
import { COMMANDS } from '../src/cli/commands.ts'
import { flagOf } from '../src/cli/help.ts'
import type { Option } from '../src/cli/option-names.ts'
import { CALL_ONLY, CLUSTER_ONLY, OPTIONS, type OptionName } from '../src/cli/options.ts'

const ROOT = join(import.meta.dirname, '..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const manualFiles = readdirSync(join(ROOT, 'src/manual')).map((name) => `src/manual/${name}`)

test('the option table is that of the program, without those of several nodes', () => {
  const expected = Object.entries(OPTIONS as Record<string, Option>)
    .filter(([name]) => !CALL_ONLY.has(name) && !CLUSTER_ONLY.has(name))
    .map(([name, { fallback, help }]) => {
      const value = fallback === undefined ? '' : `\`${fallback}\``
      return `| \`${flagOf(name as OptionName)}\` | ${value} | ${help} |`
    })
  const [, table = ''] =
    /\| Flag \| Default \| Meaning \|\n\|---\|---\|---\|\n((?:\|.*\n)+)/.exec(readme) ?? []
  assert.deepEqual(table.trimEnd().split('\n'), expected)
})

test('those of several nodes are in the manual of the cluster, with the texts of the help', () => {
  const manual = readFileSync(join(ROOT, 'src/manual/cluster.md'), 'utf8')
  const options = Object.entries(OPTIONS as Record<string, Option>).filter(([name]) => CLUSTER_ONLY.has(name))
  const expected = options.map(([name, { fallback, help }]) => {
    const value = fallback === undefined ? '' : ` (\`${fallback}\`)`
    return `\`${flagOf(name as OptionName)}\`${value}: ${help}`
  })
  const [, section = ''] = /^## Options\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(manual) ?? []
  const items = section.split(/^- /m).slice(1)
  assert.deepEqual(
    items.map((item) => item.split('\n\n')[0]?.trim().replace(/\n */g, ' ')),
    expected,
  )
})

for (const path of ['README.md', ...manualFiles]) {
  test(`every cambista command in ${path} is one that the program takes`, () => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const lines = commandLinesIn(text)
    assert.ok(lines.length > 0, 'it shows no command any more')
    for (const line of lines) checkCommand(line, { whole: true })
    for (const [, line = ''] of text.matchAll(/`(?:sudo )?cambista ([^`]+)`/g))
      checkCommand(line, { whole: false })
  })
}

test('a command line that the program does not take is noticed', () => {
  for (const line of ['backup make DIR', 'serve --prot 1', 'key create', 'key create a b', 'manual backup']) {
    assert.throws(() => checkCommand(line, { whole: true }), Error, line)
  }
  assert.deepEqual(
    commandLinesIn('x\n```sh\n  sudo ./cambista serve   # it serves\nls | cambista\n```\ncambista y\n'),
    ['serve'],
  )
})

test('it names every endpoint that is there', () => {
  const folder = join(ROOT, 'src/http')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('')
  const paths = [...text.matchAll(/^ +path: '(\/(?:api|healthz|readyz)[^']*)'/gm)].map(
    ([, path = '']) => path,
  )
  assert.ok(paths.length >= 15, 'the endpoints are not found any more')
  const isNamed = (path: string) =>
    readme.includes(path) || readme.includes(path.replace('/api/v1/documents/{id}', '…/{id}'))
  assert.deepEqual(
    paths.filter((path) => !isNamed(path)),
    [],
  )
})

test('it links each topic of the manual', () => {
  const linked = [...readme.matchAll(/^\| \[(\w+)\]\((src\/manual\/\1\.md)\) \|/gm)].map(([, , path]) => path)
  assert.deepEqual(linked.sort(), manualFiles.sort())
})

test('README is at most 220 lines beside its table of options', () => {
  const lines = readme.split('\n').filter((line) => !line.startsWith('| `--'))
  assert.ok(lines.length <= 220, `${lines.length} lines`)
})

/** The command lines of the shell blocks, without their comments and what goes before and after. */
function commandLinesIn(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block)
  return blocks
    .flatMap((block) => block.split('\n'))
    .flatMap((line) => /^ *(?:sudo )?(?:\.\/)?cambista (.+?)(?: +(?:#|&&|\||>).*)?$/.exec(line)?.[1] ?? [])
}

/** @throws when there is no such command, it has no such flag, or, of a `whole` line, a word is missing or too many */
function checkCommand(line: string, { whole }: { whole: boolean }): void {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  if (!whole && /^[A-Z…]|^--/.test(line)) return // COMMAND stands for any
  const command = COMMANDS.find(({ name }) => `${words.join(' ')} `.startsWith(`${name} `))
  assert.ok(command, line)
  const rest = words.slice(command.name.split(' ').length).filter((word) => word !== '--help')
  const { positionals } = parseWords(rest, command.options, {}, undefined, command.own)
  const { choices } = command
  const least = whole ? command.positionals.filter((word) => !word.startsWith('[')).length : 0
  assert.ok(positionals.length >= least && positionals.length <= command.positionals.length, line)
  const [first] = positionals
  if (first !== undefined && choices && /^[a-z]/.test(first)) assert.ok(choices.includes(first), line)
}
