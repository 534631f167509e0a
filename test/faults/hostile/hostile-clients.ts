// Hostile clients in a process of their own: node hostile-clients.ts '{"url":…}'. The process ends with its stdin, and
// prints the counts of answers by kind and status.

import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export type Hostile = {
  url: string
  token: string
  key: string
  /** Paths of a large document and of a large history. */
  large: { document: string; history: string }
  /** Connections to open of each kind; the clients never close them. */
  perKind: number
  kinds: readonly Kind[]
  /** Connections to open and drop, instead of `kinds`. */
  flood?: number
}

/** Count of each status; `cut` counts connections that closed without an answer. */
export type StatusCounts = Record<string, Record<string, number>>

type Attack = (socket: Socket, order: Hostile) => void

const HALF_HEADERS = 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: '
const DRIP_MS = 1000
const AT_ONCE = 100
const RAMP_MS = 100 // 1000 connections a second, so that the processor can accept them all

export type Kind = keyof typeof KINDS

const KINDS = {
  'slow headers'(socket: Socket) {
    socket.write(HALF_HEADERS)
    drip(socket)
  },
  'slow bodies'(socket: Socket, order: Hostile) {
    socket.write(upload(order))
    drip(socket)
  },
  'deaf to a document'(socket: Socket, { large, token }: Hostile) {
    socket.write(`GET ${large.document} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    socket.pause()
  },
  'deaf to histories'(socket: Socket, { large, key }: Hostile) {
    socket.write(`GET ${large.history} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`)
    socket.pause()
  },
  'half closed'(socket: Socket, order: Hostile) {
    socket.end(upload(order))
  },
  silent: () => {},
  idle(socket: Socket) {
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
  },
}

const DROPS: Attack[] = [
  (socket) => socket.destroy(),
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.write(HALF_HEADERS, () => socket.destroy()),
  (socket, order) => socket.write(upload(order), () => socket.resetAndDestroy()),
  (socket) => socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n', () => socket.resetAndDestroy()),
  (socket, { large, token }) =>
    socket.write(`GET ${large.document} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`, () =>
      socket.destroy(),
    ),
]

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '') as Hostile)

async function main(order: Hostile): Promise<void> {
  const counts = order.flood ? await flood(order, order.flood) : await openAll(order)
  process.stdout.write(`${JSON.stringify(counts)}\n`)
  process.exit()
}

/** Opens all connections and leaves them open until stdin ends. */
async function openAll(order: Hostile): Promise<StatusCounts> {
  const counts: StatusCounts = {}
  let socketCount = 0
  for (let at = 0; at < order.perKind; at += 1) {
    for (const kind of order.kinds) {
      const attack: Attack = KINDS[kind]
      const countOutcome = (outcome: string) => {
        counts[kind] = { ...counts[kind], [outcome]: (counts[kind]?.[outcome] ?? 0) + 1 }
      }
      const socket = dial(order)
      let answered = false
      socket.on('data', (bytes: Buffer) => {
        answered = true
        for (const [, status = ''] of bytes.toString('latin1').matchAll(/HTTP\/1\.1 (\d+) /g))
          countOutcome(status)
      })
      socket.on('close', () => answered || countOutcome('cut'))
      attack(socket, order)
      socketCount += 1
      if (socketCount % AT_ONCE === 0) await wait(RAMP_MS)
    }
  }
  process.stdout.write('holding\n')
  for await (const _ of process.stdin);
  return counts
}

async function flood(order: Hostile, count: number): Promise<StatusCounts> {
  let remaining = count
  const lane = async (at: number) => {
    for (let turn = at; remaining-- > 0; turn += 1) {
      const socket = dial(order)
      const closing = new Promise((resolve) => socket.once('close', resolve))
      socket.once('connect', () => DROPS[turn % DROPS.length]?.(socket, order))
      await closing
      await wait(RAMP_MS)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => lane(at)))
  return {}
}

function dial({ url }: Hostile): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  return socket.on('error', () => {})
}

function upload({ token }: Hostile): string {
  const head = `POST /api/v1/documents/create HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n`
  return `${head}Content-Length: 100000\r\n\r\n{"owner_id": 1, "documents": [{"base64": "`
}

function drip(socket: Socket): void {
  const dripping = setInterval(() => socket.write('a'), DRIP_MS)
  socket.on('close', () => clearInterval(dripping))
}
