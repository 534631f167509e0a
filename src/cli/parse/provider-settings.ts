// Settings of the providers, from options, files and the environment.

import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Provider, ProviderSettings, TokenSetting } from '../../providers/provider.ts'
import { VERSION } from '../../runtime/assets.ts'
import { AppError, errorCode, errorReason } from '../../runtime/errors.ts'
import { openModeFault } from '../../runtime/open-mode.ts'
import type { ProviderOption } from '../options/names.ts'
import { settingOption, tokenVariables } from '../options/provider-options.ts'
import type { Environment } from './args.ts'

/** Values of the providers' options, by name. */
type ProviderOptionValues = { readonly [name: ProviderOption]: unknown }

/** Returns a function that reads the cron pattern of a provider. */
export function cronReader(options: ProviderOptionValues): (provider: Provider) => string {
  return ({ settings }) => String(options[settingOption(settings.schedule)])
}

/**
 * Returns a function that reads a provider's settings. Each call reads the token file again, so a token can be renewed
 * without a restart. No flag takes a token, because `ps` shows flags. Call it before `becomeOwner`: if the new
 * user may not read the file, the token of the first read is used.
 */
export function providerSettingsReader(
  options: ProviderOptionValues,
  env: Environment,
  providers: readonly Provider[],
): (provider: Provider) => ProviderSettings {
  const readers = new Map(
    providers.map(({ code, settings: { token } }) => [code, token && tokenReader(token, options, env)]),
  )
  return ({ code, settings: { url, pace } }) => ({
    url: String(options[settingOption(url)]),
    paceMs: Number(options[settingOption(pace)]),
    userAgent: `cambista/${VERSION}`,
    token: readers.get(code)?.(),
  })
}

/** Warning about the token file of a provider, for the log. */
export type TokenWarning = { event: string; file: string; hint: string }

/**
 * Returns a warning for a token file that is missing, empty, or readable by other users. The mode of files in
 * CREDENTIALS_DIRECTORY is ignored, because systemd protects them by an access list.
 */
export function tokenFileWarning(
  { settings: { token } }: Provider,
  options: ProviderOptionValues,
  env: Environment,
): TokenWarning | undefined {
  const file = token && tokenFile(token, options)
  if (!file) return undefined
  const content = readTokenFile(file)
  const { name } = token
  if ('error' in content) {
    const { error } = content
    const hint = unreadableAdvice(file, error) ?? errorReason(error)
    return { event: `cannot read ${name}`, file, hint }
  }
  if (content.token === '')
    return token.emptyIsNone ? undefined : { event: emptyMessage(name), file, hint: WRITE_TOKEN }
  const fault = openModeFault(statSync(file).mode)
  if (fault === undefined || dirname(file) === env.CREDENTIALS_DIRECTORY) return undefined
  return { event: `the file of ${name} ${fault}`, file, hint: `chmod 600 ${file}` }
}

function tokenReader(
  setting: TokenSetting,
  options: ProviderOptionValues,
  env: Environment,
): () => string | undefined {
  const file = tokenFile(setting, options)
  const atStart = file === undefined ? undefined : readTokenFile(file)
  const variable = tokenVariables(setting).token
  return () =>
    (file !== undefined && currentToken(file, atStart, setting)) || env[variable]?.trim() || undefined
}

function tokenFile(setting: TokenSetting, options: ProviderOptionValues): string | undefined {
  const path = options[settingOption(setting)]
  return path === undefined || path === '' ? undefined : String(path)
}

type TokenFile =
  /** Empty text: an empty file. Undefined: only comments, as `service install` writes. */
  { token: string | undefined } | { error: unknown }

/**
 * Returns the token of a file now.
 * @throws AppError `failed` for an unreadable or empty file: without its token, rounded values would be stored. Of a
 * source with `emptyIsNone` an empty file is no token.
 */
function currentToken(
  file: string,
  atStart: TokenFile | undefined,
  { name, emptyIsNone }: TokenSetting,
): string | undefined {
  let content = readTokenFile(file)
  if ('error' in content && errorCode(content.error) === 'EACCES' && atStart) content = atStart
  if ('error' in content) {
    const { error } = content
    const advice = unreadableAdvice(file, error) ?? WRITE_TOKEN
    throw new AppError('failed', `cannot read ${name}: ${errorReason(error)} (${advice})`, { cause: error })
  }
  if (content.token === '' && emptyIsNone) return undefined
  if (content.token === '') throw new AppError('failed', `${emptyMessage(name)}: ${file} (${WRITE_TOKEN})`)
  return content.token
}

const WRITE_TOKEN =
  'write the token into it, or a line that begins with # while there is none; the service has its file in /etc/cambista'

function emptyMessage(name: string): string {
  return `the file of ${name} is empty`
}

/** Returns the advice for a file of another user; undefined for another error. */
function unreadableAdvice(file: string, error: unknown): string | undefined {
  if (errorCode(error) !== 'EACCES') return undefined
  return `give it to the user of the server: chown ${process.geteuid?.() ?? 'USER'} ${file}, mode 600`
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
