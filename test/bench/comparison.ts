// Compares another build with ours, usually the one before a change: npm run bench -- against PATH. Each answers the
// same requests in turn, over a copy of one data directory. The figure of a request is the processor time of the server.
// Busy neighbours change it by half within a second, and only upwards. So requests come in short slices, in turn, and
// the least slice counts. Two processes of the same build differ by a tenth, from start to end. So each of the eight
// rounds starts both builds again. Figures of memory are medians.

import { copyFileSync, cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createClave } from '../support/documents/invoice-xml.ts'
import { median } from './figure.ts'
import { type LoadOrder, runLoad } from './load.ts'
import { PROGRAM, type Running, runToEnd, startProgram } from './process.ts'
import { type Bank, syncHistory } from './sync.ts'

const ROUNDS = 8
const SLICES = 8 // slices of a build in a round
const WARM_UP_SLICES = 4
const SLICE_REQUESTS = 400
const FULL_LOAD_MS = 2500
const SETTLED_MS = 1000
const SLICE_UPLOADS = 32
const UPLOADS_AT_ONCE = 4
const CLIENTS = 320
const LEAST = 0.97 // a row fails when all its ratios are below

/** Paths of each kind of read, as those of LoadOrder. */
export const EVERY_READ: Record<string, string[]> = {
  'latest, one URL': ['/api/v1/rates/latest'],
  'latest, another day each time': ['/api/v1/rates/latest?on={day}'],
  'convert, another amount each time': ['/api/v1/convert?amount={n}&from=JPY&to=CRC&on={day}'],
  'all 47, another day each time': ['/api/v1/rates?on={day}'],
  'history of a year': ['/api/v1/series/2/history?from={day}&to={year later}'],
  'months of a cross': ['/api/v1/history?base=EUR&quote=CRC&from={day}&to={year later}&every=month'],
  'Frankfurter latest': ['/v1/latest?base=USD&symbols=CRC'],
  Hacienda: ['/indicadores/tc'],
  'documents, a page': ['/api/v1/documents?limit=20&agent_id=1'],
  'a document': ['/api/v1/documents/1'],
}

const INVOICE = readFileSync(
  join(import.meta.dirname, '../fixtures/invoices/examples/v44-factura-usd.xml'),
  'utf8',
)

/** `requests`: in a slice. `documents`: of a request. Agent 1 has no invoices, so both builds answer with as much. */
type Upload = { requests: number; documents: number; agent: number; content: (at: number) => string }

const UPLOADS: Record<string, Upload> = {
  'upload of 3 KB': { requests: SLICE_UPLOADS, documents: 1, agent: 1, content: () => 'a'.repeat(3000) },
  'upload of a PDF': {
    requests: SLICE_UPLOADS,
    documents: 1,
    agent: 2,
    content: (at) => `%PDF-1.7 ${at} ${'a'.repeat(30_000)}`,
  },
  'upload of an invoice': { requests: SLICE_UPLOADS, documents: 1, agent: 2, content: invoiceText },
  'upload of 500 invoices': { requests: 1, documents: 500, agent: 2, content: invoiceText },
}

type Build = { name: string; dataDir: string; program: string }
type Server = { build: Build; server: Running }
type Measured = { processor: number[]; wall: number[] }
/** Notes a figure of a round: for a request, or a size. */
type Note = (row: string, build: Build, processor: number, wall?: number) => void
/** A row, and its work; returns the number of requests. */
type Work = [row: string, run: (server: Running) => Promise<number>]

