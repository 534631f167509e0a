// Finds the command of a command line. Flags may precede it, follow it, or be between its two words.

import { parseArgs } from 'node:util'
import type { AppError } from '../runtime/errors.ts'
import { nearest } from '../values/edit-distance.ts'
import { isDatabaseAddress, usageError } from './help/advice.ts'
import type { Option } from './options/names.ts'
import { OPTIONS } from './options/options.ts'
import { unknownFlag } from './parse/args.ts'

export type ParsedCommand =
  | { kind: 'version'; words: string[] }
  /** Help for a group of commands, for one command, or for the program. `json`: as JSON. */
  | { kind: 'help'; group?: string; command?: string; json?: boolean }
  /** `words`: all others than the command's name. */
  | { kind: 'command'; command: string; words: string[] }

// Former names of commands. The first one may mean either of two.
const RENAMED: Record<string, string[]> = {
  migrate: ['cluster import', 'database upgrade'],
  'database migrate': ['database upgrade'],
}
// Names of the same commands in other programs.
const SYNONYMS: Record<string, string> = {
  start: 'serve',
  run: 'serve',
  server: 'serve',
  status: 'healthcheck',
  health: 'healthcheck',
  check: 'doctor',
}
const MAX_TYPOS = 2

/** @throws AppError `usage` when there is no such command, with the command that was probably meant */
export function readCommandLine(argv: readonly string[], names: readonly string[]): ParsedCommand {
  if (argv.length === 0) return { kind: 'help' }
  const { tokens } = parseArgs({
    args: [...argv],
    options: flagTypes(),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const [first, second] = tokens.filter((token) => token.kind === 'positional')
  const flags = tokens.filter((token) => token.kind === 'option')
  const hasFlag = (wanted: string) => flags.some(({ name }) => name === wanted)
  for (const { index, name } of flags.filter(({ index }) => index < (first?.index ?? argv.length))) {
    if (name === 'version' || name === 'V')
      return { kind: 'version', words: hasFlag('json') ? ['--json'] : [] }
    if (!Object.hasOwn(flagTypes(), name)) throw unknownFlag(argv[index] ?? '', Object.keys(OPTIONS))
  }
  const wantsHelp = hasFlag('help')
  if (!first) {
    if (wantsHelp) return { kind: 'help', json: hasFlag('json') }
    throw usageError({ reason: 'no-command' })
  }
  if (first.value === 'help') return parseHelp(argv.slice(first.index + 1), names)
  const typed = [first.value, ...(second ? [`${first.value} ${second.value}`] : [])]
  const command = names.find((name) => typed.includes(name))
  const json = hasFlag('json')
  if (command) {
    if (wantsHelp && json) return { kind: 'help', command, json }
    const nameIndexes = command === first.value ? [first.index] : [first.index, second?.index]
    return { kind: 'command', command, words: argv.filter((_, at) => !nameIndexes.includes(at)) }
  }
  const isGroup = names.some((name) => name.startsWith(`${first.value} `))
  if (isGroup && (second ? second.value === 'help' : wantsHelp))
    return { kind: 'help', group: first.value, ...(json && { json }) }
  throw unknownCommand(first.value, second?.value, names)
}

function parseHelp(words: readonly string[], names: readonly string[]): ParsedCommand {
  if (words.length === 0) return { kind: 'help' }
  const commandLine = readCommandLine([...words, '--help'], names)
  return commandLine.kind === 'command' ? { kind: 'help', command: commandLine.command } : commandLine
}

/** Returns the flags of all options, as `parseArgs` takes them. */
function flagTypes() {
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

function unknownCommand(first: string, second: string | undefined, names: readonly string[]): AppError {
  if ([first, second ?? ''].some(isDatabaseAddress))
    throw usageError({ reason: 'address-word', takes: ['database'] })
  const typed = second === undefined ? first : `${first} ${second}`
  const near = nearestCommands(first, second, names)
  const group = names.filter((name) => name.startsWith(`${first} `))
  return usageError({ reason: 'unknown-command', typed, near, group })
}

/** Names of the commands that were probably meant; empty if none is near. */
function nearestCommands(first: string, second: string | undefined, names: readonly string[]): string[] {
  const [one, two] = [first.toLowerCase(), second?.toLowerCase()]
  const renamed = RENAMED[`${one} ${two}`] ?? RENAMED[one]
  if (renamed) return renamed
  const single = names.filter((name) => !name.includes(' '))
  const groups = [
    ...new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? '')),
  ]
  const groupVerbs = (group: string | undefined) =>
    names.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(`${group} `.length))
  if (two !== undefined) {
    for (const [noun, verb] of [
      [one, two],
      [two, one],
    ] as const) {
      const group = nearest(noun, groups, maxTypos(noun))
      const nearVerb = group && nearest(verb, groupVerbs(group), maxTypos(verb))
      if (nearVerb) return [`${group} ${nearVerb}`]
    }
  }
  if (groups.includes(one)) return []
  const name = SYNONYMS[one] ?? nearest(one, [...single, ...groups], maxTypos(one))
  if (name === undefined) return names.filter((name) => name.endsWith(` ${one}`)).slice(0, 3)
  return groups.includes(name)
    ? groupVerbs(name)
        .map((verb) => `${name} ${verb}`)
        .slice(0, 4)
    : [name]
}

/** Most letters in which a typo may differ; in a short word two other letters make another word. */
function maxTypos(word: string): number {
  return Math.min(MAX_TYPOS, Math.floor(word.length / 2))
}
