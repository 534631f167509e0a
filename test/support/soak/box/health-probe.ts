// Program of pauses.ts: requests /healthz and a bare server every 50 ms. For each line of its input it prints the times
// of the period, and begins the next one.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { PauseTimes } from './pauses.ts'

const EVERY_MS = 50
const SLOW_MS = 100
const CONTROL = `import { createServer } from 'node:http'
  const server = createServer((_, res) => res.end('x'))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
  process.stdin.resume().on('end', () => process.exit())`

const EMPTY: PauseTimes = { probes: 0, health: 0, control: 0, prober: 0, excess: 0, slow: 0, failed: 0 }
const agent = new Agent({ keepAlive: true })
let times = { ...EMPTY }
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

async function probe(url: string, control: string): Promise<void> {
  delay = 0
  const [health, bare] = await Promise.all([measure(`${url}/healthz`), measure(control)])
  times.probes += 1
  if (health === undefined || bare === undefined) {
    times.failed += 1
    return
  }
  const excess = health - Math.max(bare, delay)
  times.health = Math.max(times.health, health)
  times.control = Math.max(times.control, bare)
  times.prober = Math.max(times.prober, delay)
  times.excess = Math.max(times.excess, excess)
  if (excess > SLOW_MS) times.slow += 1
}

const [url = ''] = process.argv.slice(2)
const bareServer = spawn(process.execPath, ['--input-type=module', '-e', CONTROL], {
  stdio: ['pipe', 'pipe', 'inherit'], // its input ends with this process
})
const [port] = await once(bareServer.stdout, 'data')
watchTimer()
createInterface({ input: process.stdin }).on('line', () => {
  process.stdout.write(`${JSON.stringify(times)}\n`)
  times = { ...EMPTY }
})
for (;;) {
  const start = performance.now()
  await probe(url, `http://127.0.0.1:${String(port).trim()}/`)
  await wait(Math.max(0, EVERY_MS - (performance.now() - start)))
}
