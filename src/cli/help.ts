// The help texts, made from the table of commands and the table of options.

import { VERSION } from '../assets.ts'
import { namesOf, PROVIDERS } from '../providers/list.ts'
import { type Command, table } from './command.ts'
import type { CommandGroup } from './commands.ts'
import { CALL_ONLY, type OptionName, type OwnOptions, optionOf } from './options.ts'
import { SETTINGS_FILE } from './settings.ts'

/** What there is to do; of a word, only the commands that begin with it. */
export function programHelp(groups: readonly CommandGroup[], first?: string): string {
  const shown = groups
    .map(({ title, commands }) => ({ title, commands: commands.filter((one) => isOf(one, first)) }))
    .filter(({ commands }) => commands.length > 0)
  const lines = table(shown.flatMap(({ commands }) => commands.map((one) => [usageOf(one), one.summary])))
  const parts = shown.map(({ title, commands }) => `${title}:\n${indent(lines.splice(0, commands.length))}\n`)
  return `cambista ${VERSION}: exchange rates of the ${namesOf(PROVIDERS)}, and documents for AI agents

Usage: cambista COMMAND [flags]

${parts.join('\n')}
cambista COMMAND --help says more of one, cambista manual has longer texts. cambista completion bash (or zsh) makes the
shell complete all this.
Where the service is installed, its settings in ${SETTINGS_FILE} count below flags and environment.
Results go to stdout, messages to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage,
3 done in part (a sync that ended parcial, a restore that left something out).

Example: cambista serve --data-dir /var/lib/cambista
`
}

function isOf({ name }: Command, first: string | undefined): boolean {
  return first === undefined || name.startsWith(`${first} `)
}

export function commandHelp(command: Command): string {
  const rows = command.options.map((name) => [flagOf(name, command.own), helpOf(name, command.own)])
  return `Usage: cambista ${usageOf(command)} [flags]

${command.summary}
${command.about === undefined ? '' : `\n${command.about}\n`}
Flags (each but those marked * is an environment variable too: --data-dir is CAMBISTA_DATA_DIR):
${indent(table([...rows, ['--help', 'this text *']]))}

Example: ${command.example}
`
}

export function usageOf(command: Command): string {
  const needed = (command.required ?? []).map((name) => flagOf(name, command.own))
  return [command.name, ...command.positionals, ...needed].join(' ')
}

/** A flag as it is written, with what stands for its value. */
export function flagOf(name: OptionName, own: OwnOptions = {}): string {
  const option = optionOf(name, own)
  return option.value === undefined ? `--${name}` : `--${name} ${option.value}`
}

function helpOf(name: OptionName, own: OwnOptions = {}): string {
  const { help, fallback } = optionOf(name, own)
  const text = fallback === undefined ? help : `${help} (default ${fallback})`
  return CALL_ONLY.has(name) || own[name] ? `${text} *` : text
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n')
}
