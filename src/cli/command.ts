// Type of a command: name, options and function. Its texts are in help.txt.

import type { Readable } from 'node:stream'
import type { PageBundler } from '../http/web/assets.ts'
import type { Provider } from '../providers/provider.ts'
import type { StorageConfig } from '../store/storage-config.ts'
import { NOT_PRINTED } from '../values/clean-text.ts'
import type { OptionName, OptionOverrides } from './options/options.ts'
import type { CommandOptions } from './options/values.ts'
import type { Environment } from './parse/args.ts'
import type { Settings } from './parse/settings.ts'
import type { WithDatabase } from './storage/data-dir.ts'

/** The command's surroundings, passed to it so that tests can run it. */
export type Terminal = {
  env: Environment
  /** Sources of rates. Tests pass fakes, so that none requests a real host. */
  providers: readonly Provider[]
  bundlePage?: PageBundler | undefined
  /** Path of the settings of this machine's service; undefined: none is read. */
  settingsFile?: string
  /** Results. */
  out(text: string | Uint8Array): void
  /** Messages. */
  err(text: string): void
  /** Opens stdin. */
  input?(): Readable
  /** Messages go to a person's screen. */
  interactive: boolean
  /** Width of the screen for results; undefined: unknown, or no screen. */
  columns?: number | undefined
  /** Messages go to the journal of systemd. */
  journal?: boolean
  /** Aborts on SIGTERM or SIGINT. */
  stop: AbortSignal
}

export type Command = {
  /** Name of one or two words, such as `key create`. */
  name: string
  /** Its words after the name, such as `NAME`, `[NAME]` if optional, or `FILE…` at the end if repeatable. */
  positionals: readonly string[]
  /** Allowed values of its first word, for the completion. */
  choices?: readonly string[]
  options: readonly OptionName[]
  /** Definitions in place of those of the table, as flags without a variable. */
  overrides?: OptionOverrides
  /** Options that the caller must give. */
  required?: readonly OptionName[]
  /** Options of which the caller must give at least one. */
  anyOf?: readonly OptionName[]
  /** Changes stored data, so it prints the data directory. */
  changesData: boolean
  /** Does not read the settings of this machine's service. */
  ignoresService?: boolean
  /** Returns the exit code; undefined: 0. */
  run(input: CommandInput): Promise<ExitCode>
}

// biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing
type ExitCode = number | void

export type CommandInput<Options = object> = {
  options: Options
  /** As many words as it takes. */
  positionals: string[]
  /** Names of the options given as flags. */
  flags: readonly string[]
  terminal: Terminal
  /** Settings of the service. `terminal.env` has them already. */
  settings: Settings
  /** Reads the storage options (`storageConfig`), if the command has them. */
  storage: Options extends { 'data-dir': string } ? () => StorageConfig : (() => StorageConfig) | undefined
  /** Opens the database of that storage. */
  withDatabase: Options extends { 'data-dir': string } ? WithDatabase : WithDatabase | undefined
}

/**
 * Defines a command. Its function can read the declared options alone, and required ones have a value. By default it
 * takes no words and changes nothing.
 */
export function command<
  const Name extends OptionName,
  const Needed extends Name = never,
  const Own extends OptionOverrides = Record<never, never>,
>(
  definition: Partial<Omit<Command, 'options' | 'overrides' | 'required' | 'run'>> & {
    name: string
    options: readonly Name[]
    overrides?: Own
    required?: readonly Needed[]
    run(input: CommandInput<CommandOptions<Name, Needed, Own>>): Promise<ExitCode>
  },
): Command {
  // The parser gives each command the values of the options that it declares.
  return { positionals: [], changesData: false, ...definition } as unknown as Command
}

/** Prints a result: one JSON document, or lines for a person. */
export function printResult(
  terminal: Terminal,
  options: { json: boolean },
  document: unknown,
  lines: readonly string[],
): void {
  if (options.json) terminal.out(`${JSON.stringify(document, null, 2)}\n`)
  else for (const line of lines) terminal.out(`${line}\n`)
}

/** Rows of cells as aligned lines. Control, format and direction characters become blanks. */
export function formatTable(table: readonly (readonly string[])[]): string[] {
  const rows = table.map((cells) => cells.map((cell) => cell.replace(NOT_PRINTED, ' ')))
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
