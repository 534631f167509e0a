// Uploads to several nodes over one PostgreSQL: the order of documents, and the result of uploads whose commit was
// cut off. Locks protect their agent, company and quota.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../src/domain/access/secrets.ts'
import { findTokenByName, insertToken, revokeToken } from '../../src/store/access/tokens.ts'
import { updateAgent } from '../../src/store/directory/agents.ts'
import { lockForUpdate } from '../../src/store/directory/parties.ts'
import { atomically, engineSql } from '../../src/store/engine.ts'
import { queryOnce } from '../support/postgres/server.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp } = await import('../support/app.ts')
const { AT, batch, countWaits, CREATE, fillDirectory, pdf, post, read, TOKENS, tokenName } = await import(
  '../support/directory.ts'
)
const { startNodeBehindProxy } = await import('../support/postgres/behind-proxy.ts')
const { openNode, postgresAddress } = await import('../support/postgres/database.ts')
const { until } = await import('../support/terminal.ts')
const { temporaryDirectory } = await import('../support/temporary.ts')

type TestApp = Awaited<ReturnType<typeof startTestApp>>
const [KEYS, UPLOADS] = process.env.CAMBISTA_TORTURE === 'long' ? [1000, 100] : [100, 8]

type Listed = { documents: { id: number }[] }
type Created = { created_documents: { id: number }[] }

test('a transaction gets ids of documents once the one before it has ended', async (t) => {
  const url = await postgresAddress(temporaryDirectory(t))
  const [{ db: one }, { db: other }] = [await openNode(t, url), await openNode(t, url)]
  const { allocateIds: newIds } = engineSql(one)
  const finishOrder: string[] = []
  const first = await one.startTransaction().execute()
  const before = await newIds(first, 2)
  const second = atomically(other, (trx) => newIds(trx, 2)).then((ids) => {
    finishOrder.push('second')
    return ids
  })
  await until(async () => (await queryOnce(url, WAITING)).length > 0)
  assert.deepEqual(await newIds(first, 1), [3], 'what waits has taken none')
  finishOrder.push('first')
  await first.commit().execute()
  assert.deepEqual(
    [before, await second],
    [
      [1, 2],
      [4, 5],
    ],
  )
  assert.deepEqual(finishOrder, ['first', 'second'])
})

test('an upload whose commit was cut off is answered by its true result', async (t) => {
  const { node, url, proxy } = await startNodeBehindProxy(t)
  const countDocuments = async () =>
    Number((await queryOnce(url, 'select count(*)::int as n from documents'))[0]?.n)
  const cutOnce = (fate: 'cut' | 'lose') => {
    let uploading: number | undefined // else it is the transaction of another task
    proxy.decide((text, connection) => {
      if (text !== 'commit' || connection !== uploading) {
        if (text.startsWith('insert into "documents"')) uploading = connection
        return 'pass'
      }
      proxy.decide(() => 'pass')
      return fate
    })
  }
  cutOnce('lose') // the server stored it
  const there = await post(node, CREATE, batch(pdf('one'), pdf('two')))
  assert.equal(there.status, 200, await there.clone().text())
  const { created_documents: created } = (await there.json()) as Created
  assert.equal(await countDocuments(), 2)
  const content = await read(node, `/api/v1/documents/${created[0]?.id}/content`)
  assert.equal(await content.text(), 'one')

  cutOnce('cut') // the server did not
  const not = await post(node, CREATE, batch(pdf('three')), { 'idempotency-key': 'three' })
  assert.equal(not.status, 503, await not.text())
  assert.equal(await countDocuments(), 2)
  const again = await post(node, CREATE, batch(pdf('three')), { 'idempotency-key': 'three' })
  assert.equal(again.status, 200, await again.text())
  assert.equal(await countDocuments(), 3)
})

