// Uploads of very many documents in one request: all are stored or none, even if the server is killed. Invalid
// documents are counted by the million. Memory stays below the limit of the service, and other requests are answered.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import type { Latencies, LatencyOrder } from '../bench/latency.ts'
import { startScript } from '../bench/process.ts'
import { CREATE, fillDatabase, TOKENS } from '../support/directory.ts'
import { type Program, startProgram } from '../support/program.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { figure, LONG, PROGRAM, scaled } from './scale.ts'

const MANY = scaled({ short: 1_000, long: 200_000 })
const BAD = scaled({ short: 30_000, long: 1_500_000 })
const BAD_AT_ONCE = scaled({ short: 4, long: 16 })
const KILLS = scaled({ short: 1, long: 40 })
const KILLED_DOCUMENTS = scaled({ short: 300, long: 5_000 })
const MEMORY_HIGH_MB = 512 // MemoryHigh of the service
const ANSWERED_WITHIN_MS = 2000
const START_MS = 120_000 // a start checks each blob
const AT_ONCE = 1000
const LATENCY = join(import.meta.dirname, '../bench/latency.ts')

type Answer = { status: number; body: Record<string, unknown> }
type ProbeResult = { longest: number; memory: number }

const headers = { authorization: `Bearer ${TOKENS.all}` }
const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')

test(`${MANY} documents in one request are stored, each with its bytes`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const { server, url } = await serve(t, dataDir)
  const probes = await startProbes(url, server)
  const startMs = performance.now()
  const documents = (at: number) => documentJson(`content ${at}`, `factura-${at}.pdf`)
  const { status, body } = await upload(url, MANY, documents, { 'idempotency-key': 'many' })
  figure(t, `${MANY} documents, s`, Math.round((performance.now() - startMs) / 100) / 10)
  report(t, await probes.stop())
  assert.equal(status, 200, JSON.stringify(body).slice(0, 300))
  const created = body.created_documents as { id: number; name: string }[]
  assert.deepEqual([created.length, body.total_created], [MANY, MANY])
  for (const [at, { id, name }] of created.entries()) {
    if (id !== at + 1 || name !== `factura-${at}.pdf`) assert.fail(`document ${at} is ${id}, ${name}`)
  }
  for (let at = 0; at < MANY; at += Math.ceil(MANY / 50)) {
    const content = await fetch(`${url}/api/v1/documents/${at + 1}/content`, { headers })
    assert.equal(await content.text(), `content ${at}`)
  }
  await stop(server)
  assert.deepEqual(
    await selectHashes(dataDir),
    Array.from({ length: MANY }, (_, at) => sha256Hex(`content ${at}`)),
  )
  checkFiles(dataDir, new Set(await selectHashes(dataDir)))
  const again = await serve(t, dataDir)
  const repeated = await upload(again.url, MANY, documents, { 'idempotency-key': 'many' })
  assert.deepEqual(repeated, { status, body })
  await stop(again.server)
  assert.equal((await selectHashes(dataDir)).length, MANY)
})

test(`a server that is killed during uploads of ${KILLED_DOCUMENTS} documents stores all of them or none`, async (t) => {
  const random = createRandom(SEED).next
  figure(t, 'seed', SEED)
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  let [whole, uploadMs] = [0, 0]
  for (let kill = 0; kill <= KILLS; kill++) {
    const { server, url } = await serve(t, dataDir)
    const rows = await selectHashes(dataDir)
    checkFiles(dataDir, new Set(rows)) // after the sweep
    const startMs = performance.now()
    const pendingUpload = upload(url, KILLED_DOCUMENTS, (at) => documentJson(`content ${kill} ${at}`)).catch(
      () => undefined,
    )
    if (kill > 0) {
      await Promise.race([wait(random() * uploadMs * 1.1), pendingUpload])
      server.child.kill('SIGKILL')
    }
    const answer = await pendingUpload
    if (kill === 0) uploadMs = performance.now() - startMs
    else await server.waitForExit()
    const added = (await selectHashes(dataDir)).slice(rows.length)
    const all = Array.from({ length: KILLED_DOCUMENTS }, (_, at) => sha256Hex(`content ${kill} ${at}`))
    if (answer?.status === 200 || added.length > 0) assert.deepEqual(added, all)
    if (added.length > 0) whole++
    if (kill === 0) await stop(server)
  }
  figure(t, 'kills, and uploads that were whole after all', `${KILLS}, ${whole - 1}`)
})

test(`${BAD_AT_ONCE} parallel uploads of ${BAD} invalid documents each get 400 with the number of errors`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const { server, url } = await serve(t, dataDir)
  const probes = await startProbes(url, server)
  const kinds = ['{}', '1', '{"name":"","mimetype":"a/b","base64":"aG9sYQ=="}']
  const answers = await Promise.all(
    Array.from({ length: BAD_AT_ONCE }, (_, at) =>
      upload(url, BAD, () => kinds[at % kinds.length] as string),
    ),
  )
  report(t, await probes.stop())
  for (const { status, body } of answers) {
    const { message, errors, errors_total } = body as {
      message: string
      errors: { index: number }[]
      errors_total: number
    }
    assert.deepEqual([status, message, errors.length, errors_total], [400, 'Invalid documents', 1000, BAD])
    assert.equal(errors.at(-1)?.index, 999)
  }
  await stop(server)
  checkFiles(dataDir, new Set())
})

