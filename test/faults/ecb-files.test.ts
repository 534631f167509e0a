// The history of the ECB's files over invented years: its cost, and other clients beside it. The long form has 15 years
// and nine rounds.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { addDays, currentDay } from '../../src/values/dates.ts'
import { startProgram } from '../support/program.ts'
import { largeExport } from '../support/rates/large-export.ts'
import { readMemory } from '../support/resources.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { figure, LONG, PROGRAM, scaled } from './scale.ts'

const DAYS = scaled({ short: 730, long: 5478 })
const ROUNDS = scaled({ short: 1, long: 9 })
const ROOT = '/stats/eurofxref/eurofxref'
const TICKS_PER_SECOND = 100

type Server = { url: string; pid: number; headers: Record<string, string> }

test(`the history of ${DAYS} days costs little, and delays no other client`, async (t) => {
  const server = await startServer(t)
  const began = processorSeconds(server)
  const length = await download(server, '-hist.xml')
  const seconds = processorSeconds(server) - began
  figure(t, 'MB of hist.xml', (length / 1e6).toFixed(1))
  figure(t, 'seconds of processor time for hist.xml', seconds)
  assert.ok(length > DAYS * 1000)
  assert.ok(seconds <= 20, `${seconds} s`)

  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = await latencies(server, () => pause(1500))
    const beside = await latencies(server, () => download(server, '-hist.xml'))
    ratios.push(percentile(beside, 0.99) / percentile(alone, 0.99))
    if (round === 0)
      figure(t, 'p99 in ms alone and beside', `${percentile(alone, 0.99)} ${percentile(beside, 0.99)}`)
  }
  figure(t, 'ratios of p99', ratios.map((ratio) => ratio.toFixed(2)).join(' '))
  // The second lowest and the second highest of nine ratios contain the median in 96 of 100 cases.
  if (LONG) assert.ok((ratios.toSorted((a, b) => a - b)[1] ?? 0) <= 3, 'the interval of the ratio is above 3')

  const before = readMemory(server.pid)
  let most = 0
  const sampling = setInterval(() => {
    most = Math.max(most, readMemory(server.pid))
  }, 20)
  await Promise.all([
    download(server, '-hist.xml'),
    download(server, '-hist.csv'),
    download(server, '-hist.zip'),
  ])
  clearInterval(sampling)
  figure(t, 'MB of memory more during three files', ((most - before) / 1e6).toFixed(1))
  if (LONG) assert.ok(most - before <= 30e6)
})

test('a client that has the history gets a 304 within 5 ms', async (t) => {
  const server = await startServer(t)
  const { headers } = await fetch(`${server.url}${ROOT}-hist.xml`, {
    method: 'HEAD',
    headers: server.headers,
  })
  const etag = headers.get('etag') ?? ''
  const times: number[] = []
  for (let at = 0; at < 50; at += 1) {
    const from = performance.now()
    const answer = await fetch(`${server.url}${ROOT}-hist.xml`, {
      headers: { ...server.headers, 'if-none-match': etag },
    })
    assert.equal(answer.status, 304)
    times.push(performance.now() - from)
  }
  figure(t, 'median of a 304 in ms', percentile(times, 0.5).toFixed(2))
  if (LONG) assert.ok(percentile(times, 0.5) <= 5)
})

test('a client that reads the history slowly delays nobody', async (t) => {
  const server = await startServer(t)
  const { port } = new URL(server.url)
  for (let at = 0; at < 5; at += 1) {
    const socket = connect(Number(port), '127.0.0.1')
    t.after(() => socket.destroy())
    socket.pause()
    socket.write(
      `GET ${ROOT}-hist.xml HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.headers['X-API-Key']}\r\n\r\n`,
    )
  }
  await pause(500)
  const times = await latencies(server, () => pause(1000))
  figure(t, 'p99 of /rates/latest in ms', percentile(times, 0.99).toFixed(1))
  for (const file of ['-hist.xml', '-hist.zip']) assert.ok((await download(server, file)) > 1000)
})

/** A server with a value of each series on each day up to today. */
async function startServer(t: TestContext): Promise<Server> {
  const dataDir = temporaryDirectory(t)
  const file = join(temporaryDirectory(t), 'rates.csv')
  const today = currentDay(() => new Date())
  writeFileSync(file, largeExport(addDays(today, 1 - DAYS), DAYS).text)
  const run = async (...words: string[]) => {
    const program = startProgram(t, [...words, '--data-dir', dataDir], {}, PROGRAM)
    assert.equal(await program.waitForExit(), 0, program.printed.err)
    return program.printed.out.trim()
  }
  await run('import', file)
  const key = await run('key', 'create', 'ecb')
  const flags = ['--port', '0', '--no-scheduler', '--log-format', 'json', '--bccr-url', 'http://127.0.0.1:1']
  const server = startProgram(t, ['serve', '--data-dir', dataDir, ...flags], {}, PROGRAM)
  const [, url = ''] = await server.waitForOutput(/"url":"([^"]+)"/)
  return { url, pid: server.child.pid ?? 0, headers: { 'X-API-Key': key } }
}

/** Length of a file, which curl reads: in this process it would delay the measured requests. */
async function download({ url, headers }: Server, file: string): Promise<number> {
  const words = [
    '-sSf',
    '-o',
    '/dev/null',
    '-w',
    '%{size_download}',
    '-H',
    `X-API-Key: ${headers['X-API-Key']}`,
  ]
  const { stdout } = await promisify(execFile)('curl', [...words, url + ROOT + file])
  return Number(stdout)
}

/** Milliseconds of each request for /rates/latest while work goes on. */
async function latencies({ url, headers }: Server, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  let isRunning = true
  const working = work().finally(() => {
    isRunning = false
  })
  while (isRunning) {
    const from = performance.now()
    await (await fetch(`${url}/api/v1/rates/latest`, { headers })).text()
    times.push(performance.now() - from)
  }
  await working
  return times
}

function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0
}

function processorSeconds({ pid }: Server): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