test('waiting uploads do not delay reads and revocations', async (t) => {
  const { node, url } = await oneNode(t)
  const { db } = await openNode(t, url)
  /** Returns the number of uploads that were answered before the revocation had its effect. */
  const readBesideUploads = async (secret: string) => {
    const first = await db.startTransaction().execute()
    await engineSql(first).allocateIds(first, 1)
    const statuses: number[] = []
    const uploads = Array.from({ length: 10 }, async (_, at) => {
      statuses.push((await post(node, CREATE, batch(pdf(`${at}`)))).status)
    })
    // Two groups wait in the database, and further uploads in the node.
    await until(async () => statuses.length > 0 || (await countLockWaits(url)) >= 2)
    const headers = { authorization: `Bearer ${secret}` }
    assert.equal((await read(node, '/api/v1/documents', headers)).status, 200)
    const token = await findTokenByName(db, tokenName(secret))
    await revokeToken(db, token?.id ?? 0, AT)
    await until(async () => (await read(node, '/api/v1/documents', headers)).status === 401)
    const answered = statuses.length
    const end = first.rollback().execute()
    await (answered === 0 ? end : end.catch(() => {})) // PostgreSQL may have ended it
    await Promise.all(uploads)
    return answered
  }
  // Uploads wait for five seconds at most, in which the machine may stall.
  const counts: number[] = []
  for (const secret of [TOKENS.read, TOKENS.work, TOKENS.other, TOKENS.ofCompany]) {
    counts.push(await readBesideUploads(secret))
    if (counts.at(-1) === 0) break
  }
  assert.equal(counts.at(-1), 0, `uploads that were answered meanwhile: ${counts}`)
})

test('an upload of unknown result is 503, preserves its blob, and is not stored twice', async (t) => {
  const { node, url, proxy } = await startNodeBehindProxy(t)
  const send = async (text: string, headers?: Record<string, string>) => {
    const answer = await post(node, CREATE, batch(pdf(text)), headers)
    return { status: answer.status, body: await answer.text() }
  }
  const unlucky = async (fate: 'cut' | 'lose', text: string, headers?: Record<string, string>) => {
    const isCut = (text: string) => text === 'commit' || text.startsWith('select 1 from document_order')
    proxy.decide((text) => (isCut(text) ? fate : 'pass'))
    const answer = await send(text, headers)
    proxy.decide(() => 'pass')
    return answer
  }
  assert.equal((await unlucky('lose', 'one')).status, 503, 'it is kept, and that could not be seen')
  assert.equal(await (await read(node, '/api/v1/documents/1/content')).text(), 'one')

  const key = (name: string) => ({ 'idempotency-key': name })
  assert.equal((await unlucky('cut', 'two', key('two'))).status, 503)
  const two = await send('two', key('two'))
  assert.equal(two.status, 200)
  const three = await unlucky('lose', 'three', key('three'))
  assert.equal(three.status, 200, 'its key says that it is kept')
  assert.deepEqual(await send('three', key('three')), three)
  assert.equal((await queryOnce(url, 'select id from documents')).length, 3)
})

test('an agent moves before the uploads for it, or behind them, and never under one', async (t) => {
  const { node, url } = await oneNode(t)
  const { db } = await openNode(t, url)
  const agent = { id: 1, name: 'Lector', description: '', active: true }
  for (let at = 0; at < 10; at++) {
    const companyId = (at % 2) + 1
    let answers = 0
    const uploads = Array.from({ length: 4 }, (_, of) =>
      post(node, CREATE, { ...batch(pdf(`${at} ${of}`)), company_id: 3 - companyId, owner_id: 3 }).finally(
        () => answers++,
      ),
    )
    const move = atomically(db, async (trx) => {
      await lockForUpdate(trx, 'agents', [1])
      await until(async () => answers > 0 || (await countLockWaits(url)) > 0)
      await updateAgent(trx, { ...agent, company_id: companyId })
      const [newest] = await trx.selectFrom('documents').select('id').orderBy('id', 'desc').limit(1).execute()
      return newest?.id ?? 0
    })
    const statuses = (await Promise.all(uploads)).map(({ status }) => status)
    assert.ok(
      statuses.every((status) => status === 200 || status === 404),
      `${statuses}`,
    )
    const before = await move
    const later = await queryOnce(
      url,
      `select 1 from documents where id > ${before} and company_id <> ${companyId}`,
    )
    assert.deepEqual(later, [], 'of another company than that of the agent by then')
  }
})

