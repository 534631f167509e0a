// A bank that attacks its clients: it does one evil thing for every request.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'

export type Evil = (response: ServerResponse, request: IncomingMessage) => void

export type HostileBank = { url: string; asked: IncomingMessage[]; evil: Evil }

/** Starts one. Its website accepts every sign-in, so that its tables are reached too. */
export async function startHostileBank(t: TestContext): Promise<HostileBank> {
  const bank: HostileBank = { url: '', asked: [], evil: (response) => response.end() }
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    bank.asked.push(request)
    if (request.url?.includes('GenereCSRF')) return void response.end('csrf-token-of-the-site')
    bank.evil(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  bank.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/SDDE/api`
  return bank
}

/** Starts a server whose bytes are neither TLS nor HTTP, and returns its port. */
export async function startGarbage(t: TestContext): Promise<number> {
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined)
    socket.end(Buffer.alloc(4096, 0xa5))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Answers with this body. */
export function says(body: string | Buffer, headers: Record<string, string> = {}, status = 200): Evil {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body)
  }
}

/** Repeats the same bytes until `total`, or until the client closes. */
export function pours(chunk: Buffer, total: number, headers: Record<string, string> = {}): Evil {
  return (response) => {
    response.writeHead(200, headers)
    let remaining = total
    const more = () => {
      while (remaining > 0 && !response.destroyed) {
        remaining -= chunk.byteLength
        if (!response.write(chunk)) return
      }
      response.end()
    }
    response.on('drain', more)
    more()
  }
}

/** Compresses megabytes of spaces into a few kilobytes. */
export function bomb(megabytes: number): Buffer {
  return gzipSync(Buffer.alloc(megabytes * 2 ** 20, ' '))
}

/** Sends single bytes at intervals, without an end. */
export function drips(everyMs: number): Evil {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), everyMs)
    response.on('close', () => clearInterval(timer))
  }
}
