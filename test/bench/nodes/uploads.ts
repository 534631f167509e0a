// Uploads of small documents to nodes over PostgreSQL, over the same to a server over SQLite.

import { Agent, request } from 'node:http'
import { batch, CREATE, pdf, TOKENS } from '../../support/directory.ts'
import type { Figure } from '../figure.ts'
import type { Running } from '../process.ts'
import { besides, type Servers } from './nodes.ts'

const AT_ONCE = 16
const SIZE = 1500
const ROUNDS = 5
const KINDS = [
  { name: 'one document', documents: 1, uploads: 400, atLeast: { folder: 0.8, bucket: 0.25 } },
  { name: 'ten documents', documents: 10, uploads: 80, atLeast: { folder: 0.8, bucket: undefined } },
] as const
const PLACES = [
  { place: 'folder', name: 'a shared folder' },
  { place: 'bucket', name: 'the stand-in for a bucket' },
] as const

export async function measureUploads(servers: Servers): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { name, documents, uploads, atLeast } of KINDS) {
    const rounds = []
    for (let round = 0; round <= ROUNDS; round++) {
      rounds.push({
        sqlite: await uploadsPerSecond([servers.sqlite], documents, uploads),
        folder: await uploadsPerSecond([servers.folder], documents, uploads),
        bucket: await uploadsPerSecond([servers.bucket], documents, uploads),
      })
    }
    const warm = rounds.slice(1)
    for (const { place, name: placeName } of PLACES) {
      const work = `uploads of ${name}, PostgreSQL and ${placeName} (limit: SQLite)`
      const least = atLeast[place]
      const must = least === undefined ? undefined : { atLeast: least }
      const pairs = warm.map((round) => ({ node: round[place], limit: round.sqlite }))
      figures.push(besides({ work, must, shown: (rate) => `${rate.toFixed(0)}/s` }, pairs))
    }
  }
  return figures
}

let documentCount = 0

/** Returns the uploads a second with a number of parallel requests, which the servers share. */
export async function uploadsPerSecond(
  servers: readonly Running[],
  documents: number,
  uploads: number,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const ports = servers.map(({ port }) => port)
  const bodies = Array.from({ length: uploads }, () =>
    JSON.stringify(
      batch(...Array.from({ length: documents }, () => pdf(String(documentCount++).padEnd(SIZE, ' lorem')))),
    ),
  )
  const start = performance.now()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, client) => {
      const port = ports[client % ports.length] ?? 0
      for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) await send(port, body, agent)
    }),
  )
  const rate = (uploads * 1000) / (performance.now() - start)
  agent.destroy()
  return rate
}

function send(port: number, body: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKENS.all}`, 'content-length': body.length }
    const upload = request(
      { port, host: '127.0.0.1', method: 'POST', path: CREATE, agent, headers },
      (answer) => {
        answer.resume().on('end', () => {
          if (answer.statusCode === 200) resolve()
          else reject(new Error(`an upload was answered with ${answer.statusCode}`))
        })
      },
    )
    upload.on('error', reject).end(body)
  })
}
