// A network between a node and PostgreSQL that fails on purpose: it understands enough of the protocol to see each
// statement, and can cut a connection before or after it, or answer in the server's place.

import { mkdtempSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** What becomes of a statement: `conflict` is answered with 40001; of `lose` the server has it, and its answer is cut off. */
export type Fate = 'pass' | 'conflict' | 'cut' | 'lose'

type Judge = (text: string, connection: number) => Fate

export type Proxy = {
  url: string
  /** Sees each statement, from now on, and the number of its connection. */
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
  let dropped = false // until the Sync of what was answered in the server's place
  let parsed = false
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
      // A simple query, or one that is parsed and bound, or bound to a statement that was parsed before.
      const begins = kind === 'Q' || kind === 'P' || (kind === 'B' && !parsed)
      parsed = kind === 'P' || (parsed && kind !== 'S')
      const fate = begins ? judge(textOf(kind, message)) : 'pass'
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

function textOf(kind: string, message: Buffer): string {
  const [first = '', second = ''] = message.subarray(5).toString('latin1').split('\0')
  return kind === 'P' ? second : first
}

const CONFLICT = Buffer.concat([
  framed('E', 'SERROR\0VERROR\0C40001\0Mcould not serialize access\0\0'),
  framed('Z', 'E'),
])

function framed(kind: string, body: string): Buffer {
  const frame = Buffer.alloc(5 + body.length)
  frame.write(kind, 0, 'latin1')
  frame.writeUInt32BE(4 + body.length, 1)
  frame.write(body, 5, 'latin1')
  return frame
}
