// From what the operator typed to checked values: flags first, then the environment, then the settings of the
// service on this machine, then the defaults.

import { parseArgs } from 'node:util'
import { AppError } from '../errors.ts'
import type { Upgrade } from '../store/database.ts'
import { CALL_ONLY, OPTIONS, type Option, type OptionName, variableOf } from './options.ts'

/** Checked values of the options of one command. */
export type Values = {
  /** The text of an option that has a default. */
  text(name: OptionName): string
  /** The text of an option that may be absent. */
  given(name: OptionName): string | undefined
  /** The text of an option that must be given. @throws AppError `usage` */
  needed(name: OptionName): string
  /** The texts of an option that may be given several times, each once. */
  all(name: OptionName): string[]
  number(name: OptionName): number
  /** The number of an option that may be absent. */
  givenNumber(name: OptionName): number | undefined
  on(name: OptionName): boolean
  /** Is told the data directory when it has been opened. */
  opened?: (dataDir: string) => void
  /** Is told when opening it brought its database to a newer schema. */
  upgraded?: (upgrade: Upgrade) => void
}

export type Environment = Record<string, string | undefined>

/**
 * Reads the words after a command's name.
 * @throws AppError `usage` that names the flag, or the variable and the file it is set in
 */
export function parseWords(
  words: readonly string[],
  names: readonly OptionName[],
  env: Environment,
  settings?: { file: string; values: Environment },
): { values: Values; positionals: string[]; help: boolean } {
  const parsed = parseFlags(words, names)
  const texts = new Map<OptionName, string | boolean>()
  const lists = new Map<OptionName, string[]>()
  for (const name of names) {
    const option: Option = OPTIONS[name]
    const flag = parsed.values[name]
    const variable = CALL_ONLY.has(name) ? undefined : env[variableOf(name)]
    const setting = CALL_ONLY.has(name) ? undefined : settings?.values[variableOf(name)]
    if (Array.isArray(flag)) {
      lists.set(name, [...new Set(flag.map((one) => String(checkedText(option, `--${name}`, one))))])
    } else if (flag !== undefined) texts.set(name, checkedText(option, `--${name}`, flag))
    // An empty variable is an unset one: that is what an unset line in an environment file looks like.
    else if (variable) texts.set(name, checkedText(option, variableOf(name), variable))
    else if (setting)
      texts.set(name, checkedText(option, `${variableOf(name)} in ${settings?.file}`, setting))
    else if (option.fallback !== undefined) texts.set(name, option.fallback)
  }
  const given = (name: OptionName) => {
    const text = texts.get(name)
    return typeof text === 'string' ? text : undefined
  }
  const text = (name: OptionName) => given(name) ?? ''
  return {
    positionals: parsed.positionals,
    help: parsed.values.help === true,
    values: {
      given,
      text,
      needed(name) {
        const found = given(name)
        if (found === undefined) throw new AppError('usage', `--${name} is missing`)
        return found
      },
      all: (name) => lists.get(name) ?? [],
      number: (name) => Number(text(name)),
      givenNumber: (name) => (given(name) === undefined ? undefined : Number(text(name))),
      on: (name) => texts.get(name) === true,
    },
  }
}

function parseFlags(words: readonly string[], names: readonly OptionName[]) {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string; multiple?: boolean }> = {
    help: { type: 'boolean', short: 'h' },
  }
  for (const name of names) {
    const { value, repeats }: Option = OPTIONS[name]
    options[name] = { type: value === undefined ? 'boolean' : 'string', multiple: repeats === true }
  }
  try {
    return parseArgs({ args: [...words], options, strict: true, allowPositionals: true })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    throw new AppError('usage', (text.split(/\. |\n/)[0] ?? text).replace(/\.$/, ''), { cause: error })
  }
}

function checkedText(option: Option, source: string, given: unknown): string | boolean {
  if (option.value === undefined) {
    if (typeof given === 'boolean') return given
    const word = String(given).toLowerCase()
    if (['1', 'true', 'yes', 'on'].includes(word)) return true
    if (['0', 'false', 'no', 'off'].includes(word)) return false
    throw new AppError('usage', `${source} must be 1 or 0, not ${JSON.stringify(given)}`)
  }
  const text = String(given)
  const fault = option.fault(text)
  if (fault === undefined) return text
  const shown = text.replace(/:\/\/[^/]*@/, '://***@') // a password in a URL is for nobody's journal
  throw new AppError('usage', `${source} ${fault}, not ${JSON.stringify(shown)}`)
}
