// Builds the help from the tables of commands and options. The default language is English.

import { VERSION } from '../runtime/assets.ts'
import type { Command } from './command.ts'
import { type HelpTexts, helpTexts } from './help/texts.ts'
import { variableName } from './options/names.ts'
import {
  CALL_ONLY,
  CLUSTER_ONLY,
  type OptionName,
  type OptionOverrides,
  requireOption,
} from './options/options.ts'
import { OPTIONAL_OPTIONS } from './options/provider-options.ts'

/** Default width in columns, and bounds of a known width: longer lines are hard to read. */
const WIDTH = 80
const MIN_WIDTH = 60
const MAX_WIDTH = 120
const MAX_FIRST_COLUMN = 0.4 // as a share of the width
const MIN_COLUMN = 10
const COMMAND_INDENT = 4

/** Returns the width of the help for a terminal's columns; undefined or 0: unknown. */
export function helpWidth(columns: number | undefined): number {
  return columns ? Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, columns)) : WIDTH
}

/** Help of all commands, or only of those whose first word is `first`. */
export function programHelp(
  commands: readonly Command[],
  first: string | undefined,
  texts = helpTexts('en'),
  width = WIDTH,
): string {
  const isShown = ({ name }: Command) => first === undefined || name.startsWith(`${first} `)
  const groups = texts.groups
    .map(({ title, commands: names }) => ({
      title,
      commands: names.flatMap((name) => commands.find((one) => one.name === name && isShown(one)) ?? []),
    }))
    .filter((group) => group.commands.length > 0)
  const all = groups.flatMap((group) => group.commands)
  const lines = formatList(
    all.map((one) => [commandUsage(one, texts), texts.command(one.name).summary]),
    width,
  )
  const parts = groups.map(
    (group) => `${group.title}:\n${lines.splice(0, group.commands.length).join('\n')}\n`,
  )
  const { summary, about = '', example } = texts.command('cambista')
  return `${wrapText(`cambista ${VERSION}: ${summary}`, width)}

${texts.text('usage')}: cambista ${texts.placeholder('COMMAND')} [${texts.text('flags')}]

${parts.join('\n')}
${wrapText(about, width)}

${texts.text('example')}: ${example}
`
}

export function commandHelp(command: Command, texts = helpTexts('en'), width = WIDTH): string {
  const { summary, about, example } = texts.command(command.name)
  const row = (name: OptionName): [string, string] => [
    flagText(name, command.overrides, texts),
    optionText(command, name, texts),
  ]
  const clusterOptions = command.options.filter((name) => CLUSTER_ONLY.has(name))
  const others = command.options.filter((name) => !CLUSTER_ONLY.has(name) && !OPTIONAL_OPTIONS.has(name))
  const isShort = command.options.some((name) => OPTIONAL_OPTIONS.has(name))
  const rows = [...others.map(row), ['--help', `${texts.option('help')} *`] satisfies [string, string]]
  const lines = formatList([...rows, ...clusterOptions.map(row)], width)
  const cluster =
    clusterOptions.length > 0
      ? ['', wrapText(texts.text('cluster'), width), ...lines.splice(rows.length)]
      : []
  const sources = isShort ? ['', wrapText(texts.text('sources'), width)] : []
  return `${wrapCommand(`${texts.text('usage')}: cambista ${commandUsage(command, texts)} [${texts.text('flags')}]`, width, '')}

${wrapText(summary, width)}
${about === undefined ? '' : `\n${wrapText(about, width)}\n`}
${wrapText(texts.text('heading'), width)}
${[...lines, ...sources, ...cluster].join('\n')}

${wrapCommand(`${texts.text('example')}: ${example}`, width, ' \\')}
`
}

/** Describes commands for programs: their words and options, with the variable and default of each. */
export function describeCommands(commands: readonly Command[], texts = helpTexts('en')) {
  const describeOption = ({ overrides, required = [] }: Command, name: OptionName) => {
    const { value, fallback, repeats } = requireOption(name, overrides)
    const isCallOnly = CALL_ONLY.has(name) || overrides?.[name] !== undefined
    return {
      ...{ flag: `--${name}`, value: value ?? null, default: fallback ?? null },
      variable: isCallOnly ? null : variableName(name),
      ...{ repeats: repeats ?? false, required: required.includes(name) },
    }
  }
  return {
    version: VERSION,
    commands: commands.map((command) => ({
      ...{ name: command.name, summary: texts.command(command.name).summary },
      ...{ arguments: command.positionals, changes_data: command.changesData },
      options: command.options.map((name) => describeOption(command, name)),
    })),
  }
}

/** Returns a command with its words and its required flags, such as `web --key NAME|--token NAME`. */
export function commandUsage(command: Command, texts = helpTexts('en')): string {
  const positionals = command.positionals.map((word) => texts.placeholder(word))
  const flags = (names: readonly OptionName[] = []) =>
    names.map((name) => flagText(name, command.overrides, texts))
  const required = [...flags(command.required), flags(command.anyOf).join('|')].filter((text) => text !== '')
  return [command.name, ...positionals, ...required].join(' ')
}

/** Returns a flag with the placeholder of its value, such as `--port PORT`. */
export function flagText(name: OptionName, overrides: OptionOverrides = {}, texts = helpTexts('en')): string {
  const { value } = requireOption(name, overrides)
  return value === undefined ? `--${name}` : `--${name} ${texts.placeholder(value)}`
}

function optionText({ name: command, overrides }: Command, name: OptionName, texts: HelpTexts): string {
  const { fallback } = requireOption(name, overrides)
  const help = texts.option(name, command)
  const text = fallback === undefined ? help : `${help} (${texts.text('default', { text: fallback })})`
  return CALL_ONLY.has(name) || overrides?.[name] ? `${text} *` : text
}

/** Formats rows of two aligned cells, indented. The second cell wraps below itself; a long first cell has its own line. */
function formatList(rows: readonly [string, string][], width: number): string[] {
  const longest = Math.floor(width * MAX_FIRST_COLUMN)
  const firsts = rows.map(([first]) => first.length + 4).filter((length) => length <= longest)
  const column = Math.max(MIN_COLUMN, ...firsts)
  const below = `\n${' '.repeat(column)}`
  return rows.map(([first, second]) => {
    const lines = wrap(second, width - column)
    const head = `  ${first}`
    return head.length + 2 > column
      ? head + below + lines.join(below)
      : head.padEnd(column) + lines.join(below)
  })
}

/** Wraps paragraphs. Indented lines stay, because they are commands or examples of files. */
function wrapText(text: string, width: number): string {
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

/** Wraps a command line; `end` is the shell's mark of a continued line. A flag and its value share a line. */
function wrapCommand(line: string, width: number, end: string): string {
  if (line.length <= width) return line
  const words = line.match(/--\S+ [^-\s]\S*|\S+/g) ?? []
  return fillLines(words, width - end.length - COMMAND_INDENT).join(`${end}\n${' '.repeat(COMMAND_INDENT)}`)
}

/** Wraps a text. Short parentheses, such as a default of several words, are not split. */
function wrap(text: string, width: number): string[] {
  const groups = text.match(/\([^()]{1,48}\)\S*( \*$)?|\S+( \*$)?/g) ?? ['']
  return fillLines(
    groups.flatMap((group) => (group.length > width ? group.split(' ') : [group])),
    width,
  )
}

function fillLines(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
