// Spanish help has the rows, flags and numbers of the English one, within 80 columns.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadCommands } from '../../../../src/cli/commands.ts'
import { helpTexts } from '../../../../src/cli/help/texts.ts'
import { OPTIONS, requireOption } from '../../../../src/cli/options/options.ts'
import { runCommand } from '../../../support/terminal.ts'
import { checkSpanish } from './spanish-words.ts'

const COMMANDS = await loadCommands()

const WIDTH = 80
/** Splits texts at their placeholders. */
const PLACEHOLDERS = new Proxy({}, { get: () => '\0' })
const [ENGLISH, SPANISH] = [helpTexts('en'), helpTexts('es')]
const { placeholder } = SPANISH
const HELP_COMMANDS = [[], ['key'], ...COMMANDS.map(({ name }) => name.split(' '))]

async function readHelp(words: readonly string[]): Promise<{ english: string; spanish: string }> {
  const english = await runCommand([...words, '--help'])
  const spanish = await runCommand([...words, '--help'], { LANG: 'es_CR.UTF-8' })
  assert.deepEqual([spanish.code, spanish.err], [english.code, english.err])
  return { english: english.out, spanish: spanish.out }
}

for (const words of HELP_COMMANDS) {
  test(`${['cambista', ...words, '--help'].join(' ')} has the same rows in both languages`, async () => {
    const { english, spanish } = await readHelp(words)
    const [spanishRows, englishRows] = [parseRows(spanish), parseRows(english)]
    assert.ok(englishRows.length >= 1)
    assert.deepEqual(
      spanishRows.map(({ first, fallback, marked }) => [first, fallback, marked]),
      englishRows.map(({ first, fallback, marked }) => [placeholder(first), fallback, marked]),
    )
    assert.ok(
      spanishRows.every(({ text }) => text !== ''),
      'a row has no text',
    )
    assert.equal(usageLine(spanish), placeholder(usageLine(english)))
    // Both texts name the same flags, numbers and paths.
    assert.deepEqual(listFacts(spanish), listFacts(english))
  })

  test(`${['cambista', ...words, '--help'].join(' ')} is Spanish, and has at most ${WIDTH} columns in both languages`, async () => {
    const { english, spanish } = await readHelp(words)
    checkSpanish(spanish)
    for (const help of [english, spanish]) {
      const wide = help.split('\n').filter((line) => [...line].length > WIDTH || / $/.test(line))
      assert.deepEqual(wide, [])
    }
    assert.doesNotMatch(spanish, /undefined/)
  })
}

test('placeholders of values are translated, except those in `same`', () => {
  const same = ['ID', 'DIR', 'URL', 'CIDR', 'MS', 'N', 'HTML', 'PID', 'UID']
  const texts = COMMANDS.flatMap(({ positionals, options, overrides }) => [
    ...positionals,
    ...options.map((name) => requireOption(name, overrides).value ?? ''),
  ])
  const words = new Set(texts.flatMap((text) => text.match(/[A-Z]+/g) ?? []))
  assert.ok(words.size > 20)
  for (const word of words) assert.equal(placeholder(word) === word, same.includes(word), word)
})

test('each command and option has a text in both languages, and each text has a command or option', () => {
  const own = COMMANDS.flatMap(({ name, overrides = {} }) =>
    Object.keys(overrides).map((option) => [option, name] as const),
  )
  for (const texts of [ENGLISH, SPANISH]) {
    for (const { name } of COMMANDS) {
      const { summary, example } = texts.command(name)
      assert.ok(summary.length > 10 && example !== '', name)
    }
    for (const name of Object.keys(OPTIONS)) assert.notEqual(texts.option(name), '', name)
    for (const [option, command] of own) {
      assert.notEqual(texts.option(option, command), texts.option(option), `${command} --${option}`)
    }
    assert.deepEqual(
      texts.groups.flatMap(({ commands }) => commands).sort(),
      COMMANDS.map(({ name }) => name).sort(),
    )
  }
  for (const name of ENGLISH.names.filter((one) => one.startsWith('--'))) {
    assert.ok(name === '--help' || Object.hasOwn(OPTIONS, name.slice(2)), name)
  }
  const [titles, titulos] = [ENGLISH, SPANISH].map(({ groups }) => groups.map(({ title }) => title))
  assert.ok(titles?.every((title, at) => title !== '' && title !== titulos?.[at]))
})

test('each text of a command or an option has a Spanish translation', () => {
  assert.deepEqual(ENGLISH.names, SPANISH.names)
  for (const name of ENGLISH.names.filter((one) => one.startsWith('--'))) {
    assert.notEqual(SPANISH.option(name.slice(2)), ENGLISH.option(name.slice(2)), name)
  }
  for (const { name } of COMMANDS) {
    const [english, spanish] = [ENGLISH.command(name), SPANISH.command(name)]
    assert.notEqual(spanish.summary, english.summary, name)
    assert.equal(spanish.about === undefined, english.about === undefined, name)
    if (english.about !== undefined) assert.notEqual(spanish.about, english.about, name)
  }
})

type Row = { first: string; text: string; fallback: string | undefined; marked: boolean }

/** Returns the rows of the lists of commands and flags, each joined with its continuation lines. */
function parseRows(help: string): Row[] {
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

function usageLine(help: string): string {
  return /^(?:Usage|Uso): (.*) \[(?:flags|opciones)\]$/m.exec(help)?.[1] ?? ''
}

/** Returns the flags, numbers and paths in a text, sorted and without repetition. */
function listFacts(help: string): string[] {
  const plain = help.replaceAll(/(?<=\d)[ ,](?=\d{3})/g, '')
  const facts = plain.match(/--[a-z][a-z-]*|(?<![\w.])\/?[\w./-]*[\d/][\w./-]*/g) ?? []
  return [...new Set(facts.map((fact) => fact.replace(/[.,]$/, '')))].sort()
}

test('each plain error of usage has a Spanish text, and each text `error.…` an error', () => {
  const root = join(import.meta.dirname, '../../../..')
  const sources = globSync('src/{cli,domain,http,store,values}/**/*.ts', { cwd: root })
  const code = sources.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
  const sentences = [...code.matchAll(/AppError\(\s*'usage',\s*'((?:[^'\\]|\\.)+)',?\s*\)/g)].map(
    ([, text = '']) => text,
  )
  assert.ok(sentences.length > 30)
  assert.deepEqual(
    sentences.filter((text) => SPANISH.translate(text) === text),
    [],
  )
  for (const name of ENGLISH.names.filter((one) => one.startsWith('error.'))) {
    const parts = ENGLISH.text(name, PLACEHOLDERS)
      .split('\0')
      .filter((part) => /\w{3}/.test(part))
    assert.ok(
      parts.some((part) => code.includes(part.trim())),
      name,
    )
  }
})
