// The help in Spanish has all that the English one has, within the width, and in Spanish. That nothing is left out is
// what the compiler says: see the last test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { ABOUTS } from '../../../src/cli/language/spanish/abouts.ts'
import { SUMMARIES } from '../../../src/cli/language/spanish/commands.ts'
import { OPTION_HELP, OWN_OPTIONS } from '../../../src/cli/language/spanish/options.ts'
import { placeholder } from '../../../src/cli/language/spanish/placeholders.ts'
import { optionOf } from '../../../src/cli/options.ts'
import { runCommand } from '../../support/terminal.ts'
import { checkSpanish } from './words.ts'

const WIDTH = 80
const CALLS = [[], ['key'], ...COMMANDS.map(({ name }) => name.split(' '))]

async function helpsOf(words: readonly string[]): Promise<{ english: string; spanish: string }> {
  const english = await runCommand([...words, '--help'])
  const spanish = await runCommand([...words, '--help'], { LANG: 'es_CR.UTF-8' })
  assert.deepEqual([spanish.code, spanish.err], [english.code, english.err])
  return { english: english.out, spanish: spanish.out }
}

for (const words of CALLS) {
  test(`cambista ${[...words, '--help'].join(' ')} has in Spanish what it has in English`, async () => {
    const { english, spanish } = await helpsOf(words)
    const [ours, theirs] = [rowsOf(spanish), rowsOf(english)]
    assert.ok(theirs.length >= 1)
    assert.deepEqual(
      ours.map(({ first, fallback, marked }) => [first, fallback, marked]),
      theirs.map(({ first, fallback, marked }) => [placeholder(first), fallback, marked]),
    )
    assert.ok(
      ours.every(({ text }) => text !== ''),
      'a row without a text',
    )
    assert.equal(usageOf(spanish), placeholder(usageOf(english)))
    // Flags, numbers and paths that a text names are the same.
    assert.deepEqual(factsIn(spanish), factsIn(english))
  })

  test(`cambista ${[...words, '--help'].join(' ')} is Spanish, and within ${WIDTH} columns in both languages`, async () => {
    const { english, spanish } = await helpsOf(words)
    checkSpanish(spanish)
    for (const help of [english, spanish]) {
      const wide = help.split('\n').filter((line) => [...line].length > WIDTH || / $/.test(line))
      assert.deepEqual(wide, [])
    }
    assert.doesNotMatch(spanish, /undefined/)
  })
}

test('each word that stands for a value is Spanish, or the same in both languages', () => {
  const same = ['ID', 'DIR', 'URL', 'CIDR', 'MS', 'N', 'HTML', 'PID']
  const texts = COMMANDS.flatMap(({ positionals, options, own }) => [
    ...positionals,
    ...options.map((name) => optionOf(name, own).value ?? ''),
  ])
  const words = new Set(texts.flatMap((text) => text.match(/[A-Z]+/g) ?? []))
  assert.ok(words.size > 20)
  for (const word of words) assert.equal(placeholder(word) === word, same.includes(word), word)
})

test('a command, an about, an option or an own option without its Spanish does not compile', () => {
  const { version: _, ...summaries } = SUMMARIES
  const { doctor: __, ...abouts } = ABOUTS
  const { port: ___, ...options } = OPTION_HELP
  const { url: ____, ...own } = OWN_OPTIONS.web
  // @ts-expect-error: version is missing
  const ofCommands: typeof SUMMARIES = summaries
  // @ts-expect-error: doctor is missing
  const ofAbouts: typeof ABOUTS = abouts
  // @ts-expect-error: port is missing
  const ofOptions: typeof OPTION_HELP = options
  // @ts-expect-error: url is missing
  const ofWeb: (typeof OWN_OPTIONS)['web'] = own
  for (const texts of [ofCommands, ofAbouts, ofOptions, ofWeb]) assert.equal(typeof texts, 'object')
})

type Row = { first: string; text: string; fallback: string | undefined; marked: boolean }

/** The rows of aligned cells, each with the lines that it goes on with. */
function rowsOf(help: string): Row[] {
  const rows: string[] = []
  let isList = false
  const lines = help.split('\n')
  for (const [at, line] of lines.entries()) {
    const text = line.trim()
    const isFirst = /^ {2}(--)?[a-z].* {2}\S/.test(line)
    const isAlone = /^ {2}(--)?[a-z]/.test(line) && /^ {10}/.test(lines[at + 1] ?? '')
    if (isFirst && isList) rows.push(line)
    else if (isAlone && isList) rows.push(`${line} `)
    else if (/^ {10}/.test(line) && rows.length > 0 && isList) rows.push(`${rows.pop()} ${text}`)
    else isList = /:$/.test(line)
  }
  return rows.map((row) => {
    const [, first = '', text = ''] = /^ {2}(.+?)(?: {2,}(.*))?$/.exec(row) ?? []
    const [, fallback] = /\((?:default|por defecto:) ([^()]*)\)(?: \*)?$/.exec(text) ?? []
    return { first, text, fallback, marked: text.endsWith(' *') }
  })
}

function usageOf(help: string): string {
  return /^(?:Usage|Uso): (.*) \[(?:flags|opciones)\]$/m.exec(help)?.[1] ?? ''
}

/** What a text says of flags, numbers and paths: each once. */
function factsIn(help: string): string[] {
  const plain = help.replaceAll(/(?<=\d)[ ,](?=\d{3})/g, '')
  const facts = plain.match(/--[a-z][a-z-]*|(?<![\w.])\/?[\w./-]*[\d/][\w./-]*/g) ?? []
  return [...new Set(facts.map((fact) => fact.replace(/[.,]$/, '')))].sort()
}
