// The help texts, made from the table of commands and the table of options; in English unless other texts are given.

import { VERSION } from '../assets.ts'
import type { AppError } from '../errors.ts'
import { namesOf, PROVIDERS } from '../providers/list.ts'
import type { Command } from './command.ts'
import type { CommandGroup } from './commands.ts'
import { CALL_ONLY, CLUSTER_ONLY, type OptionName, type OwnOptions, optionOf } from './options.ts'
import { SETTINGS_FILE } from './settings.ts'

/** All that the help says in one language. What is typed, such as names of commands, is the same in each. */
export type HelpTexts = {
  /** The first line, after name and version. */
  title(): string
  usage: string
  /** What stands for a command. */
  command: string
  /** What stands for flags behind a command. */
  flags: string
  /** What is below the list of commands. */
  closing: string
  /** What is above the list of options. */
  heading: string
  /** What is above those of several nodes over one database. */
  clusterHeading: string
  /** What `--help` does. */
  ofHelp: string
  example: string
  titleOf(group: CommandGroup): string
  textsOf(command: Command): { summary: string; about?: string | undefined; example: string }
  optionHelp(command: Command, name: OptionName): string
  fallback(text: string): string
  /** What was mistyped, where another language than English has words for it. */
  misuseText?(error: AppError): string | undefined
  /** The line below an error about what was typed. */
  tryHelp(command: string): string
  /** What stands for a value or a word, such as `NAME`, in a text that has it. */
  placeholder(text: string): string
}

/** The columns of a terminal that is not known, and the bounds of one that is: longer lines are hard to read. */
const WIDTH = 80
const LEAST_WIDTH = 60
const MOST_WIDTH = 120
const MOST_OF_FIRST = 0.4
const LEAST_COLUMN = 10
const TYPED_INDENT = 4

/** The width of the help on a terminal of so many columns; undefined or 0: not known. */
export function helpWidth(columns: number | undefined): number {
  return columns ? Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, columns)) : WIDTH
}

export const ENGLISH: HelpTexts = {
  // When it is asked for: the first use of Intl takes a start 14 ms.
  title: () => `exchange rates of the ${namesOf(PROVIDERS)}, and documents for AI agents`,
  usage: 'Usage',
  command: 'COMMAND',
  flags: 'flags',
  closing: `cambista COMMAND --help says more of one, cambista manual has longer texts. cambista completion bash (or zsh) makes the
shell complete all this.

Where the service is installed, its settings in ${SETTINGS_FILE} count below flags and environment.

Results go to stdout, messages to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done in part (a sync that ended
parcial, a restore that left something out).`,
  heading: 'Flags (each but those marked * is an environment variable too: --data-dir is CAMBISTA_DATA_DIR):',
  clusterHeading: 'Flags of several nodes over one database (cambista manual cluster):',
  ofHelp: 'this text',
  example: 'Example',
  titleOf: ({ title }) => title,
  textsOf: (command) => command,
  optionHelp: ({ own }, name) => optionOf(name, own).help,
  fallback: (text) => `default ${text}`,
  tryHelp: (command) => `Try cambista --help, or cambista ${command} --help.\n`,
  placeholder: (text) => text,
}

/** What there is to do; of a word, only the commands that begin with it. */
export function programHelp(
  groups: readonly CommandGroup[],
  first: string | undefined,
  texts = ENGLISH,
  width = WIDTH,
): string {
  const shown = groups
    .map((group) => ({
      title: texts.titleOf(group),
      commands: group.commands.filter((one) => isOf(one, first)),
    }))
    .filter(({ commands }) => commands.length > 0)
  const all = shown.flatMap(({ commands }) => commands)
  const lines = list(
    all.map((one) => [usageOf(one, texts), texts.textsOf(one).summary]),
    width,
  )
  const parts = shown.map(
    ({ title, commands }) => `${title}:\n${lines.splice(0, commands.length).join('\n')}\n`,
  )
  return `${flow(`cambista ${VERSION}: ${texts.title()}`, width)}

${texts.usage}: cambista ${texts.command} [${texts.flags}]

${parts.join('\n')}
${flow(texts.closing, width)}

${texts.example}: cambista serve --data-dir /var/lib/cambista
`
}

