// Uploads to a node over PostgreSQL, with contents in a folder that nodes share, over the same to a server over SQLite: in
// turn, with as many flushes to the disk. The client, both servers and the database have one machine, so that what counts
// is how the rates stand to each other.

import { cpSync, existsSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { batch, CREATE, fillTables, pdf, TOKENS } from '../../support/directory.ts'
import { NATIVE, startPostgres } from '../../support/postgres/server.ts'
import { type Figure, median } from '../figure.ts'
import { PROGRAM, type Running, startServer } from '../process.ts'

const AT_ONCE = 16
const SIZE = 1500
const ROUNDS = 5
const KINDS = [
  { name: 'one document', documents: 1, uploads: 400, atLeast: 0.4 },
  { name: 'ten documents', documents: 10, uploads: 80, atLeast: 0.5 },
] as const

/** `dataDir` has the directory of the tests; none where there is no PostgreSQL for this machine. */
export async function measureNodes(dataDir: string, dir: string, launcher = [PROGRAM]): Promise<Figure[]> {
  if (!existsSync(NATIVE)) return []
  // It ends with this process.
  const database = await startPostgres(['fsync=on', 'full_page_writes=on'])
  const { db, close } = await openPostgres(database.url)
  await fillTables(db)
  await close()
  const own = join(dir, 'nodes-sqlite')
  cpSync(dataDir, own, { recursive: true })
  const words = ['serve', '--no-scheduler', '--min-free', '0', '--log-level', 'warn']
  const start = (more: string[]) =>
    startServer((port) => [...launcher, ...words, ...more, '--port', port], '/readyz')
  const sqlite = await start(['--data-dir', own])
  const shared = ['--database', database.url, '--blobs', join(dir, 'nodes-blobs'), '--blobs-shared']
  const node = await start(shared)
  const figures: Figure[] = []
  for (const { name, documents, uploads, atLeast } of KINDS) {
    const rates = { node: [] as number[], sqlite: [] as number[] }
    for (let round = 0; round <= ROUNDS; round++) {
      const of = {
        sqlite: await rateOf(sqlite, documents, uploads),
        node: await rateOf(node, documents, uploads),
      }
      if (round === 0) continue // to warm up
      rates.sqlite.push(of.sqlite)
      rates.node.push(of.node)
    }
    const shown = (values: number[]) => `${median(values).toFixed(0)}/s`
    figures.push({
      work: `uploads of ${name} to a node over PostgreSQL (limit: over SQLite)`,
      ours: shown(rates.node),
      limit: shown(rates.sqlite),
      measured: median(rates.node.map((rate, round) => rate / (rates.sqlite[round] ?? 0))),
      unit: '',
      must: { atLeast },
    })
  }
  await Promise.all([sqlite.stop(), node.stop()])

  return figures
}

let made = 0

/** Uploads a second, so many at once. */
async function rateOf(server: Running, documents: number, uploads: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const bodies = Array.from({ length: uploads }, () =>
    JSON.stringify(
      batch(...Array.from({ length: documents }, () => pdf(String(made++).padEnd(SIZE, ' lorem')))),
    ),
  )
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let body = bodies.pop(); body !== undefined; body = bodies.pop())
        await send(server.port, body, agent)
    }),
  )
  const rate = (uploads * 1000) / (performance.now() - begun)
  agent.destroy()
  return rate
}

function send(port: number, body: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKENS.all}`, 'content-length': body.length }
    const sent = request(
      { port, host: '127.0.0.1', method: 'POST', path: CREATE, agent, headers },
      (answer) => {
        answer.resume().on('end', () => {
          if (answer.statusCode === 200) resolve()
          else reject(new Error(`an upload was answered with ${answer.statusCode}`))
        })
      },
    )
    sent.on('error', reject).end(body)
  })
}
