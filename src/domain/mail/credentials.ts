// MailLogin of mailboxes. Secrets are in files that are read for each connection. An access token stays in memory until
// five minutes before its end. The files never get into the database, a log or a message.

import { chown, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createFetch } from 'ofetch'
import * as v from 'valibot'
import { errorReason, networkReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import { secretText } from '../../runtime/secret-text.ts'
import type { MailboxRow } from '../../store/mail/mailboxes.ts'
import { RoundFailure } from './round-failure.ts'

export type MailLogin = { user: string; pass: string } | { user: string; accessToken: string }

export type CredentialReader = {
  /** Reads the credentials of a mailbox. @throws RoundFailure; the reason of `signal` */
  read(
    mailbox: Pick<MailboxRow, 'user_name' | 'password_file' | 'oauth_file'>,
    signal: AbortSignal,
  ): Promise<MailLogin>
  /** Forgets the token of a file that the server refused. */
  forget(oauthFile: string | null): void
}

/** `version`: of the file. */
type CachedToken = { token: string; endsAt: number; version: string }
type UnwrittenToken = { token: string; version: string }

const TOKEN_MARGIN_MS = 300_000
const TIMEOUT_MS = 30_000
const DEFAULT_LIFE_S = 3600
const KEYS = ['token_url', 'client_id', 'client_secret', 'client_secret_file', 'scope', 'grant'] as const
const ALL_KEYS: readonly string[] = [...KEYS, 'refresh_token', 'access_token_file']
const GRANTS = ['client_credentials', 'refresh_token']

const TokenAnswer = v.object({
  access_token: v.pipe(v.string(), v.minLength(1)),
  expires_in: v.optional(v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number))])),
  refresh_token: v.optional(v.string()),
})

/** `log`: for a refresh token that cannot be written to its file, and works until the process ends. */
export function createCredentialReader(
  log: Pick<Log, 'warn'>,
  now: () => number = () => Date.now(),
): CredentialReader {
  const tokens = new Map<string, CachedToken>()
  const unwritten = new Map<string, UnwrittenToken>()
  const pending = new Map<string, Promise<string>>() // a refresh token may be used once
  const storeRefreshToken = async (file: string, token: string) => {
    try {
      await replaceRefreshToken(file, token)
      unwritten.delete(file)
    } catch (error) {
      unwritten.set(file, { token, version: await fileVersion(file) })
      log.warn('a new refresh token is not written to its file', { file, reason: errorReason(error) })
    }
  }
  const renew = async (file: string, text: string, version: string, signal: AbortSignal) => {
    const settings = parseSettings(file, text)
    const newer = unwritten.get(file)
    const refresh_token = newer?.version === version ? newer.token : settings.refresh_token
    const { token, lifeMs, refreshToken } = await fetchToken(file, { ...settings, refresh_token }, signal)
    const textNow = await readFile(file)
      .then(secretText)
      .catch(() => text) // a write of the token has the error
    if (refreshToken !== undefined && findRefreshToken(textNow) === findRefreshToken(text))
      await storeRefreshToken(file, refreshToken)
    if (textNow !== text) return token // an operator has changed the file: its next token is of the new settings
    tokens.set(file, { token, endsAt: now() + lifeMs, version: await fileVersion(file) })
    return token
  }
  return {
    async read({ user_name: user, password_file, oauth_file }, signal) {
      if (password_file !== null) return { user, pass: await readSecret(password_file) }
      const file = oauth_file ?? ''
      const version = await fileVersion(file)
      const cached = tokens.get(file)
      if (cached && cached.version === version && now() < cached.endsAt - TOKEN_MARGIN_MS)
        return { user, accessToken: cached.token }
      const text = await readSecretFile(file)
      const settings = parseSettings(file, text)
      if (settings.access_token_file !== undefined)
        return { user, accessToken: await readSecret(resolveSecretPath(file, settings.access_token_file)) }
      const renewal = pending.getOrInsertComputed(file, () =>
        renew(file, text, version, signal).finally(() => pending.delete(file)),
      )
      return { user, accessToken: await renewal }
    },
    forget(oauthFile) {
      tokens.delete(oauthFile ?? '')
    },
  }
}

/** Returns why this user cannot replace the refresh token of a file; undefined: nothing prevents it. */
export async function refreshTokenFault(file: string): Promise<string | undefined> {
  if (!/^\s*grant\s*=\s*refresh_token\s*$/m.test(await readSecretFile(file))) return undefined
  const probe = `${file}.check`
  try {
    await writeFile(probe, '', { mode: 0o600 })
    await unlink(probe)
    return undefined
  } catch (error) {
    return `has a refresh token that the server cannot replace (${errorReason(error)}): see cambista manual mail`
  }
}

/** Reads the first line of a file, which is the secret. */
async function readSecret(file: string): Promise<string> {
  const [secret = ''] = (await readSecretFile(file)).split('\n', 1)
  if (secret === '') throw new RoundFailure(`the file of the secret is empty: ${file}`, 'secret')
  return secret
}

