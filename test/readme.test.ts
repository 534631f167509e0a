// Compares README and the manual with the program: options, commands, endpoints.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCommandLine } from '../src/cli/command-line.ts'
import { loadCommands } from '../src/cli/commands.ts'
import { parseWords } from '../src/cli/parse/args.ts'
import { optionPages } from './promises/options.ts'

const COMMANDS = await loadCommands()

const ROOT = join(import.meta.dirname, '..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const manualFiles = globSync('src/manual/**/*.md', { cwd: ROOT })

for (const { path, text, expected } of optionPages()) {
  test(`${path} has the options of the program: node test/promises/options.ts writes them`, () => {
    assert.ok([...text.matchAll(/^- `--/gm)].length > 40)
    assert.equal(text, expected)
  })
}

for (const path of ['README.md', ...manualFiles]) {
  test(`each cambista command in ${path} is valid`, () => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const lines = parseCommandLines(text)
    assert.ok(lines.length > 0, 'it shows no command any more')
    for (const line of lines) checkCommand(line, { whole: true })
    for (const [, line = ''] of text.matchAll(/`(?:sudo )?cambista ([^`]+)`/g))
      checkCommand(line, { whole: false })
  })
}

test('checkCommand rejects an invalid command line', () => {
  for (const line of ['backup make DIR', 'serve --prot 1', 'key create', 'key create a b', 'manual backup']) {
    assert.throws(() => checkCommand(line, { whole: true }), Error, line)
  }
  assert.deepEqual(
    parseCommandLines('x\n```sh\n  sudo ./cambista serve   # it serves\nls | cambista\n```\ncambista y\n'),
    ['serve'],
  )
})

test('src/manual/api.md names each endpoint', () => {
  const folder = join(ROOT, 'src/http')
  const files = globSync('**/*.ts', { cwd: folder })
  const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('')
  const paths = [...text.matchAll(/^ +path: '(\/(?:api|healthz|readyz)[^']*)'/gm)].map(
    ([, path = '']) => path,
  )
  assert.ok(paths.length >= 15, 'the endpoints are not found any more')
  const api = readFileSync(join(ROOT, 'src/manual/api.md'), 'utf8')
  const isNamed = (path: string) =>
    api.includes(path) || api.includes(path.replace('/api/v1/documents/{id}', '…/{id}'))
  assert.deepEqual(
    paths.filter((path) => !isNamed(path)),
    [],
  )
})

test('README links each topic of the manual', () => {
  const links = [...readme.matchAll(/^\| \[(\w+)\]\((src\/manual\/(?:es\/)?\1\.md)\) \|/gm)].map(
    ([, , path]) => path,
  )
  const english = manualFiles.filter((path) => !path.includes('/es/'))
  assert.deepEqual(links.sort(), [...english, 'src/manual/es/leame.md'].sort())
})

test('README, its translation and SECURITY show the key of the releases, if there is one', () => {
  const file = join(ROOT, 'src/packaging/release.pub')
  const keys = existsSync(file) ? [readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)] : []
  for (const path of ['README.md', 'src/manual/es/leame.md', '.github/SECURITY.md']) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    assert.match(text, /`release\.pub`/, path)
    assert.deepEqual(text.match(/\bRW[\w+/]{54}/g) ?? [], keys, path)
  }
})

test('README and the manual name the package of this version', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const texts = ['README.md', ...globSync('src/manual/**/*.md', { cwd: ROOT })].map((path) =>
    readFileSync(join(ROOT, path), 'utf8'),
  )
  const versions = texts.flatMap((text) => [...text.matchAll(/cambista_(\d[\d.]*)_/g)].map(([, one]) => one))
  assert.ok(versions.length >= 4)
  assert.deepEqual(new Set(versions), new Set([version]))
})

test('README has at most 150 lines', () => {
  const lines = readme.split('\n')
  assert.ok(lines.length <= 150, `${lines.length} lines`)
})

/** Returns the command lines of the shell blocks, without comments, sudo, pipes and redirections. */
function parseCommandLines(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block)
  return blocks
    .flatMap((block) => block.split('\n'))
    .map((line) => line.replace(/^docker compose exec cambista /, ''))
    .flatMap((line) => /^ *(?:sudo )?(?:\.\/)?cambista (.+?)(?: +(?:#|&&|\||>).*)?$/.exec(line)?.[1] ?? [])
}

/** @throws for an unknown command or flag, and in a `whole` line for a missing or excess word */
function checkCommand(line: string, { whole }: { whole: boolean }): void {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  if (!whole && /^[A-Z…]|^--/.test(line)) return // COMMAND is a placeholder
  if (words[0] === '--help') {
    assert.equal(readCommandLine(words, []).kind, 'help', line)
    return
  }
  const command = COMMANDS.find(({ name }) => `${words.join(' ')} `.startsWith(`${name} `))
  assert.ok(command, line)
  const rest = words.slice(command.name.split(' ').length).filter((word) => word !== '--help')
  const { positionals } = parseWords(rest, command.options, {}, undefined, command.overrides)
  const { choices } = command
  const least = whole ? command.positionals.filter((word) => !word.startsWith('[')).length : 0
  const most = command.positionals.at(-1)?.endsWith('…')
    ? Number.POSITIVE_INFINITY
    : command.positionals.length
  assert.ok(positionals.length >= least && positionals.length <= most, line)
  const [first] = positionals
  if (first !== undefined && choices && /^[a-z]/.test(first)) assert.ok(choices.includes(first), line)
}
