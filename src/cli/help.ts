// The help texts, made from the table of commands and the table of options.

import { VERSION } from '../assets.ts'
import { type Command, table } from './command.ts'
import { CALL_ONLY, OPTIONS, type Option, type OptionName } from './options.ts'
import { SETTINGS_FILE } from './settings.ts'

export function programHelp(commands: readonly Command[]): string {
  return `cambista ${VERSION}: exchange rates of the Banco Central de Costa Rica, served from one SQLite file

Usage: cambista COMMAND [flags]

Commands:
${indent(table(commands.map((one) => [usageOf(one), one.summary])))}

cambista COMMAND --help says more of one. cambista --version prints the version.
Where the service is installed, its settings in ${SETTINGS_FILE} count below flags and environment.
Results go to stdout, messages to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a sync that ended parcial.

Example: cambista serve --data-dir /var/lib/cambista
`
}

export function commandHelp(command: Command): string {
  const rows = command.options.map((name) => [flagOf(name), helpOf(name)])
  return `Usage: cambista ${usageOf(command)} [flags]

${command.summary}
${command.about === undefined ? '' : `\n${command.about}\n`}
Flags (each but those marked * is an environment variable too: --data-dir is CAMBISTA_DATA_DIR):
${indent(table([...rows, ['--help', 'this text *']]))}

Example: ${command.example}
`
}

export function usageOf(command: Command): string {
  return [command.name, ...command.takes, ...(command.needs ?? []).map(flagOf)].join(' ')
}

/** A flag as it is written, with what stands for its value. */
export function flagOf(name: OptionName): string {
  const option: Option = OPTIONS[name]
  return option.value === undefined ? `--${name}` : `--${name} ${option.value}`
}

function helpOf(name: OptionName): string {
  const { help, fallback }: Option = OPTIONS[name]
  const text = fallback === undefined ? help : `${help} (default ${fallback})`
  return CALL_ONLY.has(name) ? `${text} *` : text
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n')
}