function isOf({ name }: Command, first: string | undefined): boolean {
  return first === undefined || name.startsWith(`${first} `)
}

export function commandHelp(command: Command, texts = ENGLISH, width = WIDTH): string {
  const { summary, about, example } = texts.textsOf(command)
  const row = (name: OptionName): [string, string] => [
    flagOf(name, command.own, texts),
    optionText(command, name, texts),
  ]
  const ofCluster = command.options.filter((name) => CLUSTER_ONLY.has(name))
  const others = command.options.filter((name) => !CLUSTER_ONLY.has(name))
  const rows = [...others.map(row), ['--help', `${texts.ofHelp} *`] satisfies [string, string]]
  const lines = list([...rows, ...ofCluster.map(row)], width)
  const cluster =
    ofCluster.length > 0 ? ['', flow(texts.clusterHeading, width), ...lines.splice(rows.length)] : []
  return `${typed(`${texts.usage}: cambista ${usageOf(command, texts)} [${texts.flags}]`, width, '')}

${flow(summary, width)}
${about === undefined ? '' : `\n${flow(about, width)}\n`}
${flow(texts.heading, width)}
${[...lines, ...cluster].join('\n')}

${typed(`${texts.example}: ${example}`, width, ' \\')}
`
}

export function usageOf(command: Command, texts = ENGLISH): string {
  const positionals = command.positionals.map((word) => texts.placeholder(word))
  const needed = (command.required ?? []).map((name) => flagOf(name, command.own, texts))
  return [command.name, ...positionals, ...needed].join(' ')
}

/** A flag as it is written, with what stands for its value. */
export function flagOf(name: OptionName, own: OwnOptions = {}, texts = ENGLISH): string {
  const { value } = optionOf(name, own)
  return value === undefined ? `--${name}` : `--${name} ${texts.placeholder(value)}`
}

function optionText(command: Command, name: OptionName, texts: HelpTexts): string {
  const { fallback } = optionOf(name, command.own)
  const help = texts.optionHelp(command, name)
  const text = fallback === undefined ? help : `${help} (${texts.fallback(fallback)})`
  return CALL_ONLY.has(name) || command.own?.[name] ? `${text} *` : text
}

/** Rows of two aligned cells, indented; the second cell goes on below itself, and begins there beside a long first one. */
function list(rows: readonly [string, string][], width: number): string[] {
  const most = Math.floor(width * MOST_OF_FIRST)
  const firsts = rows.map(([first]) => first.length + 4).filter((length) => length <= most)
  const column = Math.max(LEAST_COLUMN, ...firsts)
  const below = `\n${' '.repeat(column)}`
  return rows.map(([first, second]) => {
    const lines = wrap(second, width - column)
    const head = `  ${first}`
    return head.length + 2 > column
      ? head + below + lines.join(below)
      : head.padEnd(column) + lines.join(below)
  })
}

/** Paragraphs in lines of a width. Indented lines stay as they are: they are typed, or an example of a file. */
function flow(text: string, width: number): string {
  const lines: string[] = []
  let isOpen = false
  for (const line of text.split('\n')) {
    const isText = line !== '' && !line.startsWith(' ')
    if (isText && isOpen) lines.push(`${lines.pop()} ${line}`)
    else lines.push(line)
    isOpen = isText
  }
  return lines.flatMap((line) => (line.startsWith(' ') ? [line] : wrap(line, width))).join('\n')
}

/** A command line; `end` is what a shell needs at the end of a line that goes on. A flag stays with its value. */
function typed(line: string, width: number, end: string): string {
  if (line.length <= width) return line
  const words = line.match(/--\S+ [^-\s]\S*|\S+/g) ?? []
  return filled(words, width - end.length - TYPED_INDENT).join(`${end}\n${' '.repeat(TYPED_INDENT)}`)
}

/** A text in lines of a width. What is in short parentheses stays together, such as a default of several words. */
function wrap(text: string, width: number): string[] {
  const groups = text.match(/\([^()]{1,48}\)\S*( \*$)?|\S+( \*$)?/g) ?? ['']
  return filled(
    groups.flatMap((group) => (group.length > width ? group.split(' ') : [group])),
    width,
  )
}

function filled(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