/** Prints a table of ratios, the other build over ours: above 1, ours takes less. */
export async function printComparison(other: string, bank: Bank, dir: string): Promise<void> {
  const theirs: Build = {
    name: 'theirs',
    dataDir: join(dir, 'theirs'),
    program: copyProgram(other, join(dir, 'their-program')),
  }
  const { key, token } = await fillDataDir(theirs, bank)
  const ours: Build = {
    name: 'ours',
    dataDir: join(dir, 'ours'),
    program: copyProgram(PROGRAM, join(dir, 'our-program')),
  }
  cpSync(theirs.dataDir, ours.dataDir, { recursive: true })
  await (await startProgram(ours.dataDir, ours.program)).stop() // upgrades the data directory

  const rows = new Map<string, Map<Build, Measured>>()
  const note: Note = (row, build, processor, wall = 1) => {
    const measured = rows
      .getOrInsertComputed(row, () => new Map())
      .getOrInsertComputed(build, (): Measured => ({ processor: [], wall: [] }))
    measured.processor.push(processor)
    measured.wall.push(wall)
  }
  await measureStarts([theirs, ours], note)
  await measureRequests([theirs, ours], note, { key, token })

  const heading = '| Work | theirs | ours | ratio | its interval | wall | |\n|---|---|---|---|---|---|---|'
  const lines = Array.from(rows, ([row, measured]) => {
    const [before, after] = [measured.get(theirs), measured.get(ours)]
    return before && after ? formatRow(row, before, after) : row
  })
  process.stdout.write(`${[heading, ...lines].join('\n')}\n`)
}

/** Copies an executable. A file that was just built had 17 MB more resident than its copy. */
function copyProgram(path: string, copy: string): string {
  copyFileSync(path, copy)
  return copy
}

async function measureStarts(builds: readonly Build[], note: Note): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const build of inTurn(builds, round)) {
      const server = await startProgram(build.dataDir, build.program)
      note('start', build, server.processorMs(), server.startMs)
      await wait(SETTLED_MS)
      note('idle memory, MB', build, server.memory())
      await server.stop()
    }
  }
}

async function measureRequests(
  builds: readonly Build[],
  note: Note,
  { key, token }: { key: string; token: string },
): Promise<void> {
  const reads = Object.entries(EVERY_READ).map(([row, paths]): Work => {
    const ofToken: Record<string, string> = { Authorization: `Bearer ${token}` }
    const headers = row.includes('document') ? ofToken : { 'X-API-Key': key }
    return [row, ({ port }) => countAnswers({ port, paths, headers, requests: SLICE_REQUESTS })]
  })
  const uploads = Object.entries(UPLOADS).map(([row, upload]): Work => {
    return [row, (server) => uploadAll(server, token, upload)]
  })
  const claims: Work = ['claim and finish', (server) => claimAndFinish(server, token)]
  for (let round = 0; round < ROUNDS; round++) {
    const servers: Server[] = []
    for (const build of inTurn(builds, round))
      servers.push({ build, server: await startProgram(build.dataDir, build.program) })
    for (const work of [...uploads, claims, ...reads]) await measureRow(servers, work, note)
    const paths = Object.values(EVERY_READ).slice(0, 6).flat()
    const headers = { 'X-API-Key': key }
    for (const { build, server } of servers) {
      await countAnswers({ port: server.port, paths, headers, connections: CLIENTS, ms: FULL_LOAD_MS })
      note(`most memory, ${CLIENTS} clients at last, MB`, build, server.peak())
      await server.stop()
    }
  }
}

async function measureRow(servers: readonly Server[], [row, run]: Work, note: Note): Promise<void> {
  const least = servers.map((one) => ({ ...one, processor: Number.POSITIVE_INFINITY, wall: 0, requests: 0 }))
  for (let slice = -WARM_UP_SLICES; slice < SLICES; slice++) {
    for (const one of inTurn(least, slice)) {
      const [processor, started] = [one.server.processorMs(), performance.now()]
      const requests = await run(one.server)
      if (slice < 0) continue
      one.requests += requests
      one.wall += performance.now() - started
      one.processor = Math.min(one.processor, (one.server.processorMs() - processor) / requests)
    }
  }
  for (const { build, processor, wall, requests } of least) note(row, build, processor, wall / requests)
}

/** The builds in another order in each second round. */
function inTurn<T>(builds: readonly T[], round: number): readonly T[] {
  return round % 2 ? builds.toReversed() : builds
}

