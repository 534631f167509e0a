// Source of rates on this machine, whose answers a test chooses.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export type Reply = { status?: number; headers?: Record<string, string>; body: string | Buffer }

/** `cut`: half of a text, then the connection ends; `echo`: the request; `reset`: it ends at once; `hang`: no answer. */
export type Manner = Reply | { cut: string } | { echo: number } | 'reset' | 'hang'

export type Seen = { method: string; path: string; userAgent: string; headers: string; body: string }

export type FaultySource = { url: string; seen: Seen[]; manner: Manner }

/** `signOn` returns the answer of a sign-on path, whatever the manner. */
export async function startFaultySource(
  t: TestContext,
  manner: Manner,
  signOn: (path: string) => string | undefined = () => undefined,
): Promise<FaultySource> {
  const source: FaultySource = { url: '', seen: [], manner }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const signOnAnswer = signOn(path)
    if (signOnAnswer !== undefined) return void response.end(signOnAnswer)
    const userAgent = request.headers['user-agent'] ?? ''
    const { method = '' } = request
    const entry: Seen = { method, path, userAgent, headers: JSON.stringify(request.headers), body: '' }
    source.seen.push(entry)
    request.setEncoding('utf8').on('data', (text: string) => {
      entry.body += text
    })
    const { manner } = source
    if (manner === 'hang') return
    if (manner === 'reset') return void response.destroy()
    if ('cut' in manner) {
      response.writeHead(200, { 'Content-Length': manner.cut.length })
      return void response.write(manner.cut.slice(0, manner.cut.length / 2), () => response.destroy())
    }
    if ('echo' in manner) {
      response.statusCode = manner.echo
      return void response.end(`you sent ${path} ${Object.values(request.headers).join(' ')}`)
    }
    response.writeHead(manner.status ?? 200, manner.headers)
    response.end(manner.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  source.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return source
}
