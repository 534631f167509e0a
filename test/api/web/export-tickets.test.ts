// Tickets for an export: the browser itself saves the file, without the memory of the page.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeDirectory, runJson } from '../../support/company.ts'
import { until } from '../../support/terminal.ts'
import { openApp } from '../support.ts'
import { ask, type Browser, makeToken, readDetail, signIn } from './support.ts'

const app = await openApp({ now: '2026-11-20T18:00:00Z', backfillFrom: '2026-10-01' })
const { url } = app.app
await app.sync()
await makeDirectory(app.dataDir)
const browser = await signIn(url, app.key)

const FORMATS = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

const createTicket = async (format: string, of: Browser = browser) => {
  const answer = await of.ask('/session/ticket', { json: { export: format } })
  assert.equal(answer.status, 200, answer.body)
  return JSON.parse(answer.body).url as string
}

test('a ticket gives the bytes of the export, as a file, once', async () => {
  for (const [format, type] of Object.entries(FORMATS)) {
    const path = await createTicket(format)
    const navigated = { headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' } }
    const file = await ask(url + path, navigated)
    const straight = await ask(`${url}/api/v1/export.${format}`, { headers: { 'x-api-key': app.key } })
    assert.equal(file.status, 200, file.body)
    assert.ok(file.body.length > 10_000)
    assert.ok(file.body === straight.body, 'it is the export')
    const { headers } = file
    assert.ok(headers['content-type']?.startsWith(`${type};`))
    assert.equal(headers['content-disposition'], `attachment; filename="cambista.${format}"`)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    const again = await ask(url + path, navigated)
    assert.equal(again.status, 404)
    assert.match(readDetail(again), /used, or is older than a minute/)
  }
})

test('a HEAD does not use a ticket up, and a minute does', async () => {
  const path = await createTicket('csv')
  const head = await ask(url + path, { method: 'HEAD' })
  assert.deepEqual([head.status, head.body], [200, ''])
  assert.equal((await ask(url + path)).status, 200)
  const late = await createTicket('csv')
  app.clock.now = new Date(app.clock.now.getTime() + 60_000)
  assert.equal((await ask(url + late)).status, 404)
})

test('a ticket is for one export, and a wrong one is named', async () => {
  for (const [body, says] of [
    [{ export: 'xlsx' }, /export must be csv or ndjson/],
    [{ export: 1 }, /export must be csv or ndjson/],
    [{ export: null }, /export must be csv or ndjson/],
    [{ export: ['csv'] }, /export must be csv or ndjson/],
    [{ export: 'csv', document_id: 1 }, /document_id or export/],
    [{}, /document_id or export/],
  ] as const) {
    const answer = await browser.ask('/session/ticket', { json: body })
    assert.equal(answer.status, 400, answer.body)
    assert.match(readDetail(answer), says)
  }
})

test('a session without a key gets no ticket, and a ticket ends with its session and its key', async () => {
  const { token } = await makeToken(app, 'scans')
  const documents = await signIn(url, token)
  const refused = await documents.ask('/session/ticket', { json: { export: 'csv' } })
  assert.equal(refused.status, 401)
  assert.match(readDetail(refused), /no key/)
  const leaving = await signIn(url, app.key)
  const path = await createTicket('csv', leaving)
  await leaving.ask('/session', { method: 'DELETE' })
  assert.equal((await ask(url + path)).status, 401)
  const { key } = await runJson<{ key: string }>(app.dataDir, 'key', 'create', 'brief')
  const brief = await signIn(url, key)
  const paths = [await createTicket('csv', brief), await createTicket('ndjson', brief)]
  await runJson(app.dataDir, 'key', 'revoke', 'brief')
  await until(async () => (await brief.ask('/api/v1/rates')).status === 401)
  for (const one of paths) assert.equal((await ask(url + one)).status, 401)
})

test('another website neither gets a ticket nor uses one up', async () => {
  const path = await createTicket('csv')
  assert.equal((await ask(url + path, { headers: { 'sec-fetch-site': 'cross-site' } })).status, 403)
  assert.equal((await ask(url + path, { headers: { host: 'evil.example' } })).status, 421)
  const response = await browser.ask('/session/ticket', {
    json: { export: 'csv' },
    headers: { origin: 'https://evil.example' },
  })
  assert.equal(response.status, 403)
  assert.equal((await ask(url + path)).status, 200)
})

test('the log has the name of the key, and no ticket', async () => {
  const path = await createTicket('csv')
  await ask(url + path)
  const log = app.logLines.join('')
  assert.ok(!log.includes(path.slice(3)))
  const lines = app.logLines.filter((line) => line.includes('/t/{ticket}') && line.includes('"status":200'))
  assert.ok(lines.length > 0 && lines.every((line) => /"key":"test /.test(line)), String(lines))
})