function formatRow(row: string, before: Measured, after: Measured): string {
  const ratios = before.processor.map((value, round) => value / (after.processor[round] ?? Number.NaN))
  const inOrder = ratios.toSorted((a, b) => a - b)
  const wall = median(before.wall.map((value, round) => value / (after.wall[round] ?? Number.NaN)))
  const format = (value: number | undefined) => (value ?? Number.NaN).toFixed(2)
  const interval = `${format(inOrder[0])} to ${format(inOrder.at(-1))}`
  const verdict = (inOrder.at(-1) ?? 0) < LEAST ? 'MISSED' : ''
  const summary = row.includes('MB') ? median : (values: number[]) => Math.min(...values)
  const [theirs, ours] = [summary(before.processor), summary(after.processor)]
  return `| ${row} | ${theirs.toFixed(3)} | ${ours.toFixed(3)} | ${format(theirs / ours)} | ${interval} | ${format(wall)} | ${verdict} |`
}

/** Fills a data directory by the commands of the other build, since ours reads what that one wrote. */
async function fillDataDir({ dataDir, program }: Build, bank: Bank): Promise<{ key: string; token: string }> {
  const run = (...words: string[]) => runToEnd([program, ...words, '--data-dir', dataDir])
  await syncHistory(bank, dataDir, program)
  await run('company', 'create', '--name', 'Acme', '--code', 'ACME', '--id', '1')
  await run('owner', 'create', '--company', '1', '--name', 'Ana', '--id', '1')
  for (const id of ['1', '2'])
    await run('agent', 'create', '--company', '1', '--name', `Lector ${id}`, '--id', id)
  const allowed = ['documents:POST', 'documents:GET', 'documents:CLAIM'].flatMap((one) => ['--allow', one])
  const token = (await run('token', 'create', 'bench', ...allowed)).trim()
  return { key: (await run('key', 'create', 'bench')).trim(), token }
}

async function countAnswers(order: LoadOrder): Promise<number> {
  const result = await runLoad(order)
  const other = Object.keys(result.statuses).filter((status) => status !== '200')
  if (other.length > 0) throw new Error(`${order.paths[0]} was answered with ${other.join(', ')}`)
  return result.requests
}

/** Claims and finishes documents of the uploads. */
async function claimAndFinish(server: Running, token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const post = async (path: string, body: object) => {
    const url = `http://127.0.0.1:${server.port}/api/v1/documents/${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    if (response.status !== 200) throw new Error(`${path} was answered with ${await response.text()}`)
    return (await response.json()) as { documents?: { id: number; claim_id: string }[] }
  }
  for (let at = 0; at < SLICE_UPLOADS; at++) {
    const [one] = (await post('claim', { agent_id: 1 })).documents ?? []
    if (!one) throw new Error('there is nothing to claim')
    await post(`${one.id}/finish`, { claim_id: one.claim_id, outcome: 'done' })
  }
  return SLICE_UPLOADS
}

/** Sends the requests of an upload, four at once, and returns their number. */
async function uploadAll(
  { port }: Running,
  token: string,
  { requests, documents, agent, content }: Upload,
): Promise<number> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const url = `http://127.0.0.1:${port}/api/v1/documents/create`
  const one = async (at: number) => {
    const files = Array.from({ length: documents }, (_, index) => {
      const base64 = Buffer.from(content(at * documents + index)).toString('base64')
      return { name: `${at}.bin`, mimetype: 'application/octet-stream', base64 }
    })
    const body = JSON.stringify({ company_id: 1, agent_id: agent, owner_id: 1, documents: files })
    const response = await fetch(url, { method: 'POST', headers, body })
    if (response.status !== 200) throw new Error(`an upload was answered with ${await response.text()}`)
    await response.arrayBuffer()
  }
  for (let at = 0; at < requests; at += UPLOADS_AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(UPLOADS_AT_ONCE, requests) }, (_, index) => one(at + index)),
    )
  return requests
}

/** An invoice of 6 KB, each with another clave. */
function invoiceText(at: number): string {
  return INVOICE.replaceAll(/\b506\d{47}\b/g, createClave('FacturaElectronica', at + 1))
}
