// Work of an agent's worker with a million documents in the database, over the same with ten thousand. Requests
// follow one another, in turn at two servers. Two more rows are of the page among a million. Tabs read the figures of
// the queue, and a search goes through all names beside /healthz.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { hashOfSecret } from '../../src/domain/access/secrets.ts'
import { batch, CREATE, pdf } from '../support/directory.ts'
import { type Figure, median } from './figure.ts'
import type { Latencies, LatencyOrder } from './latency.ts'
import { type Running, script, startProgram, startScript } from './process.ts'

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
const TABS = 100
const TAB_MS = 5000 // as the page polls
const TABS_FOR_MS = 20_000
const MOST_OF_A_CORE = 0.02
const SEARCHES = 9
const MOST_MS = 30

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
  figures.push(await measureTabs(many), await measureSearch(many))
  await Promise.all([few.stop(), many.stop()])
  return figures
}

/** Processor time of the server for tabs that read the figures of the queue. */
async function measureTabs(server: Running): Promise<Figure> {
  const summary = () => ask<{ stored: number }>(server, `${LIST}/summary`)
  while ((await summary()).stored < MANY) await wait(1000) // the documents are counted after the start
  const order = { path: `${LIST}/summary`, connections: TABS, pauseMs: TAB_MS, headers: HEADERS }
  const tabs = startLatencies({ ...order, port: server.port })
  await wait(TAB_MS)
  const before = server.processorMs()
  await wait(TABS_FOR_MS)
  const share = (server.processorMs() - before) / TABS_FOR_MS
  const { median: medianMs, longest } = await tabs.stop()
  return {
    work: `${TABS} tabs read the queue each ${TAB_MS / 1000} s, among a million`,
    ours: `${(share * 100).toFixed(1)} % of a core, ${medianMs.toFixed(1)} ms, longest ${longest.toFixed(0)} ms`,
    limit: 'a core',
    measured: share,
    unit: '',
    must: { atMost: MOST_OF_A_CORE },
  }
}

/** Median, over searches through all names, of the longest answer of /healthz. */
async function measureSearch(server: Running): Promise<Figure> {
  const longest: number[] = []
  const durations: number[] = []
  for (let round = 0; round < SEARCHES; round++) {
    const probe = startLatencies({ path: '/healthz', connections: 1, pauseMs: 2, port: server.port })
    await wait(1000)
    const start = performance.now()
    let before: number | null = MANY * 2
    while (before !== null) {
      const path = `${LIST}?q=nothing&order=desc&limit=50&before=${before}`
      const page: { next_before: number | null; has_more: boolean } = await ask(server, path)
      before = page.has_more ? page.next_before : null
    }
    durations.push(performance.now() - start)
    longest.push((await probe.stop()).longest)
  }
  return {
    work: `/healthz beside a search through the names of a million`,
    ours: `longest ${median(longest).toFixed(0)} ms`,
    limit: `the search: ${median(durations).toFixed(0)} ms`,
    measured: median(longest),
    unit: ' ms',
    must: { atMost: MOST_MS },
  }
}

function startLatencies(order: LatencyOrder) {
  const load = startScript(script('latency.ts', JSON.stringify(order)))
  return { stop: async () => JSON.parse((await load.stop()).trim()) as Latencies }
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
    insert into documents (id, attachment_id, company_id, agent_id, owner_id, name, created_at, state, attempts, name_folded)
      select n, n, 1, iif(n % ${OTHERS + 1} = 1, 1, ${FIRST_OTHER} + n % ${OTHERS}), 1, 'a.pdf', 'then',
        iif(n > ${count - NEW}, 'new', iif(n % ${2 * (OTHERS + 1)} = 1, 'failed', 'done')), 1, 'a.pdf' from numbers;
    insert into document_counts (agent_id) values (0);
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
