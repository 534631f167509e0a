// Two nodes as processes with parallel requests. A key is stored once, and an ETag has one text on both nodes.
// Readers that page and wait miss nothing beside uploads.

import '../../support/postgres/on-postgres.ts'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { inParallel } from '../../../src/store/blobs/parallel.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { batch, CREATE, fillDatabase, pdf, TOKENS } from '../../support/directory.ts'
import { type Cluster, type Node, openCluster } from '../../support/postgres/nodes.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { until } from '../../support/terminal.ts'

const KEYS = scaled({ short: 60, long: 1000 })
const UPLOADS = scaled({ short: 300, long: 5000 })
const UPLOADS_MS = scaled({ short: 2000, long: 30_000 })
const READS = scaled({ short: 300, long: 10_000 })
const SYNCS = scaled({ short: 2, long: 10 })
const UPLOADERS = 16
const HEADERS = { authorization: `Bearer ${TOKENS.all}` }

type Answer = { status: number; retryAfter: string | null; text: string }
type Listed = { documents: { id: number }[] }
type Created = { created_documents: { id: number }[] }

let cluster: Cluster
let nodes: readonly [Node, Node]
before(async (t) => {
  cluster = await openCluster(t as TestContext)
  await fillDatabase(cluster.dataDir)
  nodes = await Promise.all([cluster.start(), cluster.start()])
  for (const { url } of nodes) {
    await until(async () => (await fetch(`${url}/api/v1/documents`, { headers: HEADERS })).status === 200)
  }
})

test(`${KEYS} keys at both nodes are stored once, with equal answers`, async (t) => {
  const busySeconds: number[] = []
  const ids = new Set<number>()
  await inParallel([...Array(KEYS).keys()], 8, async (at) => {
    const send = async (node: Node): Promise<Answer> => {
      const began = performance.now()
      const answer = await create(node.url, batch(pdf(`of key ${at}`)), `key ${at}`)
      if (answer.status !== 503) return answer
      assert.equal(answer.retryAfter, '5', answer.text) // busy after seconds of retries, on a slow machine
      busySeconds.push(Math.round((performance.now() - began) / 100) / 10)
      await wait(500)
      return send(node)
    }
    const [one, other] = await Promise.all([send(nodes[0]), send(nodes[1])])
    assert.equal(one.status, 200, one.text)
    assert.deepEqual(one, other)
    const [made] = (JSON.parse(one.text) as Created).created_documents
    ids.add(made?.id ?? 0)
  })
  figure(t, 'keys with the same 200 of both nodes', ids.size)
  figure(t, 'answers that were busy, each after seconds', `${busySeconds.length}: ${busySeconds.join(' ')}`)
  const rows = await cluster.db.selectFrom('documents').select('id').orderBy('id').execute()
  assert.deepEqual(
    rows.map(({ id }) => id),
    [...ids].sort((one, two) => one - two),
  )
  assert.equal(rows.length, KEYS)
})

test('a key that was busy at both nodes is stored once when it is repeated', async () => {
  const send = () => Promise.all(nodes.map(({ url }) => create(url, batch(pdf('again')), 'again')))
  let answers: Answer[] = []
  await cluster.db.transaction().execute(async (trx) => {
    await trx.selectFrom('companies').select('id').where('id', '=', 1).forUpdate().execute()
    let isAnswered = false
    const pending = send().finally(() => {
      isAnswered = true
    })
    // PostgreSQL ends the session of an idle transaction after seconds.
    while (!isAnswered) await Promise.all([trx.selectFrom('meta').select('epoch').execute(), wait(100)])
    answers = await pending
  })
  for (const { status, retryAfter, text } of answers) assert.deepEqual([status, retryAfter], [503, '5'], text)
  const [one, other] = await send()
  assert.ok(one)
  assert.equal(one.status, 200, one.text)
  assert.deepEqual(one, other)
  assert.deepEqual((await send())[0], one)
})

