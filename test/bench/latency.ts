// Measures the duration of answers on keep-alive connections, in a process of its own. A thread shared with the
// server would distort them. Run by others: node latency.ts '{"port":…,"path":…,"headers":{…}}'. Prints an empty
// line after the first answers, and the results on SIGTERM.

import { connect } from 'node:net'

export type LatencyOrder = {
  port: number
  path: string
  headers?: Record<string, string>
  connections?: number
  /** Pause between an answer and the next request of a connection, in milliseconds. */
  pauseMs?: number
}

/** Milliseconds. */
export type Latencies = { answers: number; median: number; p99: number; longest: number }

const WARM_MS = 500 // compiling this script delays its own clock by a tenth of a second
const END_OF_HEAD = '\r\n\r\n'

/** Sends requests until SIGTERM; calls `begun` with the first answer that counts. @throws when one is not a 200 */
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
      let pending = ''
      let start = 0
      const ask = () => {
        if (stop.aborted) return void socket.end(resolve)
        pending = ''
        start = performance.now()
        socket.write(request)
      }
      socket.on('connect', ask)
      socket.on('error', reject)
      socket.on('data', (data: Buffer) => {
        pending += data.toString('latin1')
        const end = pending.indexOf(END_OF_HEAD)
        if (end < 0) return
        const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0)
        if (pending.length < end + END_OF_HEAD.length + length) return
        if (!pending.startsWith('HTTP/1.1 200')) return reject(new Error(`${path}: ${pending}`))
        if (start > begin && times.push(performance.now() - start) === 1) begun()
        if (pauseMs > 0) setTimeout(ask, pauseMs)
        else ask()
      })
    })
  await Promise.all(Array.from({ length: connections }, one))
  const ascending = Float64Array.from(times).sort()
  const at = (share: number) =>
    ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN
  return { answers: ascending.length, median: at(0.5), p99: at(0.99), longest: at(1) }
}

if (import.meta.main) {
  const stop = new AbortController()
  process.on('SIGTERM', () => stop.abort())
  const order = JSON.parse(process.argv[2] ?? '{}') as LatencyOrder
  const latencies = await measureLatencies(order, stop.signal, () => process.stdout.write('\n'))
  process.stdout.write(JSON.stringify(latencies))
}
