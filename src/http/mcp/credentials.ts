// Who asks: a key, a token, or both, in either of the headers in which secrets are sent. Together they open what each of
// them opens, and one that is wrong refuses all. A key that was made for URLs, or for the bank's old service, opens nothing.

import type { H3Event } from 'h3'
import { AppError } from '../../errors.ts'
import type { Credentials } from '../api/api.ts'
import { type AuthorizedToken, type Keyring, ONLY_RATES } from '../api/auth.ts'

/** What a client may use. */
export type Holder = { hasKey: boolean; token: AuthorizedToken | undefined }

const NOTHING =
  'Send a key (cbk_…) for rates, a token (cbt_…) for documents, or both, in Authorization: Bearer … and X-API-Key: …'
const WRONG = 'This key or token is unknown, revoked or expired'
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

export function mcpCredentials(keyring: Keyring): Credentials {
  return {
    async check(event) {
      event.context.holder = await holderOf(event, keyring)
    },
    name: 'mcp',
    scheme: { type: 'http', scheme: 'bearer', description: 'A key opens the rates, a token the documents.' },
    refusals: { 401: 'Missing, invalid or expired key or token' },
  }
}

/** What `mcpCredentials` found. */
export function heldBy(event: H3Event): Holder {
  return event.context.holder as Holder
}

/** @throws AppError `unauthorized` */
export async function holderOf(event: H3Event, keyring: Keyring): Promise<Holder> {
  const secrets = secretsOf(event)
  return keyring.withLookUp(() => {
    const holder: Holder = { hasKey: false, token: undefined }
    for (const secret of secrets) {
      if (secret.startsWith('cbt_')) {
        holder.token = keyring.checkToken(`Bearer ${secret}`)
        event.context.token = holder.token
        continue
      }
      const { kind, name } = keyring.checkKey(secret)
      if (kind === 'bank') throw new AppError('unauthorized', WRONG)
      if (kind === 'url') throw new AppError('unauthorized', ONLY_RATES)
      holder.hasKey = true
      event.context.key = name
    }
    return holder
  })
}

function secretsOf({ req: { headers } }: H3Event): string[] {
  const key = headers.get('x-api-key')
  const authorization = headers.get('authorization')
  const [, bearer] = BEARER.exec(authorization ?? '') ?? []
  if (authorization !== null && bearer === undefined) {
    throw new AppError('unauthorized', 'Invalid Authorization header format: send Bearer and a key or token')
  }
  const secrets = [key, bearer].filter((one) => one !== null && one !== undefined)
  if (secrets.length === 0) throw new AppError('unauthorized', NOTHING)
  return secrets
}