test('a locked agent fails no upload of another agent', async (t) => {
  const { node, url } = await oneNode(t)
  const toLocked = { company_id: 2, agent_id: 3, owner_id: 3 }
  let answers = 0
  const upload = (name: string, to = {}) =>
    post(node, CREATE, { ...batch(pdf(name)), ...to }).finally(() => answers++)
  const locked = assert.rejects(
    queryOnce(url, 'begin; select 1 from agents where id = 3 for update; select pg_sleep(600)'),
    /canceling statement due to user request/,
  )
  const sleeper = `from pg_stat_activity where wait_event = 'PgSleep' and query like 'begin; select 1 from agents %'`
  await until(async () => (await queryOnce(url, `select 1 ${sleeper}`)).length > 0)
  const first: Promise<Response>[] = []
  for (const name of ['a', 'b']) {
    first.push(upload(name, toLocked)) // each is a group alone, and fails after some seconds
    await until(async () => answers > 0 || (await countLockWaits(url)) >= first.length)
  }
  const group = [upload('c', toLocked), ...['d', 'e', 'f'].map((name) => upload(name))]
  const statuses = (await Promise.all([...first, ...group])).map(({ status }) => status)
  assert.deepEqual(statuses.slice(3), [200, 200, 200], `${statuses}`)
  await queryOnce(url, `select pg_cancel_backend(pid) ${sleeper}`)
  await locked
})

test('two nodes together store no more than the quota of a token without a company', async (t) => {
  const { node, url, dataDir } = await oneNode(t)
  const other = await startTestApp(t, { dataDir })
  const { db } = await openNode(t, url)
  const facts = {
    allow: ['documents:POST', 'documents:GET'],
    companyId: null,
    expiresAt: null,
    createdAt: AT,
  }
  await insertToken(db, { ...facts, name: 'erp', hash: hashOfSecret('cbt_erp'), quota: 100 })
  const headers = { authorization: 'Bearer cbt_erp' }
  for (const app of [node, other])
    await until(async () => (await read(app, '/api/v1/documents', headers)).status === 200)
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) => {
      const [company_id, agent_id] = at % 3 ? [1, 1] : [2, 3]
      const body = { ...batch(pdf('0123456789')), company_id, agent_id, owner_id: 3 }
      return post(at % 2 ? node : other, CREATE, body, headers)
    }),
  )
  const statuses = Object.groupBy(answers, ({ status }) => status)
  assert.deepEqual([statuses[200]?.length, statuses[507]?.length], [10, 20])
})

