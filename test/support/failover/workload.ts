// Clients of several nodes while their database fails over, and the judge at their end. Uploads, claims, readers, rates
// and syncs are those of the soak (../soak). Asynchronous replication may lose acknowledged commits. Faults are an id
// for two documents, a strong ETag of two bodies, and a reader that missed a document.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { createPostgresDb } from '../../../src/store/postgres/open-postgres.ts'
import { figure } from '../../faults/scale.ts'
import { fillTables, TOKENS } from '../directory.ts'
import { type Node, openCluster } from '../postgres/nodes.ts'
import { queryOnce } from '../postgres/server.ts'
import { createRandom } from '../rates/random-bank.ts'
import { SEED } from '../seed.ts'
import { checkAll, type LostUpload } from '../soak/check.ts'
import { soakDay, startClients, startSoakBank } from '../soak/clients.ts'
import { watchNode } from '../soak/faults.ts'
import { createBookkeeping, STALE_FOR_MS } from '../soak/rates.ts'
import { createSoak, fault, type Soak } from '../soak/world.ts'
import { until } from '../terminal.ts'

export type Workload = {
  soak: Soak
  /** Milliseconds until an upload is acknowledged, of requests that are sent four times a second. */
  recovery(): Promise<number>
  /** Milliseconds until the nodes have renewed an epoch. */
  renewal(epoch: string): Promise<number>
  epoch(): Promise<string>
  /** Restarts the nodes after `database restored`, as an operator does whose database went back for good. */
  restoreDatabase(): Promise<void>
  /** Ends clients and nodes, and judges. Returns the lost uploads. */
  judge(): Promise<LostUpload[]>
  /** Hashes of the contents of all documents. */
  storedHashes(): Promise<Set<string>>
  /** Hashes of the lost contents that `doctor` lists. */
  listLostContents(): Promise<Set<string>>
}

const COUNTS = { uploaders: 4, workers: 3, ratesReaders: 2 }
const UPLOAD = '/api/v1/documents?company_id=2&agent_id=3&owner_id=3&name='
const RECOVERY_MS = 120_000
const LOG_CHARACTERS = 5000

/**
 * Starts nodes over the address of a database, and clients.
 * @param options `mayLose`: the database may lose acknowledged commits
 */
