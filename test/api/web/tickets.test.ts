// Tickets: one PDF, once, for a minute, during the session that requested it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeDirectory, openTestBlobs, runJson, storeTexts } from '../../support/company.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, openApp } from '../support.ts'
import { ask, type Browser, makeToken, readDetail, signIn } from './support.ts'

const app = await openApp()
const { url } = app.app
await makeDirectory(app.dataDir)
const { token } = await makeToken(app, 'scans', '--company', '7')
const PDF = '%PDF-1.7\nhello'
const blobs = await openTestBlobs(app.dataDir)
const keep = (texts: string[], name: string) =>
  asOtherProcess(app, (db) => storeTexts(db, blobs, texts, { name }))
const [pdf = 0, other = 0] = await keep([PDF, '%PDF-1.4 other'], '../<b>factura</b>.pdf')
const notPdfs = await keep(['%PDF', ' %PDF-1.7', '<svg onload=alert(1)>', '\n'], 'fake.pdf')
const browser = await signIn(url, token)

const createTicket = async (id: unknown, of: Browser = browser) => {
  const answer = await of.ask('/session/ticket', { json: { document_id: id } })
  assert.equal(answer.status, 200, answer.body)
  const { url: path, ...rest } = JSON.parse(answer.body)
  assert.deepEqual(rest, {})
  assert.match(path, /^\/t\/[\w-]{32}$/)
  return path as string
}

test('a ticket returns its PDF once, with safe headers and uncached', async () => {
  const path = await createTicket(pdf)
  const response = await ask(url + path, {
    headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
  })
  assert.deepEqual([response.status, response.body], [200, PDF])
  const { headers } = response
  assert.equal(headers['content-type'], 'application/pdf')
  assert.equal(headers['content-length'], String(PDF.length))
  assert.match(String(headers['content-disposition']), /^inline; filename="___<b>factura<_b>\.pdf"$/)
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['referrer-policy'], 'no-referrer')
  assert.match(
    String(headers['content-security-policy']),
    /default-src 'none'.*frame-ancestors 'none'.*sandbox/,
  )
  assert.equal(headers['accept-ranges'], undefined)
  const again = await ask(url + path)
  assert.equal(again.status, 404)
  assert.match(readDetail(again), /used, or is older than a minute/)
})

test('a ticket opens for one of four concurrent requests', async () => {
  for (let at = 0; at < 10; at += 1) {
    const path = await createTicket(pdf)
    const answers = await Promise.all(Array.from({ length: 4 }, () => ask(url + path)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404, 404])
  }
})

test('a HEAD does not use a ticket up', async () => {
  const path = await createTicket(pdf)
  const head = await ask(url + path, { method: 'HEAD' })
  assert.deepEqual([head.status, head.body, head.headers['content-length']], [200, '', String(PDF.length)])
  assert.equal((await ask(url + path)).status, 200)
})

test('a ticket is valid for a minute', async () => {
  const [early, late] = [await createTicket(pdf), await createTicket(pdf)]
  const began = app.clock.now
  app.clock.now = new Date(began.getTime() + 59_999)
  assert.equal((await ask(url + early)).status, 200)
  app.clock.now = new Date(began.getTime() + 60_000)
  assert.equal((await ask(url + late)).status, 404)
})

test('a ticket is for one document, and for no variant of its URL', async () => {
  const path = await createTicket(other)
  for (const wrong of [`${path}x`, `${path}/${pdf}`, `${path}/`, path.slice(0, -1), '/t/', '/t/%zz']) {
    assert.equal((await ask(url + wrong)).status, 404, wrong)
  }
  assert.equal((await ask(`${url}${path}?document_id=${pdf}`)).body, '%PDF-1.4 other')
})

test('a document that does not begin as a PDF gets no ticket, whatever its type', async () => {
  for (const id of notPdfs) {
    const answer = await browser.ask('/session/ticket', { json: { document_id: id } })
    assert.equal(answer.status, 415)
    assert.match(readDetail(answer), /Only a PDF/)
  }
  for (const [id, status] of [
    [987654, 404],
    ['x', 400],
    [null, 400],
    [1.5, 400],
  ] as const) {
    assert.equal((await browser.ask('/session/ticket', { json: { document_id: id } })).status, status)
  }
})

test('a session whose token may not read gets no ticket', async () => {
  const key = await signIn(url, app.key)
  assert.equal((await key.ask('/session/ticket', { json: { document_id: pdf } })).status, 401)
  const writer = await makeToken(app, 'writer', '--allow', 'documents:POST')
  const writes = await signIn(url, writer.token)
  assert.equal((await writes.ask('/session/ticket', { json: { document_id: pdf } })).status, 403)
})

test('a ticket ends with its session, and with its token', async () => {
  const leaving = await signIn(url, token)
  const path = await createTicket(pdf, leaving)
  await leaving.ask('/session', { method: 'DELETE' })
  assert.equal((await ask(url + path)).status, 401)
  const brief = await makeToken(app, 'brief')
  const session = await signIn(url, brief.token)
  const paths = [await createTicket(pdf, session), await createTicket(pdf, session)]
  await runJson(app.dataDir, 'token', 'revoke', 'brief')
  await until(async () => (await session.ask('/api/v1/documents')).status === 401)
  for (const one of paths) assert.equal((await ask(url + one)).status, 401)
})

test('another website does not use a ticket up', async () => {
  const path = await createTicket(pdf)
  assert.equal((await ask(url + path, { headers: { 'sec-fetch-site': 'cross-site' } })).status, 403)
  assert.equal((await ask(url + path, { headers: { host: 'evil.example' } })).status, 421)
  assert.equal((await ask(url + path)).status, 200)
})

test('the log has no ticket', async () => {
  const path = await createTicket(pdf)
  await ask(url + path)
  assert.ok(!app.logLines.join('').includes(path.slice(3)))
})
