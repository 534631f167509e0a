// A proxy between a node and PostgreSQL that fails on demand. Parses the protocol up to each statement. Cuts a
// connection before or after a statement, or answers instead of the server.

import { mkdtempSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Fate of a statement: `conflict` is answered with 40001; `lose` reaches the server, and its answer is cut off. */
export type Fate = 'pass' | 'conflict' | 'cut' | 'lose'

type Judge = (text: string, connection: number) => Fate

export type Proxy = {
  url: string
  /** Sets the judge of each later statement; it receives the number of the connection. */
  decide(judge: Judge): void
}

const SOCKET = '.s.PGSQL.5432'

export async function startProxy(t: TestContext, server: string): Promise<Proxy> {
  const to = new URL(server.replace('@/', '@localhost/')).searchParams.get('host') ?? ''
  const dir = mkdtempSync(join(tmpdir(), 'cambista-proxy-'))
  let judge: Judge = () => 'pass'
  let connections = 0
  const listener = createServer((client) => {
    const connection = ++connections
    relay(client, connect(join(to, SOCKET)), (text) => judge(text, connection))
  })
  listener.listen(join(dir, SOCKET))
  t.after(() => listener.close())
  return {
    url: server.replace(to, dir),
    decide(next) {
      judge = next
    },
  }
}

function relay(client: Socket, server: Socket, judge: (text: string) => Fate): void {
  const end = () => {
    client.destroy()
    server.destroy()
  }
  for (const socket of [client, server]) socket.on('error', end).on('close', end)
  let pending = Buffer.alloc(0)
  let began = false
  let dropped = false // until the Sync after a conflict that the proxy answered
  let isParsed = false
  let losing = false
  server.on('data', (chunk) => (losing ? end() : client.write(chunk)))
  client.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    while (true) {
      const head = began ? 1 : 0
      if (pending.length < head + 4) return
      const length = head + pending.readUInt32BE(head)
      if (pending.length < length) return
      const message = pending.subarray(0, length)
      pending = pending.subarray(length)
      const kind = began ? String.fromCharCode(message[0] ?? 0) : ''
      began = true
      if (dropped) {
        if (kind !== 'S') continue
        dropped = false
        client.write(CONFLICT)
        continue
      }
      // A simple query, or a Parse, or a Bind of a statement that was parsed before.
      const begins = kind === 'Q' || kind === 'P' || (kind === 'B' && !isParsed)
      isParsed = kind === 'P' || (isParsed && kind !== 'S')
      const fate = begins ? judge(statementText(kind, message)) : 'pass'
      if (fate === 'cut') return end()
      if (fate === 'conflict' && kind === 'Q') client.write(CONFLICT)
      else if (fate === 'conflict') dropped = true
      else {
        if (fate === 'lose') losing = true
        server.write(message)
      }
    }
  })
}

function statementText(kind: string, message: Buffer): string {
  const [first = '', second = ''] = message.subarray(5).toString('latin1').split('\0')
  return kind === 'P' ? second : first
}

const CONFLICT = Buffer.concat([
  encodeMessage('E', 'SERROR\0VERROR\0C40001\0Mcould not serialize access\0\0'),
  encodeMessage('Z', 'E'),
])

function encodeMessage(kind: string, body: string): Buffer {
  const frame = Buffer.alloc(5 + body.length)
  frame.write(kind, 0, 'latin1')
  frame.writeUInt32BE(4 + body.length, 1)
  frame.write(body, 5, 'latin1')
  return frame
}