export async function startWorkload(
  t: TestContext,
  url: string,
  { nodes: count = 2, mayLose = false }: { nodes?: number; mayLose?: boolean },
): Promise<Workload> {
  figure(t, 'seed', SEED)
  const day = soakDay()
  const nodes: Node[] = []
  const soak = createSoak(createRandom(SEED), () => nodes.map((node) => node.url))
  soak.mayLose = mayLose
  const books = createBookkeeping(day)
  const bank = await startSoakBank(books)
  t.after(() => bank.close())
  const cluster = await openCluster(t, url)
  cluster.env.CAMBISTA_BCCR_URL = bank.url
  let isEnding = false
  let isRestarting = false
  const start = async () => {
    const node = await cluster.start('--no-scheduler', '--stale-for', `${STALE_FOR_MS / 1000}s`)
    watchNode(soak, node, () => isEnding || isRestarting)
    nodes.push(node)
  }
  await start() // makes the tables
  const db = createPostgresDb(parseAddress(url), { size: 2, answerMs: 10_000 })
  t.after(() => db.destroy())
  await fillTables(db)
  await cluster.command('sync', '--from', day, '--to', day)
  const { key } = JSON.parse((await cluster.command('key', 'create', 'reader', '--json')).out) as {
    key: string
  }
  while (nodes.length < count) await start()
  const sync = (...words: string[]) => cluster.program('sync', ...words)
  const clients = startClients(soak, { books, key, sync, counts: COUNTS })
  const { uploads, sending, reading, working } = clients
  t.after(() => {
    soak.isOver = true
    soak.isAborted = true
    clients.drain()
  })
  for (const client of [...sending, ...working, ...reading])
    client.catch((error: unknown) => fault(soak, error instanceof Error ? `${error.stack}` : String(error)))
  const readEpoch = async () => (await db.selectFrom('meta').select('epoch').executeTakeFirstOrThrow()).epoch
  /** The pool, and a pooler, may still have connections to the former primary. */
  const epoch = async () => {
    let current: string | undefined
    await until(async () => {
      current = await readEpoch().catch(() => undefined)
      return current !== undefined
    }, RECOVERY_MS)
    return current ?? assert.fail('no epoch')
  }
  let probes = 0
  return {
    soak,
    epoch,
    async recovery() {
      const start = performance.now()
      await until(async () => {
        await wait(250)
        const name = `probe-${probes++}-0.bin`
        uploads.set(name, { names: [name], hashes: [], ids: undefined, deleted: 'maybe', isOfCompany2: true })
        return await uploadProbe(nodes[probes % count]?.url ?? '', name)
      }, RECOVERY_MS).catch(async (error: unknown) => {
        throw new Error((await Promise.all(nodes.map(describeNode))).join('\n'), { cause: error })
      })
      return Math.round(performance.now() - start)
    },
    async renewal(former) {
      const start = performance.now()
      await until(async () => (await readEpoch().catch(() => former)) !== former, RECOVERY_MS)
      return Math.round(performance.now() - start)
    },
    async restoreDatabase() {
      isRestarting = true
      for (const { child } of nodes) child.kill('SIGTERM')
      for (const node of nodes) await node.waitForExit()
      // A sync may run, and a pooler leaves sessions open.
      await until(async () => {
        const command = cluster.program('database', 'restored')
        if ((await command.waitForExit()) === 0) return true
        const [statement] = /select pg_terminate_backend.+$/m.exec(command.printed.err) ?? []
        if (statement) await queryOnce(url, statement).catch(() => {}) // may end its own session
        return false
      })
      const former = nodes.length
      while (nodes.length < former + count) await start()
      nodes.splice(0, former)
      isRestarting = false
    },
    async judge() {
      soak.isOver = true
      await Promise.allSettled(sending)
      await until(async () =>
        (await Promise.all(nodes.map((node) => fetch(`${node.url}/readyz`)))).every(({ ok }) => ok),
      )
      await wait(6000) // an upload whose answer was cut off may still be under way
      soak.isSettled = true
      await Promise.allSettled(reading)
      clients.drain()
      await Promise.allSettled(working)
      const lostUploads = await checkAll(soak, db, clients)
      isEnding = true
      for (const { child } of nodes) child.kill('SIGTERM')
      for (const node of nodes) assert.equal(await node.waitForExit(), 0)
      for (const [name, times] of [...soak.counts].sort()) figure(t, name, times)
      return lostUploads
    },
    async storedHashes() {
      const rows = await db.selectFrom('attachments').select('sha256').execute()
      return new Set(rows.map(({ sha256 }) => sha256))
    },
    async listLostContents() {
      const doctor = cluster.program('doctor')
      await doctor.waitForExit()
      const lines = doctor.printed.out.matchAll(/content (\w{64}) of \d+ bytes, stored .+ has no document/g)
      return new Set([...lines].map(([, hash]) => hash as string))
    },
  }
}

/** Readiness and newest log lines of a node that acknowledges no upload. */
async function describeNode({ url, printed }: Node): Promise<string> {
  const readiness = await fetch(`${url}/readyz?verbose`).then((answer) => answer.text(), String)
  return `${url}: ${readiness}\n${printed.err.slice(-LOG_CHARACTERS)}`
}

/** Uploads a document; true if it was acknowledged within a second. */
async function uploadProbe(url: string, name: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${TOKENS.all}`, 'content-type': 'application/octet-stream' }
  const signal = AbortSignal.timeout(1000)
  return fetch(`${url}${UPLOAD}${name}`, { method: 'POST', headers, body: name, signal }).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.status === 200
    },
    () => false,
  )
}
