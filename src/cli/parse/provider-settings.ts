// The settings of the providers, from options, files and the environment.

import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { VERSION } from '../assets.ts'
import { AppError, codeOf, reasonOf } from '../errors.ts'
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
  providers: readonly Provider[],
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

/** A warning about the file of a provider's token, for the log. */
export type TokenWarning = { event: string; file: string; hint: string }

/**
 * Returns a warning for a token file that is missing, empty, or readable by other users; undefined: there is none, or
 * it is well. systemd guards the files of CREDENTIALS_DIRECTORY by an access list, which their mode does not show.
 */
export function tokenFileWarning(
  { settings: { token } }: Provider,
  options: Given,
  env: Environment,
): TokenWarning | undefined {
  const file = token && tokenFile(token, options)
  if (!file) return undefined
  const content = readTokenFile(file)
  const { name } = token
  if ('error' in content) return { ...unreadableEvent(name, content.error), file }
  if (content.token === '') return { event: emptyMessage(name), file, hint: WRITE_TOKEN }
  const mode = statSync(file).mode & 0o777
  if ((mode & 0o077) === 0 || dirname(file) === env.CREDENTIALS_DIRECTORY) return undefined
  const event = `the file of ${name} can be opened by other users (mode ${mode.toString(8).padStart(4, '0')})`
  return { event, file, hint: `chmod 600 ${file}` }
}

function tokenReader(setting: TokenSetting, options: Given, env: Environment): () => string | undefined {
  const file = tokenFile(setting, options)
  const atStart = file === undefined ? undefined : readTokenFile(file)
  const variable = tokenVariables(setting).token
  return () =>
    (file !== undefined && currentToken(file, atStart, setting)) || env[variable]?.trim() || undefined
}

function tokenFile(setting: TokenSetting, options: Given): string | undefined {
  const path = options[named(setting)]
  return path === undefined || path === '' ? undefined : String(path)
}

type TokenFile =
  /** Empty: nothing is in the file. Undefined: nothing but comments is, as `service install` writes it. */
  { token: string | undefined } | { error: unknown }

/** @throws AppError `failed` for a file that cannot be read or is empty: a mistake must not store rounded values */
function currentToken(
  file: string,
  atStart: TokenFile | undefined,
  { name }: TokenSetting,
): string | undefined {
  let content = readTokenFile(file)
  if ('error' in content && codeOf(content.error) === 'EACCES' && atStart) content = atStart
  if ('error' in content) {
    const { error } = content
    throw new AppError('failed', `cannot read ${name}: ${reasonOf(error)} (${WRITE_TOKEN})`, { cause: error })
  }
  if (content.token === '') throw new AppError('failed', `${emptyMessage(name)}: ${file} (${WRITE_TOKEN})`)
  return content.token
}

const WRITE_TOKEN =
  'write the token into it, or a line that begins with # while there is none; of the service it is the file in /etc/cambista'

function emptyMessage(name: string): string {
  return `the file of ${name} is empty`
}

function unreadableEvent(name: string, error: unknown): { event: string; hint: string } {
  return { event: `cannot read ${name}`, hint: reasonOf(error) }
}

function readTokenFile(file: string): TokenFile {
  try {
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split(/\s*\n\s*/)
    const token = lines.filter((line) => !line.startsWith('#')).join('\n')
    return { token: token === '' && lines[0] !== '' ? undefined : token }
  } catch (error) {
    return { error }
  }
}
