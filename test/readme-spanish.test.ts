// src/manual/leame.md is README in Spanish: section by section it shows the same commands, names and numbers, its options are
// those of the program, its endpoints those of README.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from '../src/cli/command.ts'
import { flagOf } from '../src/cli/help.ts'
import { SPANISH } from '../src/cli/language/spanish/help.ts'
import { CALL_ONLY, CLUSTER_ONLY, OPTIONS, type OptionName, optionOf } from '../src/cli/options.ts'
import { checkSpanish } from './cli/language/words.ts'

const ROOT = join(import.meta.dirname, '..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const leame = readFileSync(join(ROOT, 'src/manual/leame.md'), 'utf8')

test('README links it in its second line', () => {
  assert.match(readme, /^# cambista\n.*\[.+\]\(src\/manual\/leame\.md\)/)
})

const [english, spanish] = [sectionsOf(readme), sectionsOf(leame)]

test('it has the sections of README', () => {
  assert.equal(spanish.length, english.length)
  assert.ok(spanish.length >= 10)
})

for (const [at, section] of english.entries()) {
  const title = section.slice(0, section.indexOf('\n'))
  test(`${title}: the same commands, in the same order`, () => {
    assert.deepEqual(commandsIn(spanish[at] ?? ''), commandsIn(section))
  })

  test(`${title}: the same code and names`, () => {
    assert.deepEqual(codeIn(spanish[at] ?? ''), codeIn(section).map(SPANISH.placeholder).sort())
  })

  test(`${title}: the same numbers`, () => {
    assert.deepEqual(numbersIn(spanish[at] ?? ''), numbersIn(section))
  })
}

test('its options are those of the program, with the texts of the help', () => {
  const names = Object.keys(OPTIONS).filter(
    (name) => !CALL_ONLY.has(name) && !CLUSTER_ONLY.has(name),
  ) as OptionName[]
  const command = {} as Command // one without options of its own
  const expected = names.map((name) => {
    const { fallback } = optionOf(name)
    const value = fallback === undefined ? '' : ` (\`${fallback}\`)`
    return `\`${flagOf(name, {}, SPANISH)}\`${value}: ${SPANISH.optionHelp(command, name)}`
  })
  assert.deepEqual(itemsOf(sectionTitled('Opciones')), expected)
})

test('its endpoints are those of the tables of README, in the same order', () => {
  const ofReadme = ['Rates API', 'Documents API'].flatMap((title) => {
    const section = english.find((one) => one.startsWith(title)) ?? ''
    return [...section.matchAll(/^\| (`[^|]*) \|/gm)].map(([, first = '']) => SPANISH.placeholder(first))
  })
  const ours = ['API de tipos de cambio', 'API de documentos']
    .flatMap((title) => itemsOf(sectionTitled(title)))
    .map((item) => /^`[^`]*`(, `[^`]*`)*/.exec(item)?.[0])
  assert.ok(ofReadme.length >= 13)
  assert.deepEqual(ours, ofReadme)
})

test('its topics are those of README, but itself', () => {
  const topicsIn = (text: string) => [...text.matchAll(/^\| \[(\w+)\]\(/gm)].map(([, topic]) => topic)
  assert.deepEqual([...topicsIn(leame), 'leame'], topicsIn(readme))
})

test('it is Spanish', () => {
  checkSpanish(leame)
})

function sectionTitled(title: string): string {
  return spanish.find((section) => section.startsWith(`${title}\n`)) ?? ''
}

/** What is before the first heading of a section, then each section. */
function sectionsOf(text: string): string[] {
  return text.split(/^## /m)
}

/** The lines of the shell blocks, without their comments. */
function commandsIn(section: string): string[] {
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
  return blocks.flatMap((block) => block.trimEnd().split('\n')).map((line) => line.replace(/ +# .*$/, ''))
}

/** All code in the prose and the tables, sorted. */
function codeIn(section: string): string[] {
  const prose = section.replaceAll(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/\s+/g, ' ')).sort()
}

/** All numbers, sorted; however their digits are grouped, with a point or a comma before the decimals. */
function numbersIn(section: string): string[] {
  return (section.match(/\d+([ ,.]\d+)*/g) ?? []).map((number) => number.replace(/\D/g, '')).sort()
}

/** The items of the list of a section, each on one line. */
function itemsOf(section: string): string[] {
  const items = section.split(/\n(?=- )|\n\n/).filter((part) => part.startsWith('- '))
  return items.map((item) =>
    item
      .slice(2)
      .replace(/\n {2}/g, ' ')
      .trimEnd(),
  )
}
