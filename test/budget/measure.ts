// Counts what the kinds of requests cost, in processes of their own.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Kind, listKinds } from './kinds.ts'
import type { ServerFacts } from './server.ts'

/** Counts by name; of a slice, or of one request. */
export type Counts = Record<string, number>
/** `calls`: function calls and allocated bytes. `work`: flushes, trips through the thread pool, statements, pages. */
export type Mode = 'calls' | 'work'

const SLICES = 3
const REQUESTS = { calls: { read: 400, write: 120 }, work: { read: 0, write: 30 } }
const WARM_UP = { calls: 100, work: 5 }
/** The server begins its work beside the first kinds, so requests that are not counted come before them. */
const EARLY = { kinds: 5, requests: 500 }

/** Measures each kind; the least of three slices, for each request. */
export async function measureKinds(mode: Mode): Promise<Map<string, Counts>> {
  // When V8's other threads are late, more code runs without its optimizations, and allocates more.
  const execArgv = ['--single-threaded']
  const child = fork(join(import.meta.dirname, 'server.ts'), [mode], { execArgv })
  try {
    const [facts] = (await once(child, 'message')) as [ServerFacts]
    const kinds = await listKinds(facts)
    const connection = await openConnection(facts.url) // last, as a connection without a request is closed after 15 s
    const figures = new Map<string, Counts>()
    const early = mode === 'calls' ? kinds.slice(0, EARLY.kinds) : []
    for (const kind of early) await sendRequests(connection, kind, 0, EARLY.requests)
    for (const kind of kinds) {
      const requests = REQUESTS[mode][kind.isWrite ? 'write' : 'read']
      const first = early.includes(kind) ? EARLY.requests : 0
      if (requests > 0)
        figures.set(kind.name, await measureKind(child, connection, kind, { mode, first, requests }))
    }
    connection.socket.destroy()
    return figures
  } finally {
    child.kill('SIGKILL')
  }
}

async function measureKind(
  child: ChildProcess,
  connection: Connection,
  kind: Kind,
  { mode, first, requests }: { mode: Mode; first: number; requests: number },
): Promise<Counts> {
  let next = first
  const send = async (count: number) => {
    await sendRequests(connection, kind, next, count)
    next += count
  }
  await send(Math.min(WARM_UP[mode], requests))
  const least: Counts = {}
  for (let slice = 0; slice < SLICES; slice++) {
    await ask(child, 'start')
    await send(requests)
    for (const [name, count] of Object.entries(await ask(child, 'read')))
      least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, count / requests)
  }
  return least
}

/** Sends requests with numbers from `first` on. */
async function sendRequests(connection: Connection, kind: Kind, first: number, count: number): Promise<void> {
  for (let at = first; at < first + count; at++) {
    const { status, body } = await connection.send(kind.request(at))
    if (status !== kind.status) throw new Error(`${kind.name} was answered with ${status}: ${body}`)
    kind.read?.(body)
  }
}

async function ask(child: ChildProcess, order: 'start' | 'read'): Promise<Counts> {
  child.send(order)
  const [counts] = (await once(child, 'message')) as [Counts]
  return counts
}

type Connection = { socket: Socket; send(request: Buffer): Promise<{ status: number; body: string }> }

/** Opens a connection with one request at a time. */
async function openConnection(url: string): Promise<Connection> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const end = once(socket, 'close').then(() => {
    throw new Error('the server closed the connection')
  })
  end.catch(() => undefined) // a connection closes at the end, too
  return {
    socket,
    async send(request) {
      socket.write(request)
      let received: Buffer = Buffer.alloc(0)
      for (;;) {
        const [piece] = (await Promise.race([once(socket, 'data'), end])) as [Buffer]
        received = received.length === 0 ? piece : Buffer.concat([received, piece])
        const headEnd = received.indexOf('\r\n\r\n')
        if (headEnd < 0) continue
        const head = received.toString('latin1', 0, headEnd)
        const status = Number(head.slice(9, 12))
        const length = status === 304 ? 0 : Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
        if (received.length < headEnd + 4 + length) continue
        return { status, body: received.toString('utf8', headEnd + 4) }
      }
    },
  }
}
