// Numbers of the metrics, compared with the events that they count.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { postgres, startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { AT, batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../../support/directory.ts'
import { sampleInvoice } from '../../support/documents/invoice-xml.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, send } from '../support.ts'

const watched = (t: TestContext, options: TestAppOptions = {}) =>
  startTestApp(t, { ...options, listen: { metrics: 'local' } })

/** The samples of a scrape: `name{label="value"}` and its number. */
async function scrape({ app }: TestApp): Promise<Map<string, number>> {
  const { status, body } = await send(`${app.url}/metrics`)
  assert.equal(status, 200, body)
  const samples = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(samples.map((line) => [line.replace(/ \S+$/, ''), parseSample(line.replace(/^.* /, ''))]))
}

const parseSample = (text: string) => (text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text))

/** The counted requests, as `METHOD route status: count`. */
function countedRequests(samples: Map<string, number>): string[] {
  return [...samples].flatMap(([name, count]) => {
    const [, labels] = /^cambista_http_request_duration_seconds_count\{(.*)\}$/.exec(name) ?? []
    return labels ? [`${labels.replace(/\w+="([^"]*)"/g, '$1').replaceAll(',', ' ')}: ${count}`] : []
  })
}

test("requests are counted by method, route and status, never by a client's own words", async (t) => {
  const app = await watched(t)
  for (let at = 0; at < 20; at += 1) {
    await app.get(`/api/v1/series/${at + 900}/history?_x=${at}`)
    await app.get(`/unknown/${at}`)
    await send(`${app.app.url}/%zz${at}`)
  }
  for (const method of ['PROPFIND', 'M-SEARCH', 'TRACE', 'DELETE']) {
    await send(`${app.app.url}/healthz`, { method })
  }
  await send(`${app.app.url}/healthz`, { method: 'HEAD' })
  await send(`${app.app.url}/api/v1/rates`)
  await app.get('/api/v1/rates?on=x')
  await until(async () => (await scrape(app)).size > 0)
  assert.deepEqual(
    countedRequests(await scrape(app)).filter((one) => !one.includes('/metrics')),
    [
      'GET /api/v1/series/{series_id}/history 404: 20',
      'GET - 404: 40',
      'other /healthz 405: 3',
      'DELETE /healthz 405: 1',
      'HEAD /healthz 200: 1',
      'GET /api/v1/rates 401: 1',
      'GET /api/v1/rates 422: 1',
    ],
  )
})

test('durations of requests are in seconds', async (t) => {
  const app = await watched(t)
  await app.get('/healthz')
  const samples = await scrape(app)
  const labels = 'method="GET",route="/healthz",status="200"'
  const sum = samples.get(`cambista_http_request_duration_seconds_sum{${labels}}`) ?? 0
  const line = app.logLines.flatMap((text) => text.split('\n')).find((one) => one.includes('"/healthz"'))
  const { ms } = JSON.parse(line ?? '{}')
  assert.ok(sum > 0 && Math.abs(sum * 1000 - ms) < 0.1, `${sum} s, ${ms} ms in the log`)
  assert.equal(samples.get(`cambista_http_request_duration_seconds_bucket{le="10",${labels}}`), 1)
})

test('a request whose client disconnected is a 499', async (t) => {
  const app = await watched(t)
  await fillDirectory(app)
  const client = begin(app)
  await until(async () => (await scrape(app)).get('cambista_uploads_in_flight') === 1)
  client.destroy()
  await until(async () => countedRequests(await scrape(app)).includes(`POST ${CREATE} 499: 1`))
})

