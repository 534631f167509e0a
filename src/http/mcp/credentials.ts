// Authenticates clients by a key, a token or both, in Authorization or X-API-Key. With both, a client may use the tools
// of each, and one wrong secret rejects the request. Keys for URLs and for the bank's old service are rejected.

import type { H3Event } from 'h3'
import { AppError } from '../../runtime/errors.ts'
import { type AuthorizedToken, type Keyring, ONLY_RATES } from '../access/auth.ts'
import type { Credentials } from '../endpoint/api.ts'

/** Validated credentials of a client. */
type AuthenticatedClient = { hasKey: boolean; token: AuthorizedToken | undefined }

const NOTHING =
  'Send a key (cbk_…) for rates, a token (cbt_…) for documents, or both, in Authorization: Bearer … and X-API-Key: …'
const WRONG = 'This key or token is unknown, revoked or expired'
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

export function mcpCredentials(keyring: Keyring): Credentials {
  return {
    permissions: ['key-or-token'],
    async check(event) {
      event.context.client = await authenticateClient(event, keyring)
    },
    name: 'mcp',
    scheme: { type: 'http', scheme: 'bearer', description: 'A key opens the rates, a token the documents.' },
    refusals: { 401: 'Missing, invalid or expired key or token' },
  }
}

/** Client of a request that `mcpCredentials` accepted. */
export function requestClient(event: H3Event): AuthenticatedClient {
  return event.context.client as AuthenticatedClient
}

/** @throws AppError `unauthorized` */
export async function authenticateClient(event: H3Event, keyring: Keyring): Promise<AuthenticatedClient> {
  const secrets = requestSecrets(event)
  return keyring.withLookUp(() => {
    const client: AuthenticatedClient = { hasKey: false, token: undefined }
    for (const secret of secrets) {
      if (secret.startsWith('cbt_')) {
        client.token = keyring.checkToken(`Bearer ${secret}`)
        event.context.token = client.token
        continue
      }
      const key = keyring.checkKey(secret, WRONG)
      if (key.kind === 'bank') throw new AppError('unauthorized', WRONG)
      if (key.kind === 'url') throw new AppError('unauthorized', ONLY_RATES)
      client.hasKey = true
      event.context.key = key
    }
    return client
  })
}

function requestSecrets({ req: { headers } }: H3Event): string[] {
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
