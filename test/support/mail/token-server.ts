// A server of access tokens: the grants `client_credentials` and `refresh_token`, and the introspection that dovecot
// calls. Each refresh token is valid once.

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { USER } from './dovecot.ts'

export const CLIENT = { id: 'cliente-de-prueba', secret: 'secreto-de-cliente-9182' }

export type TokenServer = {
  tokenUrl: string
  introspectionUrl: string
  /** Fields of each request for a token. */
  requests: Record<string, string>[]
  /** The refresh token that is valid now. */
  refreshToken(): string
  /** Makes every access token that was issued invalid. */
  revoke(): void
}

/** Starts a server that ends with the test. `lifeS`: seconds for which an access token is valid. */
export async function startTokenServer(
  t: Pick<TestContext, 'after'>,
  { lifeS = 3600 }: { lifeS?: number } = {},
): Promise<TokenServer> {
  const requests: Record<string, string>[] = []
  const valid = new Set<string>()
  let issued = 0
  let refreshToken = 'refresco-0'
  const issue = (form: Record<string, string>): [number, object] => {
    if (form.client_id !== CLIENT.id || form.client_secret !== CLIENT.secret)
      return [401, { error: 'invalid_client', error_description: `no client ${form.client_id}` }]
    if (form.grant_type === 'refresh_token' && form.refresh_token !== refreshToken)
      return [400, { error: 'invalid_grant' }]
    const token = `ficha-de-acceso-${++issued}`
    valid.add(token)
    const answer = { access_token: token, expires_in: lifeS, token_type: 'Bearer' }
    if (form.grant_type !== 'refresh_token') return [200, answer]
    refreshToken = `refresco-${issued}`
    return [200, { ...answer, refresh_token: refreshToken }]
  }
  const server = createServer(async (request, response) => {
    const form = await readForm(request)
    const isToken = request.url === '/token'
    if (isToken) requests.push(form)
    const [status, answer] = isToken
      ? issue(form)
      : [200, { active: valid.has(form.token ?? ''), username: USER }]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    tokenUrl: `${url}/token`,
    introspectionUrl: `${url}/introspect`,
    requests,
    refreshToken: () => refreshToken,
    revoke: () => valid.clear(),
  }
}

async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  const text = (await Array.fromAsync(request)).join('')
  return Object.fromEntries(new URLSearchParams(text))
}