async function readSecretFile(file: string): Promise<string> {
  try {
    return secretText(await readFile(file))
  } catch (error) {
    throw new RoundFailure(`the file of the secret cannot be read: ${errorReason(error)}`, 'secret', {
      cause: error,
    })
  }
}

async function fileVersion(file: string): Promise<string> {
  const stats = await stat(file).catch(() => undefined) // the read of the file has the error
  return stats ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : ''
}

type OauthSettings = Partial<Record<(typeof ALL_KEYS)[number], string>>

/** Parses the lines `key=value` of a file. @throws RoundFailure that names the file and the key, and no value */
function parseSettings(file: string, text: string): OauthSettings {
  const settings: OauthSettings = {}
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, key = '', value = ''] = /^\s*([a-z_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (!ALL_KEYS.includes(key)) throw settingsFault(file, `must have lines of ${ALL_KEYS.join(', ')}`)
    settings[key] = value
  }
  if (settings.access_token_file) return settings
  const needed = ['token_url', 'client_id', 'scope', 'grant']
  const missing = needed.find((key) => !settings[key])
  if (missing !== undefined) throw settingsFault(file, `lacks ${missing}`)
  if (!settings.client_secret && !settings.client_secret_file)
    throw settingsFault(file, 'lacks client_secret or client_secret_file')
  if (!GRANTS.includes(settings.grant ?? ''))
    throw settingsFault(file, `must have a grant of ${GRANTS.join(' or ')}`)
  if (settings.grant === 'refresh_token' && !settings.refresh_token)
    throw settingsFault(file, 'lacks refresh_token')
  if (!isSafeUrl(settings.token_url ?? ''))
    throw settingsFault(file, 'must have a token_url that begins with https://')
  return settings
}

function settingsFault(file: string, message: string): RoundFailure {
  return new RoundFailure(`${file} ${message}`, 'secret')
}

/** Plain HTTP reaches this machine alone. */
function isSafeUrl(text: string): boolean {
  const url = URL.parse(text)
  const isLoopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url?.hostname ?? '')
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)
}

function resolveSecretPath(file: string, path: string): string {
  return resolve(dirname(file), path)
}

/** Fetches a token. `refreshToken`: the one that replaces the former. */
async function fetchToken(
  file: string,
  settings: OauthSettings,
  signal: AbortSignal,
): Promise<{ token: string; lifeMs: number; refreshToken: string | undefined }> {
  const { token_url = '', client_id = '', scope = '', grant = '', refresh_token = '' } = settings
  const client_secret =
    settings.client_secret || (await readSecret(resolveSecretPath(file, settings.client_secret_file ?? '')))
  const isRefresh = grant === 'refresh_token'
  const form = {
    ...{ grant_type: grant, client_id, client_secret, scope },
    ...(isRefresh && { refresh_token }),
  }
  const answer = await requestToken(token_url, form, signal)
  return {
    token: answer.access_token,
    lifeMs: (answer.expires_in ?? DEFAULT_LIFE_S) * 1000,
    refreshToken: isRefresh && answer.refresh_token !== refresh_token ? answer.refresh_token : undefined,
  }
}

async function requestToken(
  url: string,
  form: Record<string, string>,
  signal: AbortSignal,
): Promise<v.InferOutput<typeof TokenAnswer>> {
  const response = await createFetch({ fetch: globalThis.fetch })
    .raw(url, {
      method: 'POST',
      body: new URLSearchParams(form),
      ...{ retry: false, redirect: 'manual', ignoreResponseError: true, responseType: 'text' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]), // until the end of the body
    })
    .catch((error: unknown) => {
      signal.throwIfAborted()
      throw new RoundFailure(`the token server cannot be reached (${networkReason(error)})`, 'token_server', {
        cause: error,
      })
    })
  const body = parseJson(String(response._data ?? ''))
  if (response.status !== 200) {
    const error = v.safeParse(v.object({ error: v.pipe(v.string(), v.regex(/^\w{1,40}$/)) }), body)
    const name = error.success ? ` ${error.output.error}` : ''
    const code = response.status >= 400 && response.status < 500 ? 'token_refused' : 'token_server'
    throw new RoundFailure(`the token server answered ${response.status}${name}`, code)
  }
  const answer = v.safeParse(TokenAnswer, body)
  if (!answer.success)
    throw new RoundFailure('the token server answered without an access_token', 'token_server')
  return answer.output
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // an answer that is no JSON has no fields
  }
}

function findRefreshToken(text: string): string | undefined {
  return /^\s*refresh_token\s*=\s*(.*?)\s*$/m.exec(text)?.[1]
}

/** Replaces the refresh token in the file, by a rename, so that a crash leaves one of both files. */
async function replaceRefreshToken(file: string, token: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  const temporary = `${file}.new`
  const { mode, uid, gid } = await stat(file)
  const content = text.replace(/^(\s*refresh_token\s*=\s*).*$/m, (_, start: string) => start + token)
  try {
    await writeFile(temporary, content, { mode: mode & 0o777, flush: true })
    await chown(temporary, uid, gid).catch(() => {}) // only root may; the server reads its own file too
    await rename(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => {}) // best effort
    throw error
  }
}
