// The page behind a balancer: requests of a browser may reach either of two nodes. A one-time link or ticket works
// once over both.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { makeLoginLink } from '../../src/domain/access/login-links.ts'
import { findActiveTokenByName } from '../../src/store/access/tokens.ts'
import { selectEvents } from '../../src/store/documents/events.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp } = await import('../support/app.ts')
const { runJson } = await import('../support/company.ts')
const { CREATE, batch, fillDirectory, pdf, post } = await import('../support/directory.ts')
const { postgresDatabase } = await import('../support/postgres/database.ts')
const { temporaryDirectory } = await import('../support/temporary.ts')
const { ask, openBrowser: browserOf, makeToken, signIn } = await import('../api/web/support.ts')

type TestApp = Awaited<ReturnType<typeof startTestApp>>
type Browser = Awaited<ReturnType<typeof signIn>>

// Host of the browser: the name of the cookie has its port.
const BALANCER = { host: '127.0.0.1:8080' }

let nodes: [TestApp, TestApp]
let token: string
before(async (t) => {
  const dataDir = temporaryDirectory(t as TestContext)
  const start = () => startTestApp(t as TestContext, { dataDir, now: new Date().toISOString() })
  nodes = (await Promise.all([start(), start()])) as [TestApp, TestApp]
  await fillDirectory(nodes[0])
  ;({ token } = await makeToken(nodes[0], 'scans', '--allow', 'documents:GET'))
})

/** The same session at each of the nodes. */
async function signInOnBoth(secret: string): Promise<[Browser, Browser]> {
  const [one, other] = nodes.map(({ app }) => app.url) as [string, string]
  const answer = await ask(`${one}/session`, { json: { secret }, headers: BALANCER })
  assert.equal(answer.status, 200, answer.body)
  return [browserOf(one, answer, BALANCER), browserOf(other, answer, BALANCER)]
}

test('a session that one node opened is open on both, is added to on both, and ends on both', async () => {
  const [here, there] = await signInOnBoth(nodes[0].key)
  for (const browser of [here, there]) assert.equal((await browser.ask('/api/v1/rates')).status, 200)
  assert.equal((await here.ask('/api/v1/documents')).status, 401)
  assert.equal((await there.ask('/session', { json: { secret: token } })).status, 200)
  for (const browser of [here, there]) assert.equal((await browser.ask('/api/v1/documents')).status, 200)
  assert.equal((await there.ask('/session', { method: 'DELETE' })).status, 200)
  for (const browser of [here, there]) assert.equal((await browser.ask('/api/v1/rates')).status, 401)
})

test('a key that was made a moment ago signs in on one node, and opens the other at once', async () => {
  for (let at = 0; at < 10; at++) {
    const { key } = await runJson<{ key: string }>(nodes[0].dataDir, 'key', 'create', `new ${at}`)
    const [, there] = await signInOnBoth(key)
    assert.equal((await there.ask('/api/v1/rates')).status, 200)
  }
})

test('a one-time link at both nodes signs in on one', async () => {
  const db = postgresDatabase(nodes[0].dataDir)
  const tokenId = (await findActiveTokenByName(db, 'scans'))?.id
  for (let at = 0; at < 10; at++) {
    const { code } = await makeLoginLink(db, { keyId: undefined, tokenId }, nodes[0].clock.read)
    const answers = await Promise.all(
      nodes.map(({ app }) => ask(`${app.url}/session`, { json: { code }, headers: BALANCER })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401])
  }
  const logins = (await selectEvents(db, { limit: 100 })).filter(({ kind }) => kind === 'login')
  await db.destroy()
  assert.equal(logins.length, 10)
})

test('a ticket of one node shows its PDF on either, once', async () => {
  const uploaded = await post(nodes[0], CREATE, batch(pdf('%PDF-1.7 hello')))
  const body = (await uploaded.json()) as { created_documents: { id: number }[] }
  const { token: own } = await makeToken(nodes[0], 'all', '--allow', 'documents:GET')
  const [here, there] = await signInOnBoth(own)
  const ticket = async () => {
    const json = { document_id: body.created_documents[0]?.id }
    const answer = await here.ask('/session/ticket', { json })
    assert.equal(answer.status, 200, answer.body)
    return (JSON.parse(answer.body) as { url: string }).url
  }
  const open = ({ app }: TestApp, path: string) => ask(app.url + path, { headers: BALANCER })
  const path = await ticket()
  const head = { method: 'HEAD', headers: BALANCER }
  assert.equal((await ask(nodes[1].app.url + path, head)).status, 200)
  const pdfReply = await open(nodes[1], path)
  assert.deepEqual([pdfReply.status, pdfReply.body], [200, '%PDF-1.7 hello'])
  assert.equal((await open(nodes[0], path)).status, 404)
  for (let at = 0; at < 10; at++) {
    const path = await ticket()
    const answers = await Promise.all(nodes.map((node) => open(node, path)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404])
  }
  const late = await ticket()
  assert.equal((await there.ask('/session', { method: 'DELETE' })).status, 200)
  assert.equal((await open(nodes[0], late)).status, 401)
})

test('an export ticket downloads from either node, once', async () => {
  const [here] = await signInOnBoth(nodes[0].key)
  const { url } = JSON.parse((await here.ask('/session/ticket', { json: { export: 'csv' } })).body)
  const file = await ask(nodes[1].app.url + url, { headers: BALANCER })
  assert.equal(file.status, 200)
  assert.match(String(file.headers['content-disposition']), /cambista\.csv/)
  assert.equal((await ask(nodes[0].app.url + url, { headers: BALANCER })).status, 404)
})
