// A proxy of HTTP on loopback: it forwards plain requests and opens tunnels. Its hosts are in no name server, so only the
// proxy reaches them.

import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export type ForwardProxy = {
  /** Its URL, and that with user and password. */
  url: string
  urlWithPassword: string
  /** Host and port of each request. */
  requests: string[]
  /** Status of its answers in place of those of the hosts; 0: it closes the connection; undefined: it works. */
  status: number | 'silent' | undefined
}

const PASSWORD = 'contraseña de ana'

/** Starts a proxy. `hosts`: ports on loopback by host and port, such as `bank.test:443`. `requiresPassword`: else 407. */
export async function startForwardProxy(
  t: Pick<TestContext, 'after'>,
  hosts: Readonly<Record<string, number>>,
  { requiresPassword = false }: { requiresPassword?: boolean } = {},
): Promise<ForwardProxy> {
  const proxy: ForwardProxy = { url: '', urlWithPassword: '', requests: [], status: undefined }
  const credentials = `Basic ${Buffer.from(`ana:${PASSWORD}`).toString('base64')}`
  const failure = ({ headers }: IncomingMessage, target: string) => {
    proxy.requests.push(target)
    if (requiresPassword && headers['proxy-authorization'] !== credentials) return 407
    return proxy.status ?? (hosts[target] === undefined ? 502 : undefined)
  }
  const server = createServer((request, response) => {
    const { hostname, port, pathname, search } = new URL(request.url ?? '')
    const target = `${hostname}:${port || 80}`
    const status = failure(request, target)
    if (status === 'silent') return
    if (status === 0) return void response.destroy()
    if (status) return void response.writeHead(status).end('<h1>the proxy has no answer</h1>')
    const { 'proxy-authorization': _, ...headers } = request.headers
    const options = { port: hosts[target], path: pathname + search, method: request.method, headers }
    const forwarded = httpRequest({ host: '127.0.0.1', agent: false, ...options }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {})
    const target = request.url ?? ''
    const status = failure(request, target)
    if (status === 'silent') return
    if (status === 0) return void socket.end()
    if (status) return void socket.end(`HTTP/1.1 ${status} no tunnel\r\ncontent-length: 0\r\n\r\n`)
    const host = connect(hosts[target] ?? 0, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      host.write(head)
      host.pipe(socket).pipe(host)
    })
    host.on('error', () => socket.destroy())
    socket.on('close', () => host.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  proxy.url = `http://127.0.0.1:${port}`
  proxy.urlWithPassword = `http://ana:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return proxy
}
