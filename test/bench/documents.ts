// What uploads and downloads cost a server that is a process of its own: its memory over idle, and how fast bodies
// and contents go through it, beside a plain server that does the least that could be done with the same bytes.
// Run: node test/bench/documents.ts [PROGRAM]; BENCH_DIR says on which disk.

import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { CREATE, fillDatabase, TOKENS } from '../support/directory.ts'

const MB = 1e6
const ROUNDS = 5
const [program = join(import.meta.dirname, '../../bin/cambista.ts')] = process.argv.slice(2)
const dir = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'cambista-bench-'))
const dataDir = join(dir, 'data')
const headers = { authorization: `Bearer ${TOKENS.all}` }
const block = randomBytes(3 * 1024 * 1024)
const text = Buffer.from(block.toString('base64'))

type Server = { url: string; now(): number; peak(): number; stop(): Promise<void> }

/** Starts a server; `now` and `peak`, since it was asked last, are its resident memory in MB. */
async function start(command: string, words: string[]): Promise<Server> {
  const child = spawn(command, words)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (data) => {
      said += data
      const [, found] = /url=(\S+)/.exec(said) ?? []
      if (found) resolve(found)
    })
    child.once('close', () => reject(new Error(said)))
  })
  let highest = 0
  const now = () => {
    if (child.exitCode !== null) throw new Error(`the server ended: ${said.slice(-2000)}`)
    const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    const resident = (Number(kib) * 1024) / MB
    highest = Math.max(highest, resident)
    return resident
  }
  const watch = setInterval(now, 5)
  const peak = () => {
    const seen = highest
    highest = now()
    return seen
  }
  const stop = async () => {
    clearInterval(watch)
    child.kill()
    await ended
  }
  return { url, now, peak, stop }
}

/** An upload of one document of about so many bytes: the block again and again, after a few bytes of its own. */
function* bodyOf(bytes: number, name: string): Generator<Buffer> {
  const own = createHash('sha256').update(name).digest().subarray(0, 30).toString('base64')
  const parties = '"owner_id":1,"company_id":1,"agent_id":1'
  yield Buffer.from(`{${parties},"documents":[{"name":"${name}","mimetype":"a/b","base64":"${own}`)
  for (let sent = 0; sent < bytes; sent += block.length) {
    const end = Math.min(text.length, Math.ceil((bytes - sent) / 3) * 4)
    for (let at = 0; at < end; at += 256 * 1024) yield text.subarray(at, Math.min(end, at + 256 * 1024))
  }
  yield Buffer.from('"}]}')
}

function answered(client: ReturnType<typeof request>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => client.once('response', resolve).once('error', reject))
}

/** The answer, and the MB of body that went in a second. */
async function upload(url: string, bytes: number, name: string): Promise<{ answer: string; rate: number }> {
  const client = request(url, { method: 'POST', headers, agent: false })
  const response = answered(client)
  const started = performance.now()
  await pipeline(Readable.from(bodyOf(bytes, name), { objectMode: false, highWaterMark: MB }), client)
  let answer = ''
  for await (const piece of await response) answer += piece
  if ((await response).statusCode !== 200) throw new Error(answer)
  return { answer, rate: (bytes * 4) / 3 / 1e3 / (performance.now() - started) }
}

/** The MB that came in a second. */
async function download(url: string, bytes: number): Promise<number> {
  const client = request(url, { headers, agent: false })
  const started = performance.now()
  client.end()
  let size = 0
  for await (const piece of await answered(client)) size += (piece as Buffer).length
  if (size < bytes) throw new Error(`only ${size} bytes came`)
  return size / 1e3 / (performance.now() - started)
}

async function idleMemory(server: Server): Promise<number> {
  await wait(1500)
  const idle = server.now()
  server.peak()
  return idle
}

const print = (line: string) => process.stdout.write(`${line}\n`)
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0
const contentOf = (url: string, answer: string) =>
  `${url}/api/v1/documents/${JSON.parse(answer).created_documents[0].id}/content`

function printMemory(what: string, server: Server, idle: number, limit?: number): void {
  const rise = server.peak() - idle
  print(`${what.padEnd(44)} ${rise.toFixed(0).padStart(5)} MB over idle${limit ? ` (limit ${limit})` : ''}`)
}

await fillDatabase(dataDir)
const words = ['serve', '--data-dir', dataDir, '--port', '0', '--no-scheduler', '--min-free', '0']
const isScript = program.endsWith('.ts')
const cambista = () => start(isScript ? process.execPath : program, isScript ? [program, ...words] : words)

let server = await cambista()
let idle = await idleMemory(server)
print(`idle: ${idle.toFixed(0)} MB`)
const { answer } = await upload(server.url + CREATE, 400 * MB, 'one of 400 MB')
printMemory('upload of one document of 400 MB', server, idle, 96)
idle = await idleMemory(server)
await download(contentOf(server.url, answer), 400 * MB)
printMemory('download of it, after the upload', server, idle)
await server.stop()

server = await cambista()
idle = await idleMemory(server)
await Promise.all(
  Array.from({ length: 8 }, (_, at) => upload(server.url + CREATE, 20 * MB, `one of eight ${at}`)),
)
printMemory('eight uploads of 20 MB at once', server, idle, 160)
await server.stop()

server = await cambista()
idle = await idleMemory(server)
await Promise.all(
  Array.from({ length: 16 }, () => download(`${server.url}/api/v1/documents/1/content`, 400 * MB)),
)
printMemory('sixteen downloads of 400 MB at once', server, idle)

const plain = await start(process.execPath, [
  join(import.meta.dirname, 'plain-server.ts'),
  join(dir, 'plain'),
])
const rates: Record<string, number[]> = { upload: [], 'plain upload': [], download: [], 'plain download': [] }
const SIZE = 100 * MB
for (let round = 0; round < ROUNDS; round += 1) {
  rates['plain upload']?.push((await upload(plain.url, SIZE, 'plain')).rate)
  const { answer: kept, rate } = await upload(server.url + CREATE, SIZE, `round ${round}`)
  rates.upload?.push(rate)
  rates['plain download']?.push(await download(plain.url, SIZE))
  rates.download?.push(await download(contentOf(server.url, kept), SIZE))
}
for (const [what, values] of Object.entries(rates)) {
  print(`${what.padEnd(44)} ${median(values).toFixed(0).padStart(5)} MB/s`)
}
await Promise.all([server.stop(), plain.stop()])
rmSync(dir, { recursive: true })
