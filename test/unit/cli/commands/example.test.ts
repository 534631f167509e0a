// `example`: its names are the files of src/examples, printed unchanged.

import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { EXAMPLES } from '../../../../src/cli/commands/example.ts'
import { runCommand } from '../../../support/terminal.ts'

const FOLDER = join(import.meta.dirname, '../../../../src/examples')
const NAMES = Object.keys(EXAMPLES)

test('each entry of src/examples is an example', () => {
  assert.deepEqual(
    Object.values(EXAMPLES)
      .map(({ source }) => source)
      .sort(),
    readdirSync(FOLDER).sort(),
  )
})

for (const [env, word] of [
  [{}, 'tested with'],
  [{ LANG: 'es_CR.UTF-8' }, 'probado con'],
] as const) {
  test(`\`example\` lists each one with its file and what it was ${word}`, async () => {
    const { code, out, err } = await runCommand(['example'], env)
    assert.deepEqual([code, err], [0, ''])
    const lines = out.split('\n').filter((line) => line.startsWith('  '))
    assert.deepEqual(
      lines.map((line) => line.trim().split(/ {2,}/).slice(0, 2)),
      NAMES.map((name) => [name, EXAMPLES[name]?.target]),
    )
    for (const line of lines) assert.ok(line.includes(word), line)
  })
}

const hints: [typed: string, hint: string][] = [
  ['pyton', '"pyton": did you mean python?'],
  ['Python', '"Python": did you mean python?'],
  ['laravel', '"laravel": did you mean php?'],
  ['constructor', `"constructor", but there are: ${NAMES.join(', ')}`],
  ['frobnicate', `"frobnicate", but there are: ${NAMES.join(', ')}`],
]
for (const [typed, hint] of hints) {
  test(`the unknown example ${typed} has the hint ${hint}`, async () => {
    const { code, out, err } = await runCommand(['example', typed])
    assert.deepEqual([code, out], [2, ''])
    assert.equal(err.split('\n')[0], `cambista: there is no example ${hint}`)
  })
}

for (const [name, { source, files }] of Object.entries(EXAMPLES)) {
  test(`\`example ${name}\` prints its file, or a script with its files`, async () => {
    const { code, out, err } = await runCommand(['example', name])
    assert.deepEqual([code, err], [0, ''])
    if (!files) return assert.equal(out, readFileSync(join(FOLDER, source), 'utf8'))
    assert.deepEqual(
      files.toSorted(),
      globSync('**/*.*', { cwd: join(FOLDER, source), exclude: ['**/__pycache__'] })
        .map((file) => `${source}/${file}`)
        .sort(),
    )
    for (const file of files)
      assert.ok(
        out.includes(`<<'END_OF_FILE'\n${readFileSync(join(FOLDER, file), 'utf8')}END_OF_FILE\n`),
        file,
      )
  })
}
