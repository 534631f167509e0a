// Attackers of the page: a website of another origin that records requests, and proxies before the app.

import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { after } from 'node:test'
import { createSelfSigned } from '../../../src/cli/commands/certificates/certificate.ts'

/** Host name that `DNS_FLAG` resolves to this machine, as after DNS rebinding. */
export const EVIL = 'evil.example'
export const DNS_FLAG = `--host-resolver-rules=MAP ${EVIL} 127.0.0.1, MAP rates.example 127.0.0.1`

export type Website = {
  port: number
  /** Requests, with their cookies. */
  requests: { path: string; cookie: string }[]
}

/** Starts a website for a file of tests, with an empty page at every path. */
export async function openWebsite(): Promise<Website> {
  const requests: Website['requests'] = []
  const port = await listen(
    createServer(({ url = '', headers }, response) => {
      requests.push({ path: url, cookie: headers.cookie ?? '' })
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>attacker</title>')
    }),
  )
  return { port, requests }
}

/** Starts a proxy before the app. @param addHeaders returns the forwarding headers of a request */
export async function openProxy(
  target: string,
  addHeaders: (incoming: IncomingMessage) => Record<string, string>,
  isTls = false,
): Promise<number> {
  const forward: RequestListener = (incoming, response) => {
    const { method, headers, url: path = '/' } = incoming
    const outgoing = request(
      target + path,
      { method, headers: { ...headers, ...addHeaders(incoming) } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
        answer.pipe(response)
      },
    )
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  }
  const HOUR = 3_600_000
  const validity = { from: new Date(Date.now() - HOUR), to: new Date(Date.now() + HOUR) }
  const server = isTls
    ? createSecureServer(createSelfSigned(['rates.example', '127.0.0.1'], validity).pem, forward)
    : createServer(forward)
  return listen(server)
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as { port: number }).port
}