function documentJson(content: string, name = 'factura.pdf'): string {
  const base64 = Buffer.from(content).toString('base64')
  return `{"name":"${name}","mimetype":"application/pdf","base64":"${base64}"}`
}

async function serve(t: TestContext, dataDir: string): Promise<{ server: Program; url: string }> {
  const flags = ['--data-dir', dataDir, '--port', '0', '--no-scheduler', '--min-free', '0']
  const server = startProgram(t, ['serve', ...flags], {}, PROGRAM)
  const listeningUrl = () => /url=(\S+)/.exec(server.printed.err)?.[1]
  await until(() => listeningUrl() !== undefined || server.child.exitCode !== null, START_MS)
  return { server, url: listeningUrl() ?? assert.fail(server.printed.err) }
}

async function stop(server: Program): Promise<void> {
  server.child.kill('SIGTERM')
  assert.equal(await server.waitForExit(), 0, server.printed.err.slice(-1000))
}

/** Uploads `count` documents in one request, as they are made. */
async function upload(
  url: string,
  count: number,
  documentAt: (at: number) => string,
  moreHeaders: Record<string, string> = {},
): Promise<Answer> {
  const client = request(url + CREATE, { method: 'POST', headers: { ...headers, ...moreHeaders } })
  const response = once(client, 'response').then(([one]) => one as IncomingMessage)
  response.catch(() => {})
  client.write('{"owner_id":1,"company_id":1,"agent_id":1,"documents":[')
  for (let from = 0; from < count; from += AT_ONCE) {
    const length = Math.min(AT_ONCE, count - from)
    const documents = Array.from({ length }, (_, at) => documentAt(from + at))
    if (!client.write((from > 0 ? ',' : '') + documents))
      await Promise.race([once(client, 'drain'), response])
  }
  client.end(']}')
  const { statusCode = 0 } = await response
  const pieces = await Array.fromAsync((await response) as AsyncIterable<Buffer>)
  return { status: statusCode, body: JSON.parse(Buffer.concat(pieces).toString()) }
}

/** Requests health and documents continuously from other processes, and measures the memory of the server. */
async function startProbes(url: string, { child }: Program): Promise<{ stop(): Promise<ProbeResult> }> {
  const probeScripts = ['/healthz', '/readyz', '/api/v1/documents?order=desc&limit=1'].map((path) => {
    const probeOptions: LatencyOrder = {
      port: Number(new URL(url).port),
      path,
      headers,
      connections: 1,
      pauseMs: 20,
    }
    return startScript([process.execPath, LATENCY, JSON.stringify(probeOptions)])
  })
  await until(() => probeScripts.every((script) => script.printed() !== ''))
  return {
    async stop() {
      const printed = await Promise.all(probeScripts.map((script) => script.stop()))
      const latencies = printed.map((text) => JSON.parse(text) as Latencies)
      for (const { answers } of latencies) assert.ok(answers > 0)
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(status) ?? []
      return {
        longest: Math.max(...latencies.map(({ longest }) => longest)),
        memory: Number(kilobytes) / 1024,
      }
    },
  }
}

function report(t: TestContext, { longest, memory }: ProbeResult): void {
  figure(t, 'longest answer of others beside it, ms', Math.round(longest))
  figure(t, 'most memory, MB', Math.round(memory))
  assert.ok(memory < MEMORY_HIGH_MB, `${memory} MB`)
  if (LONG) assert.ok(longest < ANSWERED_WITHIN_MS, `${longest} ms`)
}

/** The SHA-256 of every document, by id. */
async function selectHashes(dataDir: string): Promise<string[]> {
  const db = openDatabase(dataDir)
  try {
    const rows = await db
      .selectFrom('documents')
      .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
      .select('sha256')
      .orderBy('documents.id')
      .execute()
    return rows.map(({ sha256 }) => sha256)
  } finally {
    await db.destroy()
  }
}

/**
 * Each named blob exists with its bytes, and no other file. A kill between the rename of the blobs and the commit leaves
 * more than 100 unreferenced ones, which the next start moves to blobs/removed for 7 days.
 */
function checkFiles(dataDir: string, hashes: Set<string>): void {
  const removed = join(dataDir, 'blobs', 'removed')
  const all = readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const files = all.filter(({ parentPath }) => !parentPath.startsWith(removed))
  assert.equal(files.length, hashes.size)
  for (const { name } of all.filter((one) => !files.includes(one))) assert.ok(!hashes.has(name), name)
  for (const { name, parentPath } of files) {
    assert.ok(hashes.has(name), name)
    assert.equal(sha256Hex(readFileSync(join(parentPath, name), 'utf8')), name)
  }
}
