// Waiting for documents (decisions#waiting): the usual list, answered as soon as it has an entry.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { before, type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { insertToken, revokeToken } from '../../../src/store/access/tokens.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { AT, batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, send } from '../support.ts'

type Page = { status: string; documents: { id: number }[]; next_after: number; has_more: boolean }

const LIST = '/api/v1/documents'
const LONG = 50
const OTHER = { ...batch(pdf('suyo')), company_id: 2, agent_id: 3, owner_id: 2 }

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext, { listen: { metrics: 'local' } })
  await fillDirectory(app)
})

/** The number of waiting requests, from the metrics. */
async function readWaitCount(of = app): Promise<number> {
  const { body } = await send(`${of.app.url}/metrics`)
  return Number(/^cambista_document_waits (\d+)$/m.exec(body)?.[1])
}

/** Sends a request with `wait`; returns its answer. */
async function ask(query: string, headers: Record<string, string> = {}, of = app) {
  const response = await read(of, `${LIST}?${query}`, headers)
  const page = (await response.json()) as Page
  return { status: response.status, page, headers: response.headers }
}

async function upload(body: unknown = batch(pdf()), of = app): Promise<number[]> {
  const response = await post(of, CREATE, body)
  const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
  return created_documents.map(({ id }) => id)
}

const newest = async () => {
  const { documents } = (await (await read(app, `${LIST}?order=desc&limit=1`)).json()) as Page
  return documents[0]?.id ?? 0
}

test('a wait with documents present is answered at once, byte for byte as without wait', async () => {
  await upload()
  for (const query of ['', 'after=0', 'limit=1', 'company_id=1&agent_id=1&after=0']) {
    const [plain, waited] = await Promise.all(
      [query, `${query}&wait=${LONG}`].map(async (one) => (await read(app, `${LIST}?${one}`)).text()),
    )
    assert.equal(waited, plain)
  }
})

test('a commit ends a wait, and the answer is that without wait', async () => {
  const after = await newest()
  const answer = ask(`after=${after}&wait=${LONG}&limit=2`)
  await until(async () => (await readWaitCount()) === 1)
  const ids = await upload(batch(pdf('one'), pdf('two'), pdf('three')))
  const { status, page } = await answer
  assert.equal(status, 200)
  assert.deepEqual([page.documents.map(({ id }) => id), page.next_after], [ids.slice(0, 2), ids[1]])
  assert.deepEqual(page, await (await read(app, `${LIST}?after=${after}&limit=2`)).json())
  assert.equal(await readWaitCount(), 0)
})

test('an expired wait is empty, with the cursor to continue', async () => {
  const after = await newest()
  const expectations = [
    [`after=${after}`, after],
    ['after=9007199254740991', Number.MAX_SAFE_INTEGER],
    ['company_id=77', 0],
  ] as const
  const long = ask(`after=${after}&wait=${LONG}`)
  const answers = await Promise.all(expectations.map(([query]) => ask(`${query}&wait=1`)))
  assert.equal(await readWaitCount(), 1, 'a longer wait goes on')
  for (const [at, { status, page }] of answers.entries()) {
    assert.equal(status, 200)
    const next_after = expectations[at]?.[1]
    assert.deepEqual(page, { status: 'success', documents: [], next_after, has_more: false })
  }
  const ids = await upload()
  assert.deepEqual(
    (await long).page.documents.map(({ id }) => id),
    ids,
  )
  assert.equal(await readWaitCount(), 0)
})

test('wait=0 does not wait', async () => {
  const id = 'without-a-wait'
  const { page } = await ask(`after=${await newest()}&wait=0`, { 'x-request-id': id })
  assert.deepEqual(page.documents, [])
  const findLine = () => app.logLines.flatMap((text) => text.split('\n')).find((one) => one.includes(id))
  await until(() => findLine() !== undefined)
  const { route, waited } = JSON.parse(findLine() ?? '{}')
  assert.deepEqual([route, waited], [LIST, undefined])
})

