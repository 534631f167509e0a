// Clients that mean no good, as a process of its own: node hostile-clients.ts '{"url":…}'. It ends when its stdin does,
// and then prints what it was answered, by kind and status.

import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export type Hostile = {
  url: string
  token: string
  key: string
  /** A document, and a history, that are large. */
  large: { document: string; history: string }
  /** Connections of each of the kinds, which hold on for as long as they can; */
  each: number
  kinds: readonly Kind[]
  /** or so many that are opened and dropped. */
  flood?: number
}

/** How often each status was answered, or `cut`: the connection was closed without one. */
export type Met = Record<string, Record<string, number>>

type Way = (socket: Socket, order: Hostile) => void

const HALF_HEADERS = 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: '
const DRIP_MS = 1000
const AT_ONCE = 100
const RAMP_MS = 100 // a thousand a second: they shall be stuck, not be more than a processor can take in

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

const DROPS: Way[] = [
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
  const met = order.flood ? await flood(order, order.flood) : await hold(order)
  process.stdout.write(`${JSON.stringify(met)}\n`)
  process.exit()
}

/** Opens all connections and keeps them, until stdin ends. */
async function hold(order: Hostile): Promise<Met> {
  const met: Met = {}
  let opened = 0
  for (let at = 0; at < order.each; at += 1) {
    for (const kind of order.kinds) {
      const way: Way = KINDS[kind]
      const note = (what: string) => {
        met[kind] = { ...met[kind], [what]: (met[kind]?.[what] ?? 0) + 1 }
      }
      const socket = dial(order)
      let answered = false
      socket.on('data', (bytes: Buffer) => {
        answered = true
        for (const [, status = ''] of bytes.toString('latin1').matchAll(/HTTP\/1\.1 (\d+) /g)) note(status)
      })
      socket.on('close', () => answered || note('cut'))
      way(socket, order)
      opened += 1
      if (opened % AT_ONCE === 0) await wait(RAMP_MS)
    }
  }
  process.stdout.write('holding\n')
  for await (const _ of process.stdin);
  return met
}

async function flood(order: Hostile, count: number): Promise<Met> {
  let left = count
  const lane = async (at: number) => {
    for (let turn = at; left-- > 0; turn += 1) {
      const socket = dial(order)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.once('connect', () => DROPS[turn % DROPS.length]?.(socket, order))
      await closed
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
