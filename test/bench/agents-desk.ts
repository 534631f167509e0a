// Work of an agent's worker with a million documents in the database, over the same with ten thousand. Requests
// follow one another, in turn at two servers.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { hashOfSecret } from '../../src/domain/access/secrets.ts'
import { batch, CREATE, pdf } from '../support/directory.ts'
import { type Figure, median } from './figure.ts'
import { type Running, startProgram } from './process.ts'

const FEW = 10_000
const MANY = 1_000_000
const NEW = 7200
const OTHERS = 19 // agents beside agent 1
const FIRST_OTHER = 102
const TOKEN = 'cbt_bench'
const HEADERS = { authorization: `Bearer ${TOKEN}` }
const ROUNDS = 300
const WARM = 50
const MOST = 1.3
const LIST = '/api/v1/documents'

type Work = (server: Running) => Promise<void>

const WORK: Record<string, Work> = {
  async 'claim and finish a document'(server) {
    const { documents } = await ask<{ documents: { id: number; claim_id: string }[] }>(
      server,
      `${LIST}/claim`,
      {
        agent_id: 1,
      },
    )
    const [one] = documents
    if (!one) throw new Error('there is nothing to claim')
    await ask(server, `${LIST}/${one.id}/finish`, { claim_id: one.claim_id, outcome: 'done' })
  },
  async 'list failed ones of an agent'(server) {
    const { documents } = await ask<{ documents: unknown[] }>(
      server,
      `${LIST}?agent_id=1&state=failed&limit=50`,
    )
    if (documents.length !== 50) throw new Error(`${documents.length} documents`)
  },
  async 'wait for a document'(server) {
    const { documents } = await ask<{ documents: { id: number }[] }>(server, `${LIST}?order=desc&limit=1`)
    const waiting = ask<{ documents: unknown[] }>(
      server,
      `${LIST}?agent_id=1&after=${documents[0]?.id}&wait=50`,
    )
    await ask(server, CREATE, batch(pdf('x')))
    if ((await waiting).documents.length !== 1) throw new Error('it did not come')
  },
}

/** `dataDir` has the directory of the tests. */
export async function measureAgentsDesk(dataDir: string, dir: string): Promise<Figure[]> {
  const [few, many] = [await startDeskServer(FEW, dataDir, dir), await startDeskServer(MANY, dataDir, dir)]
  const figures: Figure[] = []
  for (const [name, work] of Object.entries(WORK)) {
    const ms = { few: [] as number[], many: [] as number[] }
    for (let round = 0; round < WARM + ROUNDS; round++) {
      const of = [await timed(work, few), await timed(work, many)] as const
      if (round < WARM) continue
      ms.few.push(of[0])
      ms.many.push(of[1])
    }
    figures.push({
      work: `${name}, among a million (limit: among ten thousand)`,
      ours: `${median(ms.many).toFixed(2)} ms`,
      limit: `${median(ms.few).toFixed(2)} ms`,
      measured: median(ms.many) / median(ms.few),
      unit: ' times',
      must: { atMost: MOST },
    })
  }
  await Promise.all([few.stop(), many.stop()])
  return figures
}

async function startDeskServer(count: number, from: string, dir: string): Promise<Running> {
  const dataDir = join(dir, `desk-${count}`)
  cpSync(from, dataDir, { recursive: true })
  fill(join(dataDir, 'cambista.db'), count)
  return startProgram(dataDir)
}

/** Agent 1 has one document in twenty. The newest are new; half of its others have failed, and the rest is done. */
function fill(file: string, count: number): void {
  const db = new Sqlite(file)
  db.pragma('synchronous = off')
  db.exec(`
    insert into tokens (name, hash, allow, created_at)
      values ('bench', '${hashOfSecret(TOKEN)}', 'documents:GET documents:POST documents:CLAIM', 'then');
    insert into agents (id, company_id, name, created_at)
      select value, 1, 'agent ' || value, 'then' from json_each('${JSON.stringify(Array.from({ length: OTHERS }, (_, at) => FIRST_OTHER + at))}');
    create temp table numbers as
      with recursive some (n) as (select 1 union all select n + 1 from some where n < ${count}) select n from some;
    insert into attachments (id, name, mimetype, size, sha256, created_at)
      select n, 'a.pdf', 'application/pdf', 1, lower(hex(randomblob(32))), 'then' from numbers;
    insert into documents (id, attachment_id, company_id, agent_id, owner_id, name, created_at, state, attempts)
      select n, n, 1, iif(n % ${OTHERS + 1} = 1, 1, ${FIRST_OTHER} + n % ${OTHERS}), 1, 'a.pdf', 'then',
        iif(n > ${count - NEW}, 'new', iif(n % ${2 * (OTHERS + 1)} = 1, 'failed', 'done')), 1 from numbers;
  `)
  db.close()
}

async function timed(work: Work, server: Running): Promise<number> {
  const start = performance.now()
  await work(server)
  return performance.now() - start
}

async function ask<T>({ port }: Running, path: string, body?: unknown): Promise<T> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: HEADERS, ...init })
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}
