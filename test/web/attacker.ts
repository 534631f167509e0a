// What attacks a page from outside: a website of another origin that counts what reaches it, and proxies before the app.

import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { after } from 'node:test'
import { selfSigned } from '../../src/cli/commands/certificates/certificate.ts'

/** A name that a browser started with `RESOLVED` finds on this machine, as after an attack on its DNS. */
export const EVIL = 'evil.example'
export const RESOLVED = `--host-resolver-rules=MAP ${EVIL} 127.0.0.1, MAP rates.example 127.0.0.1`

export type Website = {
  port: number
  /** What was asked of it, as `path` and the cookies that came along. */
  asked: { path: string; cookie: string }[]
}

/** A website until the tests of the file are done, with an empty page for every path. */
export async function openWebsite(): Promise<Website> {
  const asked: Website['asked'] = []
  const port = await listen(
    createServer(({ url = '', headers }, response) => {
      asked.push({ path: url, cookie: headers.cookie ?? '' })
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>attacker</title>')
    }),
  )
  return { port, asked }
}

/** A proxy before the app. @param says the headers that it adds, as a proxy for its clients' scheme and addresses does */
export async function openProxy(
  to: string,
  says: (incoming: IncomingMessage) => Record<string, string>,
  isTls = false,
): Promise<number> {
  const forward: RequestListener = (incoming, response) => {
    const { method, headers, url: path = '/' } = incoming
    const onward = request(to + path, { method, headers: { ...headers, ...says(incoming) } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    incoming.pipe(onward)
  }
  const HOUR = 3_600_000
  const validity = { from: new Date(Date.now() - HOUR), to: new Date(Date.now() + HOUR) }
  const server = isTls
    ? createSecureServer(selfSigned(['rates.example', '127.0.0.1'], validity).pem, forward)
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