test('metrics have syncs, the age of the dollar and of the last good sync', async (t) => {
  const app = await watched(t)
  const before = await scrape(app)
  for (const side of ['compra', 'venta']) {
    assert.equal(before.get(`cambista_dollar_age_days{side="${side}"}`), Number.POSITIVE_INFINITY)
  }
  assert.equal(before.get('cambista_last_good_sync_age_seconds'), Number.POSITIVE_INFINITY)
  assert.equal(before.get('cambista_sync_runs_total{status="ok"}'), 0)
  assert.equal(before.has('cambista_next_sync_timestamp_seconds'), false)

  await app.sync()
  app.clock.now = new Date('2026-03-24T12:01:40Z')
  const after = await scrape(app)
  assert.equal(after.get('cambista_dollar_age_days{side="venta"}'), -1, "tomorrow's is there")
  assert.equal(after.get('cambista_last_good_sync_age_seconds'), 100)
  assert.equal(after.get('cambista_rates'), (await app.json<{ rates: number }>('/api/v1/health')).rates)
  await until(async () => (await scrape(app)).get('cambista_sync_runs_total{status="ok"}') === 1)

  app.clock.now = new Date('2026-03-27T05:59:00Z')
  assert.equal(
    (await scrape(app)).get('cambista_dollar_age_days{side="compra"}'),
    1,
    'it is still the 26th in Costa Rica',
  )
  app.clock.now = new Date('2026-03-27T06:00:00Z')
  assert.equal((await scrape(app)).get('cambista_dollar_age_days{side="compra"}'), 2)
})

test('metrics count the invoices among the uploads, by kind', async (t) => {
  const app = await watched(t)
  await fillDirectory(app)
  const upload = async (text: string) => {
    const document = { name: 'a.xml', mimetype: 'text/xml', base64: Buffer.from(text).toString('base64') }
    const response = await post(app, CREATE, batch(document))
    assert.equal(response.status, 200)
  }
  for (const text of [
    sampleInvoice(),
    sampleInvoice(),
    '<a/>',
    sampleInvoice().replace('</Clave>', 'x</Clave>'),
  ])
    await upload(text)
  const samples = await scrape(app)
  const count = (result: string) =>
    samples.get(`cambista_invoices_total{kind="FacturaElectronica",result="${result}"}`)
  assert.deepEqual([count('read'), count('fault')], [2, 1])
})

test('metrics have the time of the next sync', async (t) => {
  const app = await watched(t, { scheduler: true })
  const due = Date.parse('2026-03-25T11:00:00Z') / 1000
  await until(async () => (await scrape(app)).get('cambista_next_sync_timestamp_seconds') === due)
})

test('documents and blobs are counted, each blob once, after uploads and deletions', async (t) => {
  const app = await watched(t)
  await fillDirectory(app)
  const has = (documents: number, blobs: number, bytes: number) =>
    until(async () => {
      const samples = await scrape(app)
      const names = ['documents', 'blobs', 'blob_bytes']
      return `${names.map((name) => samples.get(`cambista_${name}`))}` === `${[documents, blobs, bytes]}`
    })
  await has(0, 0, 0)
  await post(app, CREATE, batch(pdf('one'), pdf('three'), pdf('one')))
  await has(3, 2, 8)
  // More rows than one batch of the count.
  const values = Array.from({ length: 2500 }, (_, at) => ({
    name: 'a',
    mimetype: 'a/a',
    size: 2,
    sha256: createHash('sha256')
      .update(String(at >> 1))
      .digest('hex'),
    created_at: AT,
  }))
  await asOtherProcess(app, async (db) => {
    for (let at = 0; at < values.length; at += 500) {
      await db
        .insertInto('attachments')
        .values(values.slice(at, at + 500))
        .execute()
    }
  })
  await has(3, 1252, 2508)
  await asOtherProcess(app, async (db) => {
    await db.deleteFrom('documents').where('id', '>', 1).execute()
    await db.deleteFrom('attachments').where('id', '>', 1).execute()
  })
  await has(1, 1, 3)
  assert.ok(((await scrape(app)).get('cambista_disk_free_bytes') ?? 0) > 0)
})

