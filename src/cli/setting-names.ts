// Settings that are set and that no option reads: a mistyped name must not be silently nothing.

import { nearest } from '../edit-distance.ts'
import { AppError } from '../errors.ts'
import type { Environment } from './args.ts'
import { isInjected, variableOf } from './option-names.ts'
import { CALL_ONLY, OPTIONS, type OptionName } from './options.ts'
import { TOKEN_VARIABLES } from './provider-options.ts'
import type { Settings } from './settings.ts'

const PREFIX = 'CAMBISTA_'
const MOST_LETTERS = 2
// There is no flag for a token: ps would show it.
const OF_NO_OPTION = [...TOKEN_VARIABLES.map(({ token }) => token), 'CAMBISTA_KEY', 'CAMBISTA_TOKEN']

/**
 * Names that begin as a setting does and are none, each with its file if it is from there.
 * @throws AppError `usage` when one is within two letters of a setting's name
 */
export function unknownSettings(env: Environment, settings: Settings): string[] {
  const known = [...OF_NO_OPTION, ...optionNames().map(variableOf)]
  const unknown: string[] = []
  const mistyped: string[] = []
  for (const [name, value] of Object.entries({ ...settings.values, ...env })) {
    if (!name.startsWith(PREFIX) || !value || known.includes(name) || isInjected(name, value)) continue
    const shown = settings.values[name] === undefined ? name : `${name} in ${settings.file}`
    const meant = nearest(name.toUpperCase(), known, MOST_LETTERS)
    if (meant === undefined) unknown.push(shown)
    else mistyped.push(`${shown} is no setting: did you mean ${meant}?`)
  }
  if (mistyped.length > 0) throw new AppError('usage', mistyped.join(' '))
  return unknown
}

function optionNames(): OptionName[] {
  return (Object.keys(OPTIONS) as OptionName[]).filter((name) => !CALL_ONLY.has(name))
}
