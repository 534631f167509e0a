// Sign-in with the secret of a key or token, or with the code of a one-time link.

import type { H3Event } from 'h3'
import { findLoginLink, type LoginLink, useLogin } from '../../domain/access/login-links.ts'
import { hashOfSecret } from '../../domain/access/secrets.ts'
import { AppError } from '../../runtime/errors.ts'
import { findCompany } from '../../store/directory/companies.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import type { ApiKey, Keyring, SessionCredentials } from '../access/auth.ts'
import type { SecretHashes } from '../access/sessions.ts'

type Logins = {
  /** Returns the hash of a valid secret. @throws AppError `unauthorized`, or `forbidden` for a key made for URLs */
  checkSecret(event: H3Event, secret: string): Promise<Partial<SecretHashes>>
  /** Uses a code up and returns its person and the hashes of its key and token. @throws AppError `unauthorized` */
  use(event: H3Event, code: string): Promise<SecretHashes & { person: string | undefined }>
  /** Returns key, token, company and end of a code, without using it up. @throws AppError `unauthorized` */
  show(
    code: string,
  ): Promise<SessionCredentials & { company: { id: number; name: string } | null; endsAt: string }>
}

const WRONG = 'This key or token is unknown, revoked or expired'
const WRONG_CODE = 'This link was used, has expired, or never was: ask for a new one'
const GONE = 'What this link signs in with has been revoked or has expired'

export function createLogins(deps: { db: WriteDb; reads: ReadDb; keyring: Keyring; clock: Clock }): Logins {
  const { db, reads, keyring, clock } = deps
  /** Returns the hashes of key and token of a link. Both must be valid, for the user confirmed both. */
  const findHashes = async ({ keyId, tokenId }: LoginLink): Promise<SecretHashes> => {
    await keyring.refresh() // memory may lack recent changes
    const key = keyId === undefined ? undefined : keyring.currentHash('key', keyId)
    const token = tokenId === undefined ? undefined : keyring.currentHash('token', tokenId)
    const isWhole =
      (key === undefined) === (keyId === undefined) && (token === undefined) === (tokenId === undefined)
    if (!isWhole) throw new AppError('unauthorized', GONE)
    return { key, token }
  }
  const findCredentials = ({ key, token }: SecretHashes) => {
    const credentials = { key: keyring.findKeyByHash(key), token: keyring.findTokenByHash(token) }
    if (credentials.key) checkKeyKind(credentials.key)
    return credentials
  }
  const requireLink = async (code: string): Promise<LoginLink> => {
    const link = await findLoginLink(reads, code, clock)
    if (!link) throw new AppError('unauthorized', WRONG_CODE)
    return link
  }
  return {
    async checkSecret(event, secret) {
      try {
        if (secret.startsWith('cbt_')) {
          event.context.token = await keyring.withLookUp(() => keyring.checkToken(`Bearer ${secret}`))
          return { token: hashOfSecret(secret) }
        }
        const key = await keyring.withLookUp(() => keyring.checkKey(secret))
        checkKeyKind(key)
        event.context.key = key
        return { key: hashOfSecret(secret) }
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'unauthorized') throw error
        throw new AppError('unauthorized', WRONG)
      }
    },
    async use(event, code) {
      const link = await requireLink(code)
      const { person } = link
      const hashes = await findHashes(link)
      const { key, token } = findCredentials(hashes)
      const by = [
        ...(key ? [{ via: 'key', actor: key.name, person } as const] : []),
        ...(token ? [{ via: 'token', actor: token.name, person } as const] : []),
      ]
      if (!(await useLogin(db, code, by, clock))) throw new AppError('unauthorized', WRONG_CODE)
      if (key) event.context.key = key
      if (token) event.context.token = token
      return { ...hashes, person }
    },
    async show(code) {
      const { person, endsAt, ...link } = await requireLink(code)
      const credentials = findCredentials(await findHashes({ ...link, endsAt }))
      const id = credentials.token?.company_id ?? null
      const company = id === null ? undefined : await findCompany(reads, id)
      return {
        ...credentials,
        person,
        endsAt,
        company: company ? { id: company.id, name: company.name } : null,
      }
    },
  }
}

/** @throws AppError `unauthorized` for a token of the bank, `forbidden` for a key made for URLs, which others log */
function checkKeyKind({ kind }: ApiKey): void {
  if (kind === 'bank') throw new AppError('unauthorized', WRONG)
  if (kind === 'header') return
  const why = 'it ends in the logs of other programs, and opens less'
  throw new AppError('forbidden', `This key was made for URLs (${why}): sign in with another`)
}