test('metrics have the queue of each agent: waiting, the age of the oldest, and failed documents', async (t) => {
  const app = await watched(t, { now: '2026-03-24T12:00:00.000Z' })
  await fillDirectory(app)
  const queue = async (agent: number) => {
    const samples = await scrape(app)
    return ['waiting', 'oldest_waiting_seconds', 'failed'].map((name) =>
      samples.get(`cambista_documents_${name}{agent="${agent}"}`),
    )
  }
  await post(app, CREATE, batch(pdf('a'), pdf('b'), pdf('c')))
  app.clock.now = new Date(app.clock.now.getTime() + 90_000)
  const headers = { authorization: `Bearer ${TOKENS.work}` }
  const response = await post(app, '/api/v1/documents/claim', { agent_id: 1 }, headers)
  const { documents } = (await response.json()) as { documents: { id: number; claim_id: string }[] }
  for (const { id, claim_id } of documents)
    await post(app, `/api/v1/documents/${id}/finish`, { claim_id, outcome: 'failed' }, headers)
  assert.deepEqual(await queue(1), [2, 90, 1])
  assert.deepEqual(await queue(2), [0, 0, 0])
  assert.deepEqual(await queue(4), [undefined, undefined, undefined])
})

test('running uploads and waiting uploads are counted', async (t) => {
  const app = await watched(t, { limits: { maxUploads: 2 } })
  await fillDirectory(app)
  const uploads = async () => {
    const samples = await scrape(app)
    return [samples.get('cambista_uploads_in_flight'), samples.get('cambista_uploads_waiting')].join()
  }
  assert.equal(await uploads(), '0,0')
  const clients = [begin(app), begin(app), begin(app)]
  await until(async () => (await uploads()) === '2,1')
  for (const client of clients) client.end(JSON.stringify(batch(pdf())).slice(1))
  await Promise.all(clients.map((client) => once(client, 'response')))
  await until(async () => (await uploads()) === '0,0')
})

test('metrics have the entries and hits of the caches', async (t) => {
  const app = await watched(t)
  await app.sync()
  const of = async (what: string, cache: string) =>
    (await scrape(app)).get(`cambista_cache_${what}{cache="${cache}"}`) ?? Number.NaN
  const before = await of('entries', 'columns')
  await app.get('/api/v1/rates?on=2026-03-20')
  // In a cluster a snapshot has all columns from the start.
  assert.ok((await of('entries', 'columns')) > (postgres ? before - 1 : before))
  const bytes = await of('bytes', 'columns')
  const rates = (await scrape(app)).get('cambista_rates') ?? 0
  assert.ok(bytes > 10 * rates && bytes < 30 * rates, `${bytes} bytes for ${rates} values`)

  const { misses, hits } = {
    misses: await of('misses_total', 'columns'),
    hits: await of('hits_total', 'columns'),
  }
  await app.get('/api/v1/rates?on=2026-03-19')
  assert.ok((await of('hits_total', 'columns')) > hits)
  assert.equal(await of('misses_total', 'columns'), misses)

  await app.get('/api/v1/series/1/history')
  assert.ok((await of('bytes', 'answers')) > 0)
  const answered = await of('hits_total', 'answers')
  await app.get('/api/v1/series/1/history')
  assert.ok((await of('hits_total', 'answers')) > answered)
  await app.sync({ from: '2025-01-01', to: '2025-01-02' })
  assert.ok((await of('hits_total', 'answers')) > answered, 'a count never falls')
})

test('a database that does not answer is a 500 without details', async (t) => {
  const app = await watched(t)
  await asOtherProcess(app, (db) => db.schema.alterTable('sync_runs').renameTo('gone').execute())
  const { status, body } = await send(`${app.app.url}/metrics`)
  assert.deepEqual([status, body], [500, '{"detail":"Internal server error"}'])
})

/** An upload that has begun; the rest of its JSON is unsent. */
function begin({ app }: TestApp) {
  const headers = { authorization: `Bearer ${TOKENS.all}` }
  const client = request(app.url + CREATE, { method: 'POST', headers })
  client.on('error', () => {})
  client.write('{')
  return client
}
