// Finds settings that no option reads, because a mistyped name must not be ignored silently.

import { AppError } from '../../runtime/errors.ts'
import { nearest } from '../../values/edit-distance.ts'
import { isInjected, variableName } from '../options/names.ts'
import { CALL_ONLY, OPTIONS, type OptionName } from '../options/options.ts'
import { TOKEN_VARIABLES } from '../options/provider-options.ts'
import type { Environment } from './args.ts'
import type { Settings } from './settings.ts'

const PREFIX = 'CAMBISTA_'
const MAX_TYPOS = 2
// Settings without an option: `ps` would show a token in a flag.
const VARIABLES_ONLY = [...TOKEN_VARIABLES.map(({ token }) => token), 'CAMBISTA_KEY', 'CAMBISTA_TOKEN']
/** Variables of the guides and example programs, perhaps in the same environment. */
const OF_EXAMPLES = ['CAMBISTA_URL', 'CAMBISTA_SECRET', 'CAMBISTA_TIMEOUT']

/**
 * Returns unknown names with the prefix of settings, each with its file if it has one.
 * @throws AppError `usage` if a name differs from a setting's by one or two letters
 */
export function unknownSettings(env: Environment, settings: Settings): string[] {
  const names = [...VARIABLES_ONLY, ...optionNames().map(variableName)]
  const unknown: string[] = []
  const mistyped: string[] = []
  for (const [name, value] of Object.entries({ ...settings.values, ...env })) {
    const isAccepted = names.includes(name) || OF_EXAMPLES.includes(name)
    if (!name.startsWith(PREFIX) || !value || isAccepted || isInjected(name, value)) continue
    const place = settings.values[name] === undefined ? name : `${name} in ${settings.file}`
    const suggestion = nearest(name.toUpperCase(), names, MAX_TYPOS)
    if (suggestion === undefined) unknown.push(place)
    else mistyped.push(`${place} is no setting: did you mean ${suggestion}?`)
  }
  if (mistyped.length > 0) throw new AppError('usage', mistyped.join(' '))
  return unknown
}

function optionNames(): OptionName[] {
  return (Object.keys(OPTIONS) as OptionName[]).filter((name) => !CALL_ONLY.has(name))
}
