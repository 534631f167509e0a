// A node of 1.0.0 and one of this program over one PostgreSQL and one folder of blobs. Both take uploads, claims,
// mails, syncs and deletions at once. Nothing is lost or doubled, each program reads what the other one wrote, and
// doctor finds nothing. Afterwards 1.0.0 serves alone, and then this program again.
// CAMBISTA_SOAK_SECONDS sets how long they work together.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { addDays, currentDay } from '../../src/values/dates.ts'
import { type Ended, EXECUTABLE, start } from '../e2e/executable.ts'
import { figure } from '../faults/scale.ts'
import { createClave, sampleInvoice } from '../support/documents/invoice-xml.ts'
import { createMail } from '../support/documents/mails.ts'
import { type Receiver, startReceiver } from '../support/hooks/receiver.ts'
import { PASSWORD, startDovecot, USER } from '../support/mail/dovecot.ts'
import { writeSecret } from '../support/mail/mailboxes.ts'
import { createPostgresDatabase } from '../support/postgres/server.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { buildCommit } from './packages.ts'

const RELEASED = 'f89892d672fe88afa9d350e3e5c2f318d229b8bd' // 1.0.0
const SECONDS = Number(process.env.CAMBISTA_SOAK_SECONDS ?? 60)
const START_MS = 120_000
const MAIL_MS = 180_000 // a round a minute, of the node with the lease
const ALLOWED = ['documents:POST', 'documents:GET', 'documents:CLAIM', 'documents:DELETE']
const FORMER = buildCommit(RELEASED)
const PROGRAMS = [FORMER, EXECUTABLE] as const

type Server = { url: string; stop(): Promise<void> }
type Listed = { documents: { id: number; name: string; sha256: string; state: string }[] }
/** Work of the test: SHA-256 of each acknowledged document by id, and ids of those that were deleted. */
type Work = { digests: Map<number, string>; deleted: Set<number>; finished: Set<number>; mails: number }

type Cluster = {
  env: Record<string, string>
  token: string
  receiver: Receiver
  deliver(name: string): Promise<void>
  serve(executable: string): Promise<Server>
  run(executable: string, ...words: string[]): Promise<string>
}

async function openCluster(t: TestContext): Promise<Cluster> {
  const today = currentDay(() => new Date())
  let corrections = 0
  const bank = await startBank({
    today: () => today,
    value: (code, day) =>
      code === '318' && day === addDays(today, -5) ? `49${corrections++ % 9}.5` : undefined,
  })
  t.after(() => bank.close())
  const dovecot = await startDovecot(t)
  const receiver = await startReceiver(t)
  const env = {
    CAMBISTA_DATABASE: await createPostgresDatabase(t),
    CAMBISTA_BLOBS: join(temporaryDirectory(t), 'blobs'),
    CAMBISTA_BLOBS_SHARED: '1',
    CAMBISTA_BCCR_URL: bank.url,
    CAMBISTA_BCCR_PACE: '0',
    CAMBISTA_HOOK_KEY_FILE: writeSecret(t, randomBytes(32).toString('base64')),
    HOME: temporaryDirectory(t),
  }
  const run = async (executable: string, ...words: string[]) => {
    const { code, out, err }: Ended = await start(t, words, { executable, env }).ended()
    assert.equal(code, 0, `${words.join(' ')}: ${err}${out}`)
    return out.trim()
  }
  await run(FORMER, 'database', 'upgrade')
  await run(FORMER, 'sync', '--from', addDays(today, -20), '--to', today)
  await run(FORMER, 'company', 'create', '--name', 'Acme', '--code', 'A', '--id', '1')
  await run(FORMER, 'owner', 'create', '--name', 'Ana', '--company', '1', '--id', '1')
  for (const id of ['1', '2'])
    await run(FORMER, 'agent', 'create', '--name', `Lector ${id}`, '--company', '1', '--id', id)
  const token = await run(FORMER, 'token', 'create', 'erp', ...ALLOWED.flatMap((one) => ['--allow', one]))
  await run(FORMER, 'hook', 'create', '--url', receiver.url, '--event', 'document.created')
  const place = [
    '--host',
    '127.0.0.1',
    '--port',
    `${dovecot.ports.plain}`,
    '--security',
    'none',
    '--user',
    USER,
  ]
  const whom = ['--company', '1', '--agent', '2', '--owner', '1', '--password-file', writeSecret(t, PASSWORD)]
  await run(FORMER, 'mailbox', 'create', 'facturas', ...place, ...whom)
  return {
    ...{ env, token, receiver, run },
    async deliver(name) {
      const part = { type: 'text/plain', disposition: `attachment; filename=${name}`, content: name }
      await dovecot.deliver(createMail([part], { 'Message-ID': `<${name}@a>` }))
    },
    async serve(executable) {
      const server = start(t, ['serve', '--port', '0', '--no-scheduler'], { executable, env })
      const url = await server.says(/listening url=(\S+)/)
      await until(async () => (await fetch(`${url}/readyz`)).status === 200, START_MS)
      return {
        url,
        async stop() {
          assert.equal((await server.ended('SIGTERM')).code, 0)
        },
      }
    },
  }
}

