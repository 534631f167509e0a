// Program of pauses.ts: requests /healthz and a bare server, and flushes a file, every 50 ms. For each line of its input it prints the times
// of the period, and begins the next one.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { PauseTimes } from './pauses.ts'

const [url = '', pid = '', dir = ''] = process.argv.slice(2)
const EVERY_MS = 50
const SLOW_MS = 100
const MOST_MOMENTS = 20
const CONTROL = `import { createServer } from 'node:http'
  const server = createServer((_, res) => res.end('x'))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
  process.stdin.resume().on('end', () => process.exit())`

const BLOCK = Buffer.alloc(4096, 1)
const file = await open(join(dir, 'flush'), 'w')

const EMPTY = {
  ...{ probes: 0, slow: 0, failed: 0 },
  ...{ health: 0, control: 0, prober: 0, waiting: 0, flush: 0, excess: 0 },
}
const agent = new Agent({ keepAlive: true })
let times: PauseTimes = { ...EMPTY, moments: [] }
/** Longest delay of the timer since it was read. */
let delay = 0

function watchTimer(): void {
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    delay = Math.max(delay, now - last - 5)
    last = now
  }, 5)
}

/** Milliseconds until the whole answer; a failure is undefined. */
function measure(url: string): Promise<number | undefined> {
  const start = performance.now()
  return new Promise((resolve) => {
    const request = get(url, { agent }, (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode === 200 ? performance.now() - start : undefined)
      })
    })
    request.on('error', () => resolve(undefined))
  })
}

/** Milliseconds for which the main thread of the program has waited for a processor. */
function waitedMs(): number {
  const [, nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
  return Number(nanoseconds) / 1e6
}

/** Milliseconds of a write and a flush. */
async function flush(): Promise<number> {
  const start = performance.now()
  await file.write(BLOCK, 0, BLOCK.length, 0)
  await file.datasync()
  return performance.now() - start
}

async function probe(url: string, control: string): Promise<void> {
  delay = 0
  const before = waitedMs()
  const flushing = flush()
  const [health, bare] = await Promise.all([measure(`${url}/healthz`), measure(control)])
  times.probes += 1
  if (health === undefined || bare === undefined) {
    times.failed += 1
    return
  }
  const waiting = waitedMs() - before
  const flushed = await flushing
  const excess = health - Math.max(bare, delay, waiting, flushed)
  times.health = Math.max(times.health, health)
  times.control = Math.max(times.control, bare)
  times.prober = Math.max(times.prober, delay)
  times.flush = Math.max(times.flush, flushed)
  times.waiting = Math.max(times.waiting, waiting)
  times.excess = Math.max(times.excess, excess)
  if (excess <= SLOW_MS) return
  times.slow += 1
  if (times.moments.length < MOST_MOMENTS)
    times.moments.push(`${new Date().toISOString()} ${Math.round(excess)} ms`)
}

const bareServer = spawn(process.execPath, ['--input-type=module', '-e', CONTROL], {
  stdio: ['pipe', 'pipe', 'inherit'], // its input ends with this process
})
const [port] = await once(bareServer.stdout, 'data')
watchTimer()
createInterface({ input: process.stdin }).on('line', () => {
  process.stdout.write(`${JSON.stringify(times)}\n`)
  times = { ...EMPTY, moments: [] }
})
for (;;) {
  const start = performance.now()
  await probe(url, `http://127.0.0.1:${String(port).trim()}/`)
  await wait(Math.max(0, EVERY_MS - (performance.now() - start)))
}
