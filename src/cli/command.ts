// What a command is: a name, its options, a line of help, an example, and what it does.

import type { Readable } from 'node:stream'
import type { Provider } from '../providers/provider.ts'
import type { Place } from '../store/place.ts'
import type { Environment } from './args.ts'
import type { WithDatabase } from './data-dir.ts'
import type { OptionsOf } from './option-values.ts'
import type { OptionName, OwnOptions } from './options.ts'
import type { Settings } from './settings.ts'

/** The world outside, handed in so that a command can be run in a test. */
export type Terminal = {
  env: Environment
  /** Sources of rates. Tests pass their own, so that none calls a real host. */
  providers: readonly Provider[]
  /** Where the settings of a service on this machine would be; undefined: nowhere. */
  settingsFile?: string
  /** Results. */
  out(text: string | Uint8Array): void
  /** Messages. */
  err(text: string): void
  /** What is sent to its stdin. */
  input?(): Readable
  /** Whether messages go to a person's screen. */
  interactive: boolean
  /** The width of the screen that results go to; undefined: not known, or they go to no screen. */
  columns?: number | undefined
  /** Whether messages go to the journal of systemd. */
  journal?: boolean
  /** Ends when the process is asked to stop (SIGTERM, SIGINT). */
  stop: AbortSignal
}

export type Command = {
  /** One word or two, such as `key create`. */
  name: string
  /** The words that it takes, such as `NAME`, or `[NAME]` where it may be left out. */
  positionals: readonly string[]
  /** What its first word must be one of, for the completion. */
  choices?: readonly string[]
  summary: string
  /** What else its help says. */
  about?: string
  options: readonly OptionName[]
  /** Those of its options that are its own, though another one has the name: they are flags alone, without a variable. */
  own?: OwnOptions
  /** Those of its options that must be given. */
  required?: readonly OptionName[]
  /** Whether it changes what is stored: then it says in which data directory. */
  changesData: boolean
  /** Whatever service this machine has, its settings are not looked at. */
  ignoresService?: boolean
  example: string
  /** Returns the exit code. */
  run(input: CommandInput): Promise<number>
}

/** One of which the compiler knows the texts that another language must have: its name, whether it says more, its own options. */
export type NamedCommand<
  Words extends string,
  About extends string | undefined,
  Own extends OwnOptions,
> = Omit<Command, 'name' | 'about' | 'own'> & { name: Words; about?: About; own?: Own }

export type CommandInput<Options = object> = {
  options: Options
  /** As many as it takes. */
  positionals: string[]
  /** The options that were given as flags. */
  flags: readonly string[]
  terminal: Terminal
  /** They are in the terminal's environment already. */
  settings: Settings
  /** Where its data are, if it has options for that (`placeOf`). */
  place: Options extends { 'data-dir': string } ? () => Place : (() => Place) | undefined
  /** Opens the database of that place. */
  withDatabase: Options extends { 'data-dir': string } ? WithDatabase : WithDatabase | undefined
}

/** A command that can read the options which it declares, and no others: those that it needs are there. */
export function command<
  const Words extends string,
  const Name extends OptionName,
  const Needed extends Name = never,
  const Own extends OwnOptions = Record<never, never>,
  const About extends string | undefined = undefined,
>(
  definition: Omit<Command, 'name' | 'about' | 'options' | 'own' | 'required' | 'run'> & {
    name: Words
    about?: About
    options: readonly Name[]
    own?: Own
    required?: readonly Needed[]
    run(input: CommandInput<OptionsOf<Name, Needed, Own>>): Promise<number>
  },
): NamedCommand<Words, About, Own> {
  // The parser gives each command the values of the options that it declares.
  return definition as unknown as NamedCommand<Words, About, Own>
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

/** Rows of cells as aligned lines. */
export function table(rows: readonly (readonly string[])[]): string[] {
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