test('documents outside the filter or the token end no wait', async () => {
  const after = await newest()
  const filters = ['company_id=1', 'agent_id=1', 'company_id=1&agent_id=1']
  const answers = filters.map((filter) => ask(`${filter}&after=${after}&wait=${LONG}`))
  const other = ask(`agent_id=3&after=${after}&wait=${LONG}`)
  const stop = new AbortController()
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  const url = `${app.app.url}${LIST}?agent_id=2&after=${after}&wait=${LONG}`
  const ofNobody = fetch(url, { headers, signal: stop.signal })
  await until(async () => (await readWaitCount()) === filters.length + 2)
  const shownIds = async (answer: ReturnType<typeof ask>) => (await answer).page.documents.map(({ id }) => id)
  const otherIds = await upload(OTHER)
  assert.deepEqual(await shownIds(other), otherIds)
  const ids = await upload()
  for (const answer of answers) assert.deepEqual(await shownIds(answer), ids)
  assert.equal(await readWaitCount(), 1, 'no document is of agent 2')
  stop.abort()
  await assert.rejects(ofNobody, { name: 'AbortError' })
  await until(async () => (await readWaitCount()) === 0)
})

test('a wait of a company token ends for its company, and for no other', async () => {
  const after = await newest()
  const secret = { authorization: 'Bearer cbt_bound' }
  await asOtherProcess(app, (db) =>
    db
      .insertInto('tokens')
      .values({
        name: 'bound',
        company_id: 1,
        hash: hashOfSecret('cbt_bound'),
        allow: 'documents:GET',
        created_at: AT,
      })
      .execute(),
  )
  await until(async () => (await read(app, LIST, secret)).status === 200)
  const answer = ask(`after=${after}&wait=${LONG}`, secret)
  await until(async () => (await readWaitCount()) === 1)
  await upload(OTHER)
  const [id] = await upload()
  assert.deepEqual(
    (await answer).page.documents.map((row) => row.id),
    [id],
  )
  assert.equal((await ask(`company_id=2&wait=${LONG}`, secret)).status, 404)
})

test('a token that is revoked during its wait gets a 401, and no document', async () => {
  // The short wait of a machine that stalls may end before the revocation.
  for (let round = 1; !(await revokeDuringWaits(`brief-${round}`)); round += 1)
    assert.ok(round < 10, 'no short wait lasted until the revocation')
})

/** Revokes a new token during two waits. Returns whether the short one ended after the server knew of it. */
async function revokeDuringWaits(name: string): Promise<boolean> {
  const after = await newest()
  const reader = { authorization: `Bearer ${name}` }
  const id = await asOtherProcess(app, (db) => {
    const facts = { name, hash: hashOfSecret(name), allow: ['documents:GET'], createdAt: AT }
    return insertToken(db, { ...facts, companyId: null, expiresAt: null })
  })
  await until(async () => (await read(app, LIST, reader)).status === 200)
  const [long, short] = [LONG, 2].map((wait) => ask(`after=${after}&wait=${wait}&agent_id=1`, reader))
  assert.ok(long && short)
  let hasEnded = false
  void short.then(() => {
    hasEnded = true
  })
  await until(async () => hasEnded || (await readWaitCount()) === 2)
  await asOtherProcess(app, (db) => revokeToken(db, id, '2026-03-24T00:00:00.000Z'))
  await until(async () => (await read(app, LIST, reader)).status === 401)
  const wasInTime = !hasEnded
  if (wasInTime)
    assert.deepEqual([(await short).status, await readWaitCount()], [401, 1], 'when the time is over, too')
  await upload()
  const { status, page } = await long
  assert.deepEqual([status, page], [401, { status: 'error', message: 'Invalid or expired token' }])
  return wasInTime
}

test('a client that disconnects in any way releases its slot', async () => {
  const after = await newest()
  const { hostname, port } = new URL(app.app.url)
  const asks = `GET ${LIST}?after=${after}&wait=${LONG} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKENS.all}\r\n\r\n`
  for (const leave of ['destroy', 'end', 'resetAndDestroy'] as const) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(asks)
    await until(async () => (await readWaitCount()) === 1)
    socket[leave]()
    await until(async () => (await readWaitCount()) === 0)
    socket.destroy()
  }
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(asks.repeat(30))
  await until(async () => (await readWaitCount()) === 30)
  socket.destroy()
  await until(async () => (await readWaitCount()) === 0)
})

