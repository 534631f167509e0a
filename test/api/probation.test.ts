// A server after an upgrade that is not confirmed yet: it reads, and writes nothing.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestApp, temporaryDirectory } from '../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../support/directory.ts'
import { openTestDatabase } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'

const PATH = '/api/v1/documents'
const RANGE = { from: '2026-03-20', to: '2026-03-24' } as const
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

test('on probation a server answers reads, and refuses each write until the upgrade is confirmed', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await startTestApp(t, { dataDir })
  await fillDirectory(first)
  await first.sync(RANGE)
  await post(first, CREATE, batch(pdf('stored')))
  await first.app.close()

  const confirmed = Promise.withResolvers<void>()
  const app = await startTestApp(t, { dataDir, probation: confirmed.promise, clock: first.clock })
  const ready = await fetch(`${app.app.url}/readyz`)
  assert.equal(ready.status, 200)
  assert.deepEqual(await ready.json(), {
    status: 'ok',
    detail: [
      'on probation after an upgrade, it only reads: it has read rates up to 2026-03-24 and document 1',
    ],
  })
  const rates = '/api/v1/convert?amount=100&from=USD&to=CRC'
  assert.equal((await app.get(rates)).status, 200)
  const batchOfRates = [{ amount: '1', from: 'USD', to: 'CRC' }]
  const converted = await fetch(`${app.app.url}/api/v1/convert/batch`, {
    method: 'POST',
    headers: { 'x-api-key': app.key, 'content-type': 'application/json' },
    body: JSON.stringify(batchOfRates),
  })
  assert.equal(converted.status, 200, await converted.clone().text())
  assert.equal(await (await read(app, `${PATH}/1/content`)).text(), 'stored')

  const before = await dump(dataDir)
  const claim = { agent_id: 1, limit: 1, lease_seconds: 60 }
  const sendSecret = { secret: app.key }
  const origin = { origin: app.app.url, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const writes = [
    () => post(app, CREATE, batch(pdf('new')), { 'idempotency-key': 'one' }),
    () => post(app, `${PATH}/claim`, claim, bearer(TOKENS.work)),
    () => fetch(`${app.app.url}${PATH}/1`, { method: 'DELETE', headers: bearer(TOKENS.remove) }),
    () => post(app, '/session', sendSecret, origin),
  ]
  for (const [at, write] of writes.entries()) {
    const answer = await write()
    const text = await answer.text()
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'], `${at}: ${text}`)
    assert.match(text, /just upgraded and does not write yet: try again in a moment/)
  }
  assert.deepEqual(await dump(dataDir), before)

  confirmed.resolve()
  await until(async () => (await writes[0]?.())?.status === 200)
  const after = await (await fetch(`${app.app.url}/readyz`)).json()
  assert.deepEqual(after, { status: 'ok' })
  for (const write of writes.slice(1)) assert.ok((await write()).status < 300)
})

test('a server that is closed on probation has written nothing', async (t) => {
  const dataDir = temporaryDirectory(t)
  await (await startTestApp(t, { dataDir })).app.close()
  const app = await startTestApp(t, { dataDir, probation: new Promise(() => {}) })
  const before = await dump(dataDir)
  assert.equal((await app.get('/api/v1/series')).status, 200) // the use of the key is not stored
  await app.app.close()
  assert.deepEqual(await dump(dataDir), before)
  assert.doesNotMatch(app.logLines.join(''), /"level":"error"/)
})

/** Returns all rows of the database, and the names of the contents. */
async function dump(dataDir: string): Promise<unknown> {
  const db = openTestDatabase(dataDir)
  const tables = await db.introspection.getTables()
  const rows: Record<string, unknown> = {}
  for (const { name } of tables)
    rows[name] = await db
      .selectFrom(name as 'meta')
      .selectAll()
      .execute()
  await db.destroy()
  return { rows, files: readdirSync(join(dataDir, 'blobs'), { recursive: true }).sort() }
}
