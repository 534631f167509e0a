// What an option is, and the names that it has.

import type { Format } from './option-formats.ts'

export type Option = {
  /** What stands for the value in the help; undefined: a switch. */
  value: string | undefined
  /** The text that is parsed when neither flag nor variable is given; undefined: none. */
  fallback: string | undefined
  help: string
  /** What its text may be, and what a command gets for it. */
  format: Format<unknown>
  /** May be given several times. Such an option has no default and no environment variable. */
  repeats?: boolean
}

/** The name of an option that a provider brings. */
export type ProviderOption = string & { readonly of: 'provider' }

export function variableOf(name: string): string {
  return `CAMBISTA_${name.toUpperCase().replaceAll('-', '_')}`
}
