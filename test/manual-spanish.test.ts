// The Spanish manual equals the English one: section by section the same commands, code and numbers.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { helpTexts } from '../src/cli/help/texts.ts'
import { checkSpanish } from './unit/cli/help/spanish-words.ts'

const ROOT = join(import.meta.dirname, '..')
const MANUAL = 'src/manual'
const SPANISH = helpTexts('es')
const topics = readdirSync(join(ROOT, MANUAL)).filter((name) => name.endsWith('.md'))

test('src/manual/es has each topic of src/manual, and README', () => {
  assert.ok(topics.length >= 15)
  assert.deepEqual(readdirSync(join(ROOT, MANUAL, 'es')).sort(), [...topics, 'leame.md'].sort())
})

test('README links its Spanish version in its second line', () => {
  assert.match(readText('README.md'), /^# cambista\n.*\[.+\]\(src\/manual\/es\/leame\.md\)/)
})

const pairs = [
  { english: 'README.md', spanish: `${MANUAL}/es/leame.md` },
  ...topics.map((name) => ({ english: `${MANUAL}/${name}`, spanish: `${MANUAL}/es/${name}` })),
]
for (const pair of pairs.filter(({ spanish }) => existsSync(join(ROOT, spanish)))) {
  const [english, spanish] = [sections(readText(pair.english)), sections(readText(pair.spanish))]

  test(`${pair.spanish} is Spanish`, () => {
    checkSpanish(readText(pair.spanish))
  })

  test(`${pair.spanish} has the sections of ${pair.english}`, () => {
    assert.equal(spanish.length, english.length)
  })

  test(`${pair.spanish} has the commands of ${pair.english}, in the same order`, () => {
    for (const [at, section] of english.entries())
      assert.deepEqual(shellCommands(spanish[at] ?? ''), shellCommands(section).map(placeholder))
  })

  test(`${pair.spanish} has the code and names of ${pair.english}`, () => {
    for (const [at, section] of english.entries())
      assert.deepEqual(inlineCode(spanish[at] ?? ''), inlineCode(section).map(placeholder).sort())
  })

  test(`${pair.spanish} has the numbers of ${pair.english}`, () => {
    for (const [at, section] of english.entries())
      assert.deepEqual(numbers(spanish[at] ?? ''), numbers(section))
  })
}

function placeholder(code: string): string {
  return SPANISH.placeholder(code)
}

function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Returns the text before the first heading of a section, then each section. */
function sections(text: string): string[] {
  return text.split(/^## /m)
}

/** Returns the lines of shell blocks without their comments. */
function shellCommands(section: string): string[] {
  const blocks = [...section.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block)
  return blocks.flatMap((block) => block.trimEnd().split('\n')).map((line) => line.replace(/ +# .*$/, ''))
}

/** Returns all code of prose and tables, sorted. */
function inlineCode(section: string): string[] {
  const prose = section.replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/\s+/g, ' ')).sort()
}

/** Returns the digits of all numbers, sorted, without separators of groups and decimals. */
function numbers(section: string): string[] {
  return (section.match(/\d+([ ,.]\d+)*/g) ?? []).map((number) => number.replace(/\D/g, '')).sort()
}
