// The settings of the providers, from options, files and the environment.

import { readFileSync } from 'node:fs'
import { VERSION } from '../assets.ts'
import { AppError, codeOf, reasonOf } from '../errors.ts'
import { PROVIDERS } from '../providers/list.ts'
import type { Provider, ProviderSettings, TokenSetting } from '../providers/provider.ts'
import type { Environment } from './args.ts'
import type { ProviderOption } from './option-names.ts'
import { named, tokenVariables } from './provider-options.ts'

/** What was given for the options of providers, by name. */
type Given = { readonly [name: ProviderOption]: unknown }

/** The cron pattern of a provider. */
export function cronOf(options: Given): (provider: Provider) => string {
  return ({ settings }) => String(options[named(settings.schedule)])
}

/**
 * A provider's own settings, read anew at each call, so that a token can be renewed without a restart. There is no flag
 * for a token, because `ps` shows flags. To be called before root becomes the owner of a data directory, a user that may not be
 * allowed to read the file: then the token that root saw holds.
 */
export function settingsOfProviders(
  options: Given,
  env: Environment,
  providers: readonly Provider[] = PROVIDERS,
): (provider: Provider) => ProviderSettings {
  const readers = new Map(
    providers.map(({ code, settings: { token } }) => [code, token && tokenReader(token, options, env)]),
  )
  return ({ code, settings: { url, pace } }) => ({
    url: String(options[named(url)]),
    paceMs: Number(options[named(pace)]),
    userAgent: `cambista/${VERSION}`,
    token: readers.get(code)?.(),
  })
}

function tokenReader(setting: TokenSetting, options: Given, env: Environment): () => string | undefined {
  const given = options[named(setting)]
  const file = given === undefined || given === '' ? undefined : String(given)
  const atStart = file === undefined ? undefined : tokenIn(file)
  const variable = tokenVariables(setting).token
  return () => (file !== undefined && tokenNow(file, atStart, setting)) || env[variable]?.trim() || undefined
}

function tokenNow(file: string, atStart: string | Error | undefined, { name }: TokenSetting): string {
  const token = tokenIn(file)
  if (typeof token === 'string') return token
  if (codeOf(token) === 'EACCES' && typeof atStart === 'string') return atStart
  throw new AppError('failed', `cannot read ${name}: ${reasonOf(token)}`, { cause: token })
}

/** The token in a file, empty if there is none in it, or why it cannot be read. */
function tokenIn(file: string): string | Error {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
