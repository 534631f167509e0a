// Settings of the providers, from options, files and the environment.

import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Provider, ProviderSettings, TokenSetting } from '../../providers/provider.ts'
import { VERSION } from '../../runtime/assets.ts'
import { AppError, errorCode, errorReason } from '../../runtime/errors.ts'
import { openModeFault } from '../../runtime/open-mode.ts'
import { secretText } from '../../runtime/secret-text.ts'
import type { ProviderOption } from '../options/names.ts'
import { settingOption, tokenVariables } from '../options/provider-options.ts'
import type { Environment } from './args.ts'

/** Values of the providers' options, by name. */
type ProviderOptionValues = { readonly [name: ProviderOption]: unknown }

/** Returns a function that reads the cron pattern of a provider. */
export function cronReader(options: ProviderOptionValues): (provider: Provider) => string {
  return ({ settings }) => String(options[settingOption(settings.schedule)])
}

export type ProviderSettingsReader = {
  (provider: Provider): ProviderSettings
  /**
   * Reads a token file again; undefined: there is none. While it is bad, runs use its last good token from then on.
   * @throws AppError `failed` for a bad file
   */
  reloadToken(provider: Provider): { file: string; isChanged: boolean } | undefined
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
): ProviderSettingsReader {
  const tokens = new Map(
    providers.map(({ code, settings: { token } }) => [code, token && tokenSource(token, options, env)]),
  )
  const read = ({ code, settings: { url, pace } }: Provider) => ({
    url: String(options[settingOption(url)]),
    paceMs: Number(options[settingOption(pace)]),
    userAgent: `cambista/${VERSION}`,
    token: tokens.get(code)?.read(),
  })
  return Object.assign(read, { reloadToken: ({ code }: Provider) => tokens.get(code)?.reload() })
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

function tokenSource(setting: TokenSetting, options: ProviderOptionValues, env: Environment) {
  const file = tokenFile(setting, options)
  const variable = tokenVariables(setting).token
  let last: { token: string | undefined } | undefined // good content
  let isBad = false // at the last reload
  const readFile = (isStrict = false) => {
    if (file === undefined) return undefined
    const content = readTokenFile(file)
    try {
      last = { token: checkedToken(file, content, setting) }
      isBad = false
    } catch (error) {
      const isDenied = 'error' in content && errorCode(content.error) === 'EACCES'
      if (!last || isStrict || !(isBad || isDenied)) throw error
    }
    return last.token
  }
  try {
    readFile()
  } catch {} // each run reports it
  return {
    read: () => readFile() || env[variable]?.trim() || undefined,
    reload() {
      if (file === undefined) return undefined
      const before = last
      isBad = true
      return { file, isChanged: readFile(true) !== before?.token }
    },
  }
}

function tokenFile(setting: TokenSetting, options: ProviderOptionValues): string | undefined {
  const path = options[settingOption(setting)]
  return path === undefined || path === '' ? undefined : String(path)
}

type TokenFile =
  /** Empty text: an empty file. Undefined: only comments, as `service install` writes. */
  { token: string | undefined } | { error: unknown }

/**
 * Returns the token in the content of a file.
 * @throws AppError `failed` for an unreadable or empty file: without its token, rounded values would be stored. Of a
 * source with `emptyIsNone` an empty file is no token.
 */
function checkedToken(
  file: string,
  content: TokenFile,
  { name, emptyIsNone }: TokenSetting,
): string | undefined {
  if ('error' in content) {
    const { error } = content
    const advice = unreadableAdvice(file, error) ?? WRITE_TOKEN
    throw new AppError('failed', `cannot read ${name}: ${errorReason(error)} (${advice})`, { cause: error })
  }
  if (content.token === '' && emptyIsNone) return undefined
  if (content.token === '') throw new AppError('failed', `${emptyMessage(name)}: ${file} (${WRITE_TOKEN})`)
  if (NOT_OF_HEADERS.test(content.token ?? ''))
    throw new AppError('failed', `${name} has a line break or a character that no header can have: ${file}`)
  return content.token
}

const NOT_OF_HEADERS = /[^\t\x20-\x7e\x80-\xff]/
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
    const lines = secretText(readFileSync(file))
      .trim()
      .split(/\s*\n\s*/)
    const token = lines.filter((line) => !line.startsWith('#')).join('\n')
    return { token: token === '' && lines[0] !== '' ? undefined : token }
  } catch (error) {
    return { error }
  }
}
