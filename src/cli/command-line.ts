// Which command a command line means. Flags may stand before it, between its two words and after it.

import { parseArgs } from 'node:util'
import { nearest } from '../edit-distance.ts'
import type { AppError } from '../errors.ts'
import { isDatabaseAddress, misused } from './advice.ts'
import { unknownFlag } from './args.ts'
import type { Command } from './command.ts'
import type { Option } from './option-names.ts'
import { OPTIONS } from './options.ts'

export type Asked =
  | { what: 'version' }
  /** Of all commands, of the two-word ones that begin with a word, or of one. */
  | { what: 'help'; of?: string | Command }
  /** `words` are those beside the command's name. */
  | { what: 'command'; command: Command; words: string[] }

// What other programs call it.
const SYNONYMS: Record<string, string> = {
  start: 'serve',
  run: 'serve',
  server: 'serve',
  status: 'healthcheck',
  health: 'healthcheck',
  check: 'doctor',
}
const MOST_LETTERS = 2

/** @throws AppError `usage` when there is no such command, with the one that was probably meant */
export function readCommandLine(argv: readonly string[], commands: readonly Command[]): Asked {
  if (argv.length === 0) return { what: 'help' }
  const { tokens } = parseArgs({
    args: [...argv],
    options: arities(),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const [first, second] = tokens.filter((token) => token.kind === 'positional')
  const flags = tokens.filter((token) => token.kind === 'option')
  for (const { index, name } of flags.filter(({ index }) => index < (first?.index ?? argv.length))) {
    if (name === 'version' || name === 'V') return { what: 'version' }
    if (!Object.hasOwn(arities(), name)) throw unknownFlag(argv[index] ?? '', Object.keys(OPTIONS))
  }
  const wantsHelp = flags.some(({ name }) => name === 'help')
  if (!first) {
    if (wantsHelp) return { what: 'help' }
    throw misused({ misuse: 'no-command' })
  }
  if (first.value === 'help') return helpOf(argv.slice(first.index + 1), commands)
  const names = [first.value, ...(second ? [`${first.value} ${second.value}`] : [])]
  const command = commands.find(({ name }) => names.includes(name))
  if (command) {
    const taken = command.name === first.value ? [first.index] : [first.index, second?.index]
    return { what: 'command', command, words: argv.filter((_, at) => !taken.includes(at)) }
  }
  const isGroup = commands.some(({ name }) => name.startsWith(`${first.value} `))
  if (isGroup && (second ? second.value === 'help' : wantsHelp)) return { what: 'help', of: first.value }
  throw unknownCommand(first.value, second?.value, commands)
}

function helpOf(words: readonly string[], commands: readonly Command[]): Asked {
  if (words.length === 0) return { what: 'help' }
  const asked = readCommandLine([...words, '--help'], commands)
  return asked.what === 'command' ? { what: 'help', of: asked.command } : asked
}

/** Which flags there are, and which of them take a value. */
function arities() {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
    V: { type: 'boolean', short: 'V' },
  }
  for (const [name, { value }] of Object.entries<Option>(OPTIONS)) {
    options[name] = { type: value === undefined ? 'boolean' : 'string' }
  }
  return options
}

function unknownCommand(first: string, second: string | undefined, commands: readonly Command[]): AppError {
  if ([first, second ?? ''].some(isDatabaseAddress))
    throw misused({ misuse: 'address-word', takes: ['database'] })
  const typed = second === undefined ? first : `${first} ${second}`
  const near = nearestCommands(first, second, commands)
  const group = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name)
  return misused({ misuse: 'unknown-command', typed, near, group })
}

/** The names of the commands that were probably meant; empty: it could be anything. */
function nearestCommands(first: string, second: string | undefined, commands: readonly Command[]): string[] {
  const [one, two] = [first.toLowerCase(), second?.toLowerCase()]
  const names = commands.map(({ name }) => name)
  const single = names.filter((name) => !name.includes(' '))
  const groups = [
    ...new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? '')),
  ]
  const verbsOf = (group: string | undefined) =>
    names.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(`${group} `.length))
  if (two !== undefined) {
    for (const [noun, verb] of [
      [one, two],
      [two, one],
    ] as const) {
      const group = nearest(noun, groups, mostIn(noun))
      const found = group && nearest(verb, verbsOf(group), mostIn(verb))
      if (found) return [`${group} ${found}`]
    }
  }
  if (groups.includes(one)) return []
  const known = SYNONYMS[one] ?? nearest(one, [...single, ...groups], mostIn(one))
  if (known === undefined) return names.filter((name) => name.endsWith(` ${one}`)).slice(0, 3)
  return groups.includes(known)
    ? verbsOf(known)
        .map((verb) => `${known} ${verb}`)
        .slice(0, 4)
    : [known]
}

/** In a short word two other letters are another word. */
function mostIn(word: string): number {
  return Math.min(MOST_LETTERS, Math.floor(word.length / 2))
}
