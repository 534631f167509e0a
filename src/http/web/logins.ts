// What a browser signs in with: the secret of a key or token that its user types, or the code of a one-time link, which
// opens what the link was made for.

import type { H3Event } from 'h3'
import type { Clock } from '../../dates.ts'
import { type LoginTarget, targetOfLogin, useLogin } from '../../domain/login-links.ts'
import { hashOfSecret } from '../../domain/secrets.ts'
import { AppError } from '../../errors.ts'
import { findCompany } from '../../store/directory/companies.ts'
import type { Db } from '../../store/tables.ts'
import type { ApiKey, Keyring, SessionHolds } from '../api/auth.ts'
import type { Opened } from './sessions.ts'

export type Logins = {
  /** What a secret opens. @throws AppError `unauthorized`, or `forbidden` for a key that ends in logs */
  of(event: H3Event, secret: string): Promise<Partial<Opened>>
  /** What a code opens, which is used up. @throws AppError `unauthorized` */
  use(event: H3Event, code: string): Promise<Partial<Opened>>
  /** What a code would open, and for which company. @throws AppError `unauthorized` */
  show(code: string): Promise<SessionHolds & { company: { id: number; name: string } | null }>
}

const WRONG = 'This key or token is unknown, revoked or expired'
const WRONG_CODE = 'This link was used, is older than five minutes, or never was: ask for a new one'
const GONE = 'What this link signs in with has been revoked or has expired'

export function createLogins(deps: { db: Db; writes: Db; keyring: Keyring; clock: Clock }): Logins {
  const { db, writes, keyring, clock } = deps
  /** The hashes of what a link is for. All of it must be let in: the user was asked about the whole. */
  const openedBy = async ({ keyId, tokenId }: LoginTarget): Promise<Opened> => {
    await keyring.refresh() // neither what was revoked a moment ago nor what was made then is in memory as it is
    const key = keyId === undefined ? undefined : keyring.hashOf('key', keyId)
    const token = tokenId === undefined ? undefined : keyring.hashOf('token', tokenId)
    const isWhole =
      (key === undefined) === (keyId === undefined) && (token === undefined) === (tokenId === undefined)
    if (!isWhole) throw new AppError('unauthorized', GONE)
    return { key, token }
  }
  const holdsOf = ({ key, token }: Opened): SessionHolds => {
    const holds = { key: keyring.keyOfHash(key), token: keyring.tokenOfHash(token) }
    if (holds.key) checkSignsIn(holds.key)
    return holds
  }
  const targetOf = async (code: string): Promise<LoginTarget> => {
    const target = await targetOfLogin(db, code, clock)
    if (!target) throw new AppError('unauthorized', WRONG_CODE)
    return target
  }
  return {
    async of(event, secret) {
      try {
        if (secret.startsWith('cbt_')) {
          event.context.token = await keyring.withLookUp(() => keyring.checkToken(`Bearer ${secret}`))
          return { token: hashOfSecret(secret) }
        }
        const key = await keyring.withLookUp(() => keyring.checkKey(secret))
        checkSignsIn(key)
        event.context.key = key.name
        return { key: hashOfSecret(secret) }
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'unauthorized') throw error
        throw new AppError('unauthorized', WRONG)
      }
    },
    async use(event, code) {
      const opened = await openedBy(await targetOf(code))
      const { key, token } = holdsOf(opened)
      const by = [
        ...(key ? [{ via: 'key', actor: key.name } as const] : []),
        ...(token ? [{ via: 'token', actor: token.name } as const] : []),
      ]
      if (!(await useLogin(writes, code, by, clock))) throw new AppError('unauthorized', WRONG_CODE)
      if (key) event.context.key = key.name
      if (token) event.context.token = token
      return opened
    },
    async show(code) {
      const holds = holdsOf(await openedBy(await targetOf(code)))
      const id = holds.token?.company_id ?? null
      const company = id === null ? undefined : await findCompany(db, id)
      return { ...holds, company: company ? { id: company.id, name: company.name } : null }
    },
  }
}

/** @throws AppError `unauthorized` for a token of the bank, `forbidden` for a key that ends in the logs of others */
function checkSignsIn({ kind }: ApiKey): void {
  if (kind === 'bank') throw new AppError('unauthorized', WRONG)
  if (kind === 'header') return
  const why = 'it ends in the logs of other programs, and opens less'
  throw new AppError('forbidden', `This key was made for URLs (${why}): sign in with another`)
}
