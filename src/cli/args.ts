// From what the operator typed to checked values: flags first, then the environment, then the settings of the
// service on this machine, then the defaults.

import { parseArgs } from 'node:util'
import { nearest } from '../edit-distance.ts'
import { AppError } from '../errors.ts'
import { isDatabaseAddress, masked, misused } from './advice.ts'
import { isInjected, type Option, variableOf } from './option-names.ts'
import type { OptionsOf } from './option-values.ts'
import { CALL_ONLY, type OptionName, type OwnOptions, optionOf } from './options.ts'

const MOST_LETTERS = 2
const MOST_FLAGS = 8

export type Environment = Record<string, string | undefined>

/**
 * Reads the words after a command's name.
 * @throws AppError `usage` that names the flag, or the variable and the file it is set in
 */
export function parseWords<Name extends OptionName>(
  words: readonly string[],
  names: readonly Name[],
  env: Environment,
  settings?: { file: string; values: Environment },
  own: OwnOptions = {},
): { options: OptionsOf<Name>; positionals: string[]; flags: string[]; help: boolean } {
  const parsed = parseFlags(words, names, own)
  const valueIn = (name: OptionName) => {
    const option = optionOf(name, own)
    const flag = parsed.values[name]
    const flagOnly = CALL_ONLY.has(name) || own[name] !== undefined
    const variable = flagOnly ? undefined : variableIn(env, name)
    const setting = flagOnly ? undefined : settings?.values[variableOf(name)]
    if (option.repeats) {
      const { texts, source } =
        flag !== undefined
          ? { texts: [flag].flat(), source: `--${name}` }
          : variable
            ? { texts: listIn(variable), source: variableOf(name) }
            : { texts: listIn(setting ?? ''), source: `${variableOf(name)} in ${settings?.file}` }
      return texts.map((text) => checkedValue(option, source, text))
    }
    if (flag !== undefined) return checkedValue(option, `--${name}`, flag)
    // An empty variable is an unset one: that is what an unset line in an environment file looks like.
    if (variable) return checkedValue(option, variableOf(name), variable)
    if (setting) return checkedValue(option, `${variableOf(name)} in ${settings?.file}`, setting)
    if (option.value === undefined) return false
    return option.fallback === undefined ? undefined : option.format.read(option.fallback)
  }
  return {
    positionals: parsed.positionals,
    flags: Object.keys(parsed.values),
    help: parsed.values.help === true,
    options: Object.fromEntries(names.map((name) => [name, valueIn(name)])) as OptionsOf<Name>,
  }
}

/** What a variable has for an option that may be given several times: with commas between. */
function listIn(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

/** @throws AppError `usage` when an option that must be given was not */
export function checkRequired(
  required: readonly OptionName[],
  options: { readonly [name in OptionName]?: unknown },
  own: OwnOptions = {},
): void {
  for (const name of required) {
    if (options[name] !== undefined && [options[name]].flat().length > 0) continue
    const { format, repeats } = optionOf(name, own)
    throw misused({ misuse: 'missing-flag', flag: name, choices: (repeats && format.choices) || [] })
  }
}

/** What an orchestrator sets under the same name is no setting. */
function variableIn(env: Environment, name: OptionName): string | undefined {
  const value = env[variableOf(name)]
  return value !== undefined && isInjected(variableOf(name), value) ? undefined : value
}

function parseFlags(words: readonly string[], names: readonly OptionName[], own: OwnOptions) {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }> = {
    help: { type: 'boolean', short: 'h' },
  }
  for (const name of names) {
    const { value, repeats } = optionOf(name, own)
    options[name] = { type: value === undefined ? 'boolean' : 'string', multiple: repeats === true }
  }
  const how = { args: [...words], options, allowPositionals: true }
  const { tokens } = parseArgs({ ...how, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind === 'option' && !Object.hasOwn(options, token.name)) {
      throw unknownFlag(words[token.index] ?? '', names)
    }
  }
  try {
    return parseArgs({ ...how, strict: true })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    throw new AppError('usage', (text.split(/\. |\n/)[0] ?? text).replace(/\.$/, ''), { cause: error })
  }
}

/** The error for a word that is no flag of a command, with the one that was probably meant, or those that there are. */
export function unknownFlag(word: string, names: readonly string[]): AppError {
  const [flag = ''] = word.split('=', 1)
  const typed = flag.replace(/^-+/, '').toLowerCase().replaceAll('_', '-')
  const near = nearest(typed, [...names, 'help'], typed.length < 4 ? 1 : MOST_LETTERS)
  const takes = names.length <= MOST_FLAGS ? names : undefined
  return misused({ misuse: 'unknown-flag', flag, near, takes })
}

function checkedValue(option: Option, source: string, given: unknown): unknown {
  if (option.value === undefined) {
    if (typeof given === 'boolean') return given
    const word = String(given).toLowerCase()
    if (['1', 'true', 'yes', 'on'].includes(word)) return true
    if (['0', 'false', 'no', 'off'].includes(word)) return false
    throw new AppError('usage', `${source} must be 1 or 0, not ${JSON.stringify(masked(String(given)))}`)
  }
  const text = String(given)
  // One that takes a file or a name would repeat it, with its password, in whatever goes wrong with that.
  if (option.value !== 'URL' && isDatabaseAddress(text)) {
    throw new AppError('usage', `${source} must not be the address of a database, which goes with --database`)
  }
  const fault = option.format.fault(text)
  if (fault === undefined) return option.format.read(text)
  throw new AppError('usage', `${source} ${fault}, not ${JSON.stringify(masked(text))}`)
}
