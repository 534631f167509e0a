// Parses and validates options. Flags come first, then the environment, then the settings of this machine's service,
// then the defaults.

import { parseArgs } from 'node:util'
import type { AppError } from '../../runtime/errors.ts'
import { nearest } from '../../values/edit-distance.ts'
import { isDatabaseAddress, usageError } from '../help/advice.ts'
import { isInjected, type Option, variableName } from '../options/names.ts'
import { CALL_ONLY, type OptionName, type OptionOverrides, requireOption } from '../options/options.ts'
import type { CommandOptions } from '../options/values.ts'

const MAX_TYPOS = 2
const MAX_LISTED_FLAGS = 8

export type Environment = Record<string, string | undefined>

/**
 * Parses the words after a command's name.
 * @throws AppError `usage` that names the flag, or the variable and the file it is set in
 */
export function parseWords<Name extends OptionName>(
  words: readonly string[],
  names: readonly Name[],
  env: Environment,
  settings?: { file: string; values: Environment },
  overrides: OptionOverrides = {},
): { options: CommandOptions<Name>; positionals: string[]; flags: string[]; help: boolean } {
  const tokens = parseFlags(words, names, overrides)
  const readOption = (name: OptionName) => {
    const option = requireOption(name, overrides)
    const flag = tokens.values[name]
    const flagOnly = CALL_ONLY.has(name) || overrides[name] !== undefined
    const variable = flagOnly ? undefined : readVariable(env, name)
    const setting = flagOnly ? undefined : settings?.values[variableName(name)]
    if (option.repeats) {
      const { texts, source } =
        flag !== undefined
          ? { texts: [flag].flat(), source: `--${name}` }
          : variable
            ? { texts: splitList(variable), source: variableName(name) }
            : { texts: splitList(setting ?? ''), source: `${variableName(name)} in ${settings?.file}` }
      return texts.map((text) => parseValue(option, source, text))
    }
    if (flag !== undefined) return parseValue(option, `--${name}`, flag)
    // An empty variable counts as unset, since environment files have such lines for unset options.
    if (variable) return parseValue(option, variableName(name), variable)
    if (setting) return parseValue(option, `${variableName(name)} in ${settings?.file}`, setting)
    if (option.value === undefined) return false
    return option.fallback === undefined ? undefined : option.format.parse(option.fallback)
  }
  return {
    positionals: tokens.positionals,
    flags: Object.keys(tokens.values),
    help: tokens.values.help === true,
    options: Object.fromEntries(names.map((name) => [name, readOption(name)])) as CommandOptions<Name>,
  }
}

/** Splits the variable of a repeatable option at commas. */
function splitList(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

/** @throws AppError `usage` if a required option is missing */
export function checkRequired(
  required: readonly OptionName[],
  options: { readonly [name in OptionName]?: unknown },
  overrides: OptionOverrides = {},
): void {
  for (const name of required) {
    if (options[name] !== undefined && [options[name]].flat().length > 0) continue
    const { format, repeats } = requireOption(name, overrides)
    throw usageError({ reason: 'missing-flag', flag: name, choices: (repeats && format.choices) || [] })
  }
}

/** Reads the variable of an option. Variables that an orchestrator sets are ignored. */
function readVariable(env: Environment, name: OptionName): string | undefined {
  const value = env[variableName(name)]
  return value !== undefined && isInjected(variableName(name), value) ? undefined : value
}

function parseFlags(words: readonly string[], names: readonly OptionName[], overrides: OptionOverrides) {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }> = {
    help: { type: 'boolean', short: 'h' },
  }
  for (const name of names) {
    const { value, repeats } = requireOption(name, overrides)
    options[name] = { type: value === undefined ? 'boolean' : 'string', multiple: repeats === true }
  }
  const request = { args: [...words], options, allowPositionals: true }
  const { tokens, ...parsed } = parseArgs({ ...request, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name: flag, value, inlineValue } = token
    if (!Object.hasOwn(options, flag)) throw unknownFlag(words[token.index] ?? '', names)
    if (options[flag]?.type === 'boolean') {
      if (value !== undefined) throw usageError({ reason: 'needless-value', flag })
    } else if (value === undefined || (!inlineValue && /^-./.test(value))) {
      throw usageError({ reason: 'missing-value', flag, next: value })
    }
  }
  return parsed
}

/** Returns the error for an unknown flag, with the nearest flag, or all flags if they are few. */
export function unknownFlag(word: string, names: readonly string[]): AppError {
  const [flag = ''] = word.split('=', 1)
  const typed = flag.replace(/^-+/, '').toLowerCase().replaceAll('_', '-')
  const near = nearest(typed, [...names, 'help'], typed.length < 4 ? 1 : MAX_TYPOS)
  const takes = names.length <= MAX_LISTED_FLAGS ? names : undefined
  return usageError({ reason: 'unknown-flag', flag, near, takes })
}

function parseValue(option: Option, source: string, value: unknown): unknown {
  if (option.value === undefined) {
    if (typeof value === 'boolean') return value
    const word = String(value).toLowerCase()
    if (['1', 'true', 'yes', 'on'].includes(word)) return true
    if (['0', 'false', 'no', 'off'].includes(word)) return false
    throw usageError({
      reason: 'wrong-value',
      source,
      fault: { name: 'format.switch' },
      typed: String(value),
    })
  }
  const text = String(value)
  // A file or a name would appear in later errors, and so would the password of an address.
  if (option.value !== 'URL' && isDatabaseAddress(text)) {
    throw usageError({
      reason: 'wrong-value',
      source,
      fault: { name: 'format.no-database' },
      typed: undefined,
    })
  }
  const fault = option.format.validate(text)
  if (fault === undefined) return option.format.parse(text)
  throw usageError({ reason: 'wrong-value', source, fault, typed: text })
}
