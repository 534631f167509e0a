// What a command is: a name, its options, a line of help, an example, and what it does.

import type { Environment, Values } from './args.ts'
import type { OptionName } from './options.ts'

/** The world outside, handed in so that a command can be run in a test. */
export type Terminal = {
  env: Environment
  /** Where the settings of a service on this machine would be; undefined: nowhere. */
  settingsFile?: string
  /** Results. */
  out(text: string | Uint8Array): void
  /** Messages. */
  err(text: string): void
  /** Whether messages go to a person's screen. */
  interactive: boolean
  /** Ends when the process is asked to stop (SIGTERM, SIGINT). */
  stop: AbortSignal
}

export type Command = {
  /** One word or two, such as `key create`. */
  name: string
  /** The words that it takes, such as `NAME`. */
  takes: readonly string[]
  summary: string
  /** What else its help says. */
  about?: string
  options: readonly OptionName[]
  /** Those of its options that must be given. */
  needs?: readonly OptionName[]
  /** Whatever service this machine has, its settings are not looked at. */
  ignoresService?: boolean
  example: string
  /** Returns the exit code. `words` are as many as it takes. */
  run(input: { values: Values; words: string[]; terminal: Terminal }): Promise<number>
}

/** Prints a result: one JSON document, or lines for a person. */
export function printResult(
  terminal: Terminal,
  values: Values,
  document: unknown,
  lines: readonly string[],
): void {
  if (values.on('json')) terminal.out(`${JSON.stringify(document, null, 2)}\n`)
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