test(`readers who page and wait beside ${UPLOADERS} uploaders miss nothing, and see nothing twice`, async (t) => {
  const { id: newest } = await cluster.db
    .selectFrom('documents')
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirstOrThrow()
  const createdDocuments: { id: number; company: number }[] = []
  const endMs = performance.now() + UPLOADS_MS
  let hasEnded = false
  const uploading = Array.from({ length: UPLOADERS }, async (_, uploader) => {
    const [company_id, agent_id] = uploader % 2 ? [1, 1] : [2, 3]
    for (let at = 0; createdDocuments.length < UPLOADS || performance.now() < endMs; at++) {
      const documents = Array.from({ length: 10 }, (_, of) => pdf(`${uploader} ${at} ${of}`))
      const body = { ...batch(...documents), company_id, agent_id, owner_id: 3 }
      const { status, text } = await create(pickNode(uploader + at).url, body)
      if (status === 503) continue
      assert.equal(status, 200, text)
      const { created_documents: created } = JSON.parse(text) as Created
      createdDocuments.push(...created.map(({ id }) => ({ id, company: company_id ?? 0 })))
    }
  })
  const uploads = Promise.all(uploading).finally(() => {
    hasEnded = true
  })
  const readAll = async (query: string) => {
    const readIds: number[] = []
    for (let at = 0, isLast = false; !isLast; at++) {
      const isEnd = hasEnded
      const after = readIds.at(-1) ?? newest ?? 0
      const path = `/api/v1/documents?limit=200&after=${after}${query}${isEnd ? '' : '&wait=2'}`
      const answer = await fetch(pickNode(at).url + path, { headers: HEADERS })
      const text = await answer.text()
      assert.equal(answer.status, 200, text)
      const { documents } = JSON.parse(text) as Listed
      readIds.push(...documents.map(({ id }) => id))
      isLast = isEnd && documents.length === 0
    }
    return readIds
  }
  const [ofCompany, ofAgent, ofAll] = await Promise.all([
    readAll('&company_id=1'),
    readAll('&agent_id=3'),
    readAll(''),
    uploads,
  ])
  const ids = (of?: number) =>
    createdDocuments
      .filter(({ company }) => of === undefined || company === of)
      .map(({ id }) => id)
      .sort((one, two) => one - two)
  figure(t, 'documents', createdDocuments.length)
  assert.ok(createdDocuments.length >= UPLOADS)
  assert.deepEqual(ofCompany, ids(1))
  assert.deepEqual(ofAgent, ids(2))
  assert.deepEqual(ofAll, ids())
})

test(`${READS} reads of either node beside syncs: a tag is that of one text`, async (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const headers = { 'x-api-key': (await cluster.command('key', 'create', 'reader')).out.trim() }
  const sync = (year: number) => cluster.program('sync', '--from', `${year}-01-01`, '--to', `${year}-12-31`)
  assert.equal(await sync(2025).waitForExit(), 0)
  const paths = [
    '/api/v1/series',
    '/api/v1/rates/latest',
    '/api/v1/rates?on=2025-06-03',
    '/api/v1/series/1/history',
    '/api/v1/history?base=EUR&quote=CRC',
  ]
  for (const { url } of nodes) {
    await until(async () => (await fetch(`${url}/api/v1/rates/latest`, { headers })).status === 200)
  }
  const texts = new Map<string, string>()
  let [reads, syncs, isOver] = [0, 0, false]
  const reading = Array.from({ length: 6 }, async () => {
    while (reads < READS || syncs < SYNCS) {
      const path = paths[random.int(0, paths.length - 1)] as string
      const answer = await fetch(pickNode(random.int(0, 1)).url + path, { headers })
      const body = Buffer.from(await answer.arrayBuffer())
      assert.equal(answer.status, 200, `${path}: ${body}`)
      reads += 1
      const tag = answer.headers.get('etag')
      assert.ok(tag, path)
      const hash = createHash('sha256').update(body).digest('hex')
      assert.equal(texts.get(`${path} ${tag}`) ?? hash, hash, `${path} ${tag} has two texts`)
      texts.set(`${path} ${tag}`, hash)
    }
  })
  const allRead = Promise.all(reading).finally(() => {
    isOver = true
  })
  const syncing = (async () => {
    for (; !isOver; syncs++) assert.equal(await sync(2024 - syncs).waitForExit(), 0)
  })()
  await Promise.all([allRead, syncing])
  figure(t, 'reads, different tags, syncs', `${reads} ${texts.size} ${syncs}`)
  assert.ok(texts.size > paths.length, 'rates changed meanwhile')
})

function pickNode(at: number): Node {
  return nodes[at % 2] ?? nodes[0]
}

async function create(url: string, body: object, key?: string): Promise<Answer> {
  const headers = {
    ...{ ...HEADERS, 'content-type': 'application/json' },
    ...(key !== undefined && { 'idempotency-key': key }),
  }
  const answer = await fetch(url + CREATE, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() }
}