/** Sends a request that must succeed. */
async function send<T>(
  { token }: Cluster,
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`${url}/api/v1/documents${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  assert.equal(response.status, 200, `${method} ${path}: ${text}`)
  return JSON.parse(text || 'null') as T
}

/** Uploads, claims, finishes and deletes until the time is over, each step at a random node. */
async function runClients(
  cluster: Cluster,
  nodes: readonly Server[],
  work: Work,
  untilMs: number,
): Promise<void> {
  const random = createRandom(SEED)
  const at = () => nodes[random.int(0, nodes.length - 1)]?.url ?? ''
  for (let step = work.digests.size; performance.now() < untilMs; step += 1) {
    const content =
      step % 3 === 0
        ? sampleInvoice({ clave: createClave('FacturaElectronica', step + 1) })
        : `%PDF-1.7 ${step}`
    const file = {
      name: `${step}.bin`,
      mimetype: 'application/octet-stream',
      base64: Buffer.from(content).toString('base64'),
    }
    const ids = { company_id: 1, agent_id: 1, owner_id: 1 }
    const { created_documents: created } = await send<{ created_documents: { id: number }[] }>(
      ...([cluster, at(), 'POST', '/create', { ...ids, documents: [file] }] as const),
    )
    for (const { id } of created) work.digests.set(id, createHash('sha256').update(content).digest('hex'))
    if (random.chance(0.6)) {
      const { documents } = await send<{ documents: { id: number; claim_id: string }[] }>(
        ...([cluster, at(), 'POST', '/claim', { agent_id: 1 }] as const),
      )
      for (const { id, claim_id } of documents) {
        assert.ok(!work.finished.has(id), `document ${id} is claimed after its end`)
        await send(cluster, at(), 'POST', `/${id}/finish`, { claim_id, outcome: 'done', note: `nota ${id}` })
        work.finished.add(id)
        if (random.chance(0.2)) {
          await send(cluster, at(), 'DELETE', `/${id}`)
          work.deleted.add(id)
        }
      }
    }
  }
}

async function listAll(cluster: Cluster, { url }: Server): Promise<Listed['documents']> {
  const listed: Listed['documents'] = []
  for (;;) {
    const path = `?order=asc&limit=100&after=${listed.at(-1)?.id ?? 0}`
    const { documents } = await send<Listed>(cluster, url, 'GET', path)
    if (documents.length === 0) return listed
    listed.push(...documents)
  }
}

function mailedNames(listed: Listed['documents']): string[] {
  return listed.map(({ name }) => name).filter((name) => name.endsWith('.txt'))
}

/** Each node lists the documents that are acknowledged and not deleted, with their bytes, and each mail once. */
async function checkAll(cluster: Cluster, nodes: readonly Server[], work: Work): Promise<void> {
  for (const node of nodes) {
    const listed = await listAll(cluster, node)
    const byId = new Map(listed.map((one) => [one.id, one]))
    for (const [id, sha256] of work.digests) {
      assert.equal(byId.get(id)?.sha256, work.deleted.has(id) ? undefined : sha256, `document ${id}`)
      if (work.finished.has(id) && !work.deleted.has(id)) assert.equal(byId.get(id)?.state, 'done')
    }
    const mailed = mailedNames(listed)
    assert.deepEqual([mailed.length, new Set(mailed).size], [work.mails, work.mails])
    assert.equal(listed.length, work.digests.size - work.deleted.size + work.mails)
  }
  const notified = () =>
    new Set(cluster.receiver.received.flatMap(({ body }) => body.data.document_ids as number[]))
  await until(() => [...work.digests.keys()].every((id) => notified().has(id)), MAIL_MS)
}

async function findings(t: TestContext, { env }: Cluster, executable: string): Promise<string[]> {
  const { out } = await start(t, ['doctor', '--json'], { executable, env }).ended()
  const { findings } = JSON.parse(out) as { findings: { check: string; message: string }[] }
  return findings
    .map(({ check, message }) => `${check}: ${message}`)
    .filter((one) => !one.includes('fsync is off'))
}

test(`a node of 1.0.0 and one of this program work together for ${SECONDS} s`, async (t) => {
  figure(t, 'seed', SEED)
  const cluster = await openCluster(t)
  const today = currentDay(() => new Date())
  const work: Work = { digests: new Map(), deleted: new Set(), finished: new Set(), mails: 0 }
  const deliver = async (count: number) => {
    for (let at = 0; at < count; at += 1) await cluster.deliver(`${++work.mails}.txt`)
  }
  const mailsAreTaken = async (node: Server) => mailedNames(await listAll(cluster, node)).length >= work.mails
  const older = await cluster.serve(FORMER)
  await runClients(cluster, [older], work, performance.now() + 3000)
  const newer = await cluster.serve(EXECUTABLE)
  const nodes = [older, newer]
  const end = performance.now() + SECONDS * 1000
  const sync = async () => {
    for (let round = 0; performance.now() < end; round += 1) {
      await cluster.run(PROGRAMS[round % 2] ?? FORMER, 'sync', '--from', addDays(today, -8), '--to', today)
      await deliver(5)
    }
  }
  await Promise.all([runClients(cluster, nodes, work, end), sync()])
  await until(() => mailsAreTaken(newer), MAIL_MS)
  await checkAll(cluster, nodes, work)
  assert.deepEqual(await findings(t, cluster, EXECUTABLE), [])
  assert.deepEqual(await findings(t, cluster, FORMER), [])

  await newer.stop()
  await runClients(cluster, [older], work, performance.now() + 3000)
  await deliver(3)
  await until(() => mailsAreTaken(older), MAIL_MS)
  await checkAll(cluster, [older], work)
  await older.stop()

  const alone = await cluster.serve(EXECUTABLE)
  await runClients(cluster, [alone], work, performance.now() + 3000)
  await deliver(3)
  await until(() => mailsAreTaken(alone), MAIL_MS)
  await checkAll(cluster, [alone], work)
  assert.deepEqual(await findings(t, cluster, EXECUTABLE), [])
  await alone.stop()
  figure(t, 'documents, of them deleted', `${work.digests.size}, ${work.deleted.size}`)
  figure(t, 'mails', work.mails)
})
