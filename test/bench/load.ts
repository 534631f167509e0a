// A load of keep-alive connections with one request at a time, in a process of its own. A thread shared with the
// server would distort the result. Run by others: node load.ts '{"port":…,"paths":[…],"headers":{…}}'

import { connect, type Socket } from 'node:net'
import { addDays } from '../../src/values/dates.ts'

export type LoadOrder = {
  port: number
  /**
   * Requested in turn, from a random start. `{n}` is another number each time, `{day}` another of 15,000 days
   * since 1984, `{year later}` the day a year after it.
   */
  paths: string[]
  headers?: Record<string, string>
  connections?: number
  ms?: number
  /** Number of requests, instead of `ms`. */
  requests?: number
}

export type LoadResult = {
  requests: number
  bytes: number
  perSecond: number
  statuses: Record<string, number>
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')

/** Runs a load and returns the number of complete answers. */
export function runLoad(order: LoadOrder): Promise<LoadResult> {
  const { port, paths, headers = {}, connections = 32, ms = 2000, requests: most } = order
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const tail = ` HTTP/1.1\r\nHost: bench\r\n${head.join('')}\r\n`
  const requests = paths.map((path) => Buffer.from(`GET ${path}${tail}`))
  const fresh = paths.some((path) => /[{]n[}]|[{]day[}]/.test(path))
  const run = Date.now() % 1e9 // different from that of the load before
  const freshPath = (at: number) => {
    const day = addDays('1984-01-01', ((run + at) * 7919) % 15_000)
    const path = (paths[at % paths.length] ?? '')
      .replace('{n}', `${run}${at}`)
      .replace('{day}', day)
      .replace('{year later}', addDays(day, 365))
    return `GET ${path}${tail}`
  }
  const result: LoadResult = { requests: 0, bytes: 0, perSecond: 0, statuses: {} }
  const started = performance.now()
  const end = started + ms
  let count = 0
  const hasEnded = () => (most === undefined ? performance.now() >= end : count >= most)
  const one = (at: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let next = at
      let missing = 0
      let pending: Buffer | undefined
      const ask = () => {
        if (hasEnded()) return finish(socket, resolve)
        count += 1
        socket.write(fresh ? freshPath(next) : (requests[next % requests.length] ?? ''))
        next += connections
      }
      socket.on('connect', ask)
      socket.on('error', reject)
      socket.on('data', (data: Buffer) => {
        result.bytes += data.length
        if (missing > 0) missing -= data.length
        else {
          pending = pending ? Buffer.concat([pending, data]) : data
          const at = pending.indexOf(END_OF_HEAD)
          if (at < 0) return
          const text = pending.toString('latin1', 0, at)
          const status = text.slice(9, 12)
          result.statuses[status] = (result.statuses[status] ?? 0) + 1
          const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
          missing = at + 4 + length - pending.length
          pending = undefined
        }
        if (missing > 0) return
        result.requests += 1
        ask()
      })
    })
  return Promise.all(Array.from({ length: connections }, (_, at) => one(at))).then(() => {
    result.perSecond = (result.requests * 1000) / (performance.now() - started)
    return result
  })
}

function finish(socket: Socket, done: () => void): void {
  socket.once('close', done)
  socket.destroy()
}

if (import.meta.main) {
  const result = await runLoad(JSON.parse(process.argv[2] ?? '{}') as LoadOrder)
  process.stdout.write(JSON.stringify(result))
}
