// How long answers take: keep-alive connections that ask one after the other, as a process of its own so that it does
// not share a thread with what it measures. Run by others: node latency.ts '{"port":…,"path":…,"headers":{…}}'; it asks
// until it is told to stop (SIGTERM), and prints what it saw; before that an empty line, once it has seen something.

import { connect } from 'node:net'

export type LatencyOrder = {
  port: number
  path: string
  headers?: Record<string, string>
  connections?: number
  /** Between an answer and the next request of a connection. */
  pauseMs?: number
}

/** Milliseconds. */
export type Latencies = { answers: number; median: number; p99: number; longest: number }

const WARM_MS = 500 // compiling this script holds up its own clock for a tenth of a second
const END_OF_HEAD = '\r\n\r\n'

/** Asks until it is told to stop; `begun` is called with the first answer that counts. @throws when one is not a 200 */
export async function measureLatencies(
  order: LatencyOrder,
  stop: AbortSignal,
  begun: () => void = () => {},
): Promise<Latencies> {
  const { port, path, headers = {}, connections = 32, pauseMs = 0 } = order
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = `GET ${path} HTTP/1.1\r\nHost: bench\r\n${head.join('')}\r\n`
  const times: number[] = []
  const begin = performance.now() + WARM_MS
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let held = ''
      let asked = 0
      const ask = () => {
        if (stop.aborted) return void socket.end(resolve)
        held = ''
        asked = performance.now()
        socket.write(request)
      }
      socket.on('connect', ask)
      socket.on('error', reject)
      socket.on('data', (data: Buffer) => {
        held += data.toString('latin1')
        const end = held.indexOf(END_OF_HEAD)
        if (end < 0) return
        const length = Number(/content-length: (\d+)/i.exec(held)?.[1] ?? 0)
        if (held.length < end + END_OF_HEAD.length + length) return
        if (!held.startsWith('HTTP/1.1 200')) return reject(new Error(`${path}: ${held}`))
        if (asked > begin && times.push(performance.now() - asked) === 1) begun()
        if (pauseMs > 0) setTimeout(ask, pauseMs)
        else ask()
      })
    })
  await Promise.all(Array.from({ length: connections }, one))
  const sorted = Float64Array.from(times).sort()
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { answers: sorted.length, median: at(0.5), p99: at(0.99), longest: at(1) }
}

if (import.meta.main) {
  const stop = new AbortController()
  process.on('SIGTERM', () => stop.abort())
  const order = JSON.parse(process.argv[2] ?? '{}') as LatencyOrder
  const seen = await measureLatencies(order, stop.signal, () => process.stdout.write('\n'))
  process.stdout.write(JSON.stringify(seen))
}
