// Types of parsed option values, derived from the table. Reading an option that a command does not declare is a type
// error.

import type { Option } from './names.ts'
import type { OPTIONS, OptionName, OptionOverrides } from './options.ts'

/** Value of each option. A switch that was not given is false, a list is empty. */
export type OptionValues = { [Name in OptionName]: OptionValue<(typeof OPTIONS)[Name]> }

/** Option values of a command, from its names, its required names and its overrides. */
export type CommandOptions<
  Name extends OptionName,
  Required extends OptionName = never,
  Overrides extends OptionOverrides = Record<never, never>,
> = {
  [One in Name]: One extends Required
    ? PresentValue<OverriddenValue<Overrides, One>>
    : OverriddenValue<Overrides, One>
}

type OverriddenValue<
  Overrides extends OptionOverrides,
  Name extends OptionName,
> = Overrides[Name] extends Option ? OptionValue<Overrides[Name]> : OptionValues[Name]
type OptionValue<O extends Option> = O extends { value: undefined }
  ? boolean
  : O extends { repeats: true }
    ? ParsedValue<O>[]
    : O extends { fallback: string }
      ? ParsedValue<O>
      : ParsedValue<O> | undefined
type ParsedValue<O extends Option> = ReturnType<O['format']['parse']>
type PresentValue<Value> = Value extends (infer One)[] ? [One, ...One[]] : Exclude<Value, undefined>
