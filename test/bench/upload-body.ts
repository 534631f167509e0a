// How fast the core of an upload is (reader, check, decoder, hash, file, flush), beside a plain script that does the
// same work with the same bytes, and how much memory it takes. Run: node test/bench/upload-body.ts [MB]

import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readUpload } from '../../src/http/upload-body.ts'
import { openBlobs } from '../../src/store/blobs.ts'

const CHUNK = 64 * 1024
const QUANTUM_ALIGNED = 48 * 1024
const megabytes = Number(process.argv[2] ?? 100)
const dir = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'cambista-bench-'))
const block = randomBytes(3 * 1024 * 1024)
const text = block.toString('base64')
const forms: [string, string][] = [
  ['plain', text],
  ['escaped slashes', text.replaceAll('/', '\\/')],
  ['line breaks', text.replaceAll(/.{76}/g, '$&\\r\\n')],
]
const blobs = await openBlobs(join(dir, 'blobs'))

function* bodyOf(form: string, size: number): Generator<Buffer> {
  const head =
    '{"owner_id":1,"company_id":1,"agent_id":1,"documents":[{"name":"a","mimetype":"a/b","base64":"'
  yield Buffer.from(head)
  const bytes = Buffer.from(form)
  for (let sent = 0; sent < size; sent += bytes.length) {
    for (let at = 0; at < bytes.length; at += CHUNK) yield Buffer.from(bytes.subarray(at, at + CHUNK))
  }
  yield Buffer.from('"}]}')
}

async function* arriving(chunks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks
}

/** The limit: nothing is checked, nothing is parsed, nothing waits. */
function plainScript(size: number): string {
  const path = join(dir, 'plain')
  const file = openSync(path, 'wx')
  const hash = createHash('sha256')
  const bytes = Buffer.from(text)
  for (let sent = 0; sent < size; sent += bytes.length) {
    for (let at = 0; at < bytes.length; at += QUANTUM_ALIGNED) {
      const decoded = Buffer.from(bytes.toString('latin1', at, at + QUANTUM_ALIGNED), 'base64')
      hash.update(decoded)
      writeSync(file, decoded)
    }
  }
  hash.digest()
  fsyncSync(file)
  closeSync(file)
  return path
}

async function ours(form: string, size: number): Promise<string> {
  const upload = await readUpload(arriving(bodyOf(form, size)), blobs.beginBlob)
  const document = Array.isArray(upload.documents) ? upload.documents[0] : undefined
  if (document?.content === undefined || !('blob' in document.content)) throw new Error('no blob')
  await blobs.commit([document.content.blob])
  const { sha256 } = document.content.blob
  return join(dir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
}

async function rate(size: number, work: () => string | Promise<string>): Promise<number> {
  const started = performance.now()
  const path = await work()
  const took = performance.now() - started
  rmSync(path) // not over the next one: to free a large file takes as long as to write it
  return size / 1e3 / took
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const idle = process.memoryUsage.rss()
let peak = idle
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 5)
await ours(text, 400_000_000)
clearInterval(watch)
print(`memory over idle, one document of 400 MB: ${((peak - idle) / 1e6).toFixed(0)} MB`)

const size = megabytes * 1_000_000
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0
const rounds: Record<string, number[]> = {}
for (let round = 0; round < 5; round++) {
  rounds['plain script'] ??= []
  rounds['plain script'].push(await rate(size, () => plainScript(size)))
  for (const [name, form] of forms) {
    const key = `upload core, ${name}`
    rounds[key] ??= []
    rounds[key].push(await rate(size, () => ours(form, size)))
  }
}
const limit = median(rounds['plain script'] ?? [])
for (const [name, rates] of Object.entries(rounds)) {
  print(
    `${name.padEnd(32)} ${median(rates).toFixed(0).padStart(6)} MB/s of body  ${(median(rates) / limit).toFixed(2)}`,
  )
}

rmSync(dir, { recursive: true })
