// The types of what a command gets for its options. They follow from the table, so that reading an option which a command
// does not declare does not compile.

import type { Option } from './option-names.ts'
import type { OPTIONS, OptionName, OwnOptions } from './options.ts'

/** What is given for each option: false for a switch and nothing for a list that was not. */
export type OptionValues = { [Name in OptionName]: ValueOf<(typeof OPTIONS)[Name]> }

/** What a command gets that declares options of these names, of which some are needed and some its own. */
export type OptionsOf<
  Name extends OptionName,
  Needed extends OptionName = never,
  Own extends OwnOptions = Record<never, never>,
> = {
  [One in Name]: One extends Needed ? Given<ValueIn<Own, One>> : ValueIn<Own, One>
}

type ValueIn<Own extends OwnOptions, Name extends OptionName> = Own[Name] extends Option
  ? ValueOf<Own[Name]>
  : OptionValues[Name]
type ValueOf<O extends Option> = O extends { value: undefined }
  ? boolean
  : O extends { repeats: true }
    ? ReadBy<O>[]
    : O extends { fallback: string }
      ? ReadBy<O>
      : ReadBy<O> | undefined
type ReadBy<O extends Option> = ReturnType<O['format']['read']>
type Given<Value> = Value extends (infer One)[] ? [One, ...One[]] : Exclude<Value, undefined>