test('keys at both nodes are stored once each, and one of two bodies of a key', async (t) => {
  const { node, url, dataDir } = await oneNode(t)
  const other = await startTestApp(t, { dataDir })
  await until(async () => (await read(other, '/api/v1/documents')).status === 200)
  const openKeys = Array.from({ length: KEYS }, (_, at) => at)
  const send = async (app: TestApp, at: number, text: string) => {
    const answer = await post(app, CREATE, batch(pdf(text)), { 'idempotency-key': `key ${at}` })
    return { status: answer.status, body: await answer.text() }
  }
  const work = async () => {
    for (let at = openKeys.pop(); at !== undefined; at = openKeys.pop()) {
      const isClash = at % 10 === 0
      const [one, two] = await Promise.all([
        send(node, at, `${at}`),
        send(other, at, isClash ? `other ${at}` : `${at}`),
      ])
      if (isClash) assert.deepEqual([one.status, two.status].sort(), [200, 409], `${one.body} ${two.body}`)
      else {
        assert.equal(one.status, 200, one.body)
        assert.deepEqual(two, one)
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  assert.equal((await queryOnce(url, 'select id from documents')).length, KEYS)
})

test('readers of a company, of an agent and of all who page and wait miss nothing beside 16 uploaders', async (t) => {
  const { node, dataDir } = await oneNode(t)
  const nodes = [node, await startTestApp(t, { dataDir })] as const
  const pickNode = (at: number) => nodes[at % 2] ?? node
  await until(async () => (await read(nodes[1], '/api/v1/documents')).status === 200)
  const createdDocuments: { id: number; company: number }[] = []
  let uploading = true
  const uploaders = Promise.all(
    Array.from({ length: 16 }, async (_, uploader) => {
      const [company_id, agent_id] = uploader % 2 ? [1, 1] : [2, 3]
      for (let at = 0; at < UPLOADS; at++) {
        const documents = Array.from({ length: 10 }, (_, of) => pdf(`${uploader} ${at} ${of}`))
        const body = { ...batch(...documents), company_id, agent_id, owner_id: 3 }
        const answer = await post(pickNode(uploader + at), CREATE, body)
        assert.equal(answer.status, 200, await answer.clone().text())
        const { created_documents: created } = (await answer.json()) as Created
        createdDocuments.push(...created.map(({ id }) => ({ id, company: company_id ?? 0 })))
      }
    }),
  ).finally(() => {
    uploading = false
  })
  const readAll = async (filter: string, wait: string) => {
    const readIds: number[] = []
    let isLast = false
    for (let at = 0; !isLast; at++) {
      const isFinal = !uploading
      const path = `/api/v1/documents?limit=200&after=${readIds.at(-1) ?? 0}${filter}${isFinal ? '' : wait}`
      const answer = await read(pickNode(at), path)
      assert.equal(answer.status, 200)
      const { documents } = (await answer.json()) as { documents: { id: number }[] }
      readIds.push(...documents.map(({ id }) => id))
      isLast = isFinal && documents.length === 0
    }
    return readIds
  }
  const [ofCompany, ofAgent, ofAll, polled] = await Promise.all([
    readAll('&company_id=1', '&wait=2'),
    readAll('&agent_id=3', '&wait=2'),
    readAll('', '&wait=2'),
    readAll('', ''),
    uploaders,
  ])
  const ids = (of?: number) =>
    createdDocuments
      .filter(({ company }) => of === undefined || company === of)
      .map(({ id }) => id)
      .sort((one, two) => one - two)
  assert.equal(createdDocuments.length, 16 * UPLOADS * 10)
  assert.deepEqual(ofCompany, ids(1))
  assert.deepEqual(ofAgent, ids(2))
  assert.deepEqual(ofAll, ids())
  assert.deepEqual(polled, ids())
})

test('a wait at one node is answered by an upload at another', async (t) => {
  const { node, dataDir } = await oneNode(t)
  const other = await startTestApp(t, { dataDir, listen: { metrics: 'local' } })
  await until(async () => (await read(other, '/api/v1/documents')).status === 200)
  for (const filter of ['&company_id=1', '&agent_id=1', '']) {
    const { documents } = (await (await read(node, '/api/v1/documents?order=desc')).json()) as Listed
    const waiting = read(other, `/api/v1/documents?after=${documents[0]?.id ?? 0}${filter}&wait=50`)
    await until(async () => (await countWaits(other)) === 1)
    const uploadReply = await post(node, CREATE, batch(pdf('now')))
    const answer = (await (await waiting).json()) as Listed
    const { created_documents: created } = (await uploadReply.json()) as Created
    assert.deepEqual(
      answer.documents.map(({ id }) => id),
      created.map(({ id }) => id),
    )
  }
})

/** Sessions of the server that wait for a lock. */
async function countLockWaits(url: string): Promise<number> {
  return (await queryOnce(url, `select 1 from pg_stat_activity where wait_event_type = 'Lock'`)).length
}

const WAITING = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'update document_order%'`

async function oneNode(t: TestContext): Promise<{ node: TestApp; url: string; dataDir: string }> {
  const dataDir = temporaryDirectory(t)
  const url = await postgresAddress(dataDir)
  const node = await startTestApp(t, { dataDir })
  await fillDirectory(node)
  return { node, url, dataDir }
}
