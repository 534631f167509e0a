// Program of pauses.ts: requests /healthz and a bare server every 50 ms. For each line of its input it prints the times
// of the period, and begins the next one.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { PauseTimes } from './pauses.ts'

const [url = '', pid = ''] = process.argv.slice(2)
const EVERY_MS = 50
const SLOW_MS = 100
const MOST_MOMENTS = 20
const CONTROL = `import { createServer } from 'node:http'
  const server = createServer((_, res) => res.end('x'))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
  process.stdin.resume().on('end', () => process.exit())`

const EMPTY = {
  ...{ probes: 0, slow: 0, failed: 0 },
  ...{ health: 0, control: 0, prober: 0, waiting: 0, excess: 0 },
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

async function probe(url: string, control: string): Promise<void> {
  delay = 0
  const before = waitedMs()
  const [health, bare] = await Promise.all([measure(`${url}/healthz`), measure(control)])
  times.probes += 1
  if (health === undefined || bare === undefined) {
    times.failed += 1
    return
  }
  const waiting = waitedMs() - before
  const excess = health - Math.max(bare, delay, waiting)
  times.health = Math.max(times.health, health)
  times.control = Math.max(times.control, bare)
  times.prober = Math.max(times.prober, delay)
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