test('the 257th wait is a 503 with Retry-After; requests without wait are answered', async (t) => {
  const alone = await startTestApp(t, { listen: { metrics: 'local' } })
  await fillDirectory(alone)
  const stop = new AbortController()
  const url = `${alone.app.url}${LIST}?wait=${LONG}`
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  const all = Array.from({ length: 256 }, () => fetch(url, { headers, signal: stop.signal }))
  await until(async () => (await readWaitCount(alone)) === 256)
  const refused = await ask(`wait=${LONG}`, {}, alone)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
  assert.deepEqual(refused.page, {
    status: 'error',
    message: '256 clients wait for documents already: try again in a moment',
  })
  assert.equal((await ask('', {}, alone)).status, 200)
  const [id] = await upload(batch(pdf()), alone)
  for (const response of await Promise.all(all)) {
    assert.deepEqual(((await response.json()) as Page).documents[0]?.id, id)
  }
  assert.equal(await readWaitCount(alone), 0)
})

test('a server that stops answers all waits at once, with nothing', async (t) => {
  const alone = await startTestApp(t, { listen: { metrics: 'local' } })
  await fillDirectory(alone)
  const answers = Promise.all([`wait=${LONG}`, `after=7&wait=${LONG}`].map((query) => ask(query, {}, alone)))
  await until(async () => (await readWaitCount(alone)) === 2)
  await alone.app.close() // cuts requests that are in flight for 10 s, whose clients get no answer
  const [first, second] = await answers
  assert.deepEqual([first?.status, first?.page.next_after], [200, 0])
  assert.deepEqual(second?.page, { status: 'success', documents: [], next_after: 7, has_more: false })
})

test('the log line has the waiting time of a request, and the metrics exclude it', async () => {
  const after = await newest()
  let round = 0
  // The time runs from before the first query. A stall of that query shortens the wait, so a later round decides.
  await until(async () => (await waitAndMeasure(after, `with-a-wait-${++round}`)) >= 950)
})

/** Waits one second. Checks the log line against the metrics, and returns the waiting time of the line. */
async function waitAndMeasure(after: number, requestId: string): Promise<number> {
  const findLine = () =>
    app.logLines.flatMap((text) => text.split('\n')).find((one) => one.includes(`"${requestId}"`))
  const before = await readDurations()
  await ask(`after=${after}&wait=1`, { 'x-request-id': requestId })
  await until(() => findLine() !== undefined)
  const line = JSON.parse(findLine() ?? '{}')
  assert.ok(line.waited > 0 && line.waited <= line.ms, JSON.stringify(line))
  const durations = await readDurations()
  assert.equal(durations.count, before.count + 1)
  const ms = (durations.seconds - before.seconds) * 1000
  assert.ok(Math.abs(ms - (line.ms - line.waited)) < 1, `${ms} ms of ${JSON.stringify(line)}`)
  return line.waited
}

for (const [query, words] of [
  ['wait=', /wait must be an integer from 0 to 50, in seconds/],
  ['wait=51', /wait must be an integer from 0 to 50/],
  ['wait=1.5', /wait must be an integer from 0 to 50/],
  ['wait=-1', /wait must be an integer from 0 to 50/],
  ['wait=5s', /wait must be an integer from 0 to 50/],
  ['order=desc&wait=5', /wait goes with order=asc: with order=desc there is nothing to wait for/],
  ['order=desc&wait=0', /wait goes with order=asc/],
  ['order=desc&after=3&wait=5', /after goes with order=asc.*; wait goes with order=asc/],
  ['state=new&wait=5', /wait goes without state: POST \/api\/v1\/documents\/claim waits/],
] as const) {
  test(`?${query} is a 422 with the right form`, async () => {
    const response = await read(app, `${LIST}?${query}`)
    assert.equal(response.status, 422)
    assert.match(((await response.json()) as { message: string }).message, words)
  })
}

/** The count and the sum of the durations of lists of documents, out of the metrics. */
async function readDurations(): Promise<{ count: number; seconds: number }> {
  const { body } = await send(`${app.app.url}/metrics`)
  const read = (kind: string) => {
    const line = new RegExp(`_${kind}\\{method="GET",route="/api/v1/documents",status="200"\\} (\\S+)`)
    return Number(line.exec(body)?.[1])
  }
  return { count: read('count'), seconds: read('sum') }
}
