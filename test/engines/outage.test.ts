// The database crashes, freezes, comes back, and ends connections at random. Tests the answers and the log of a node,
// and its recovery.

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { before, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createWaiting } from '../../src/http/waiting.ts'
import { createLog } from '../../src/runtime/log.ts'
import { openPostgres } from '../../src/store/postgres/open-postgres.ts'
import { startProxy } from '../support/postgres/proxy.ts'
import {
  type PostgresServer,
  queryOnce,
  SERVER_VARIABLE,
  schemaAddress,
  startPostgres,
} from '../support/postgres/server.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp } = await import('../support/app.ts')
const { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } = await import('../support/directory.ts')
const { startCommand, until } = await import('../support/terminal.ts')
const { temporaryDirectory } = await import('../support/temporary.ts')

type TestApp = Awaited<ReturnType<typeof startTestApp>>

const RATES = [
  '/api/v1/rates/latest',
  '/api/v1/rates?on=2026-03-23',
  '/api/v1/series',
  '/api/v1/series/1/history',
  '/api/v1/convert?amount=100&from=USD&to=CRC',
  '/api/v1/history?base=USD&quote=CRC',
  '/api/v1/export.csv',
]
const LONG = process.env.CAMBISTA_TORTURE === 'long'

let server: PostgresServer
let patient: TestApp
let impatient: TestApp
before(async (t) => {
  const context = t as TestContext
  server = await startPostgres()
  context.after(() => server.close())
  process.env[SERVER_VARIABLE] = server.url
  const dataDir = temporaryDirectory(context)
  patient = await startTestApp(context, { dataDir, listen: { metrics: 'local' } })
  await fillDirectory(patient)
  await patient.sync({ from: '2026-01-01', to: '2026-03-24' })
  impatient = await startTestApp(context, { dataDir, staleForMs: 2000 })
})

test('crashed: rates are served for a time, all else is 503 at once, and two log lines report it', async (t) => {
  const [from, fromOther] = [patient.logLines.length, impatient.logLines.length]
  assert.equal((await rates(patient)).get('age'), null)
  await server.crash()
  const crashMs = performance.now()
  while (logEvents(patient, from).length === 0) await rates(patient) // until its first poll fails
  assert.equal(await probe(patient, '/readyz'), 503)
  t.diagnostic(`not ready after ${since(crashMs)} ms`)
  assert.match((await rates(patient)).get('age') ?? '', /^\d+$/)
  assert.equal(await probe(patient, '/readyz?rates'), 200)
  assert.equal(await probe(patient, '/healthz'), 200)
  const health = await patient.get('/api/v1/health')
  assert.deepEqual([health.status, health.headers.get('retry-after')], [503, '5'])
  assert.match(await health.text(), /"database":"error".*the database has not answered for \d+ s/)
  assert.equal((await patient.get('/api/v1/status')).status, 503)
  const silent = /^cambista_database_silent_seconds (\S+)$/m.exec(await metrics(patient))
  assert.ok(Number(silent?.[1]) > 0)
  for (const path of [
    '/api/v1/documents',
    '/api/v1/sync/runs',
    '/api/v1/rates/latest?as_of=2026-03-24T00:00:00Z',
  ]) {
    const requestMs = performance.now()
    const answer = path.includes('documents') ? await read(patient, path) : await patient.get(path)
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'], path)
    assert.match(await answer.text(), /database does not answer/)
    t.diagnostic(`${path} refused after ${since(requestMs)} ms`)
  }
  const requestMs = performance.now()
  assert.deepEqual(await beginUpload(patient), [503, '5'])
  t.diagnostic(`an upload of which nothing was sent is refused after ${since(requestMs)} ms`)
  await until(async () => (await impatient.get('/api/v1/rates/latest')).status === 503)
  assert.equal(await probe(impatient, '/readyz?rates'), 503)
  for (const [path, body] of [['/readyz'], ['/api/v1/rates/latest'], ['/mcp', '{}']] as const) {
    const json = { 'content-type': 'application/json' }
    const post = body && { method: 'POST', body, headers: json }
    const answer = await fetch(impatient.app.url + path, post)
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'], path)
  }
  assert.equal((await read(impatient, '/api/v1/documents')).status, 503, 'its token is not believed any more')

  await server.start()
  const restartMs = performance.now()
  await until(
    async () => (await probe(patient, '/readyz')) === 200 && (await probe(impatient, '/readyz')) === 200,
  )
  t.diagnostic(`ready ${since(restartMs)} ms after the server answered again`)
  assert.equal((await upload(patient, 'after a crash')).status, 200)
  await until(async () => (await impatient.get('/api/v1/rates/latest')).headers.get('age') === null)
  await rates(impatient)
  const events = [...logEvents(patient, from), ...logEvents(impatient, fromOther)]
  assert.deepEqual(events.sort(), [
    'the database answers again',
    'the database answers again',
    'the database does not answer',
    'the database does not answer',
  ])
})

test('frozen: rates are as fast, queries get 503 within seconds, and the node recovers', async (t) => {
  const from = patient.logLines.length
  const thaw = server.freeze()
  t.after(thaw)
  const freezeMs = performance.now()
  const uploading = upload(patient, 'while it is frozen').then((answer) => [answer.status, since(freezeMs)])
  let longest = 0
  let isNoticed = false
  const noticing = until(async () => (await probe(patient, '/readyz')) === 503).then(() => {
    isNoticed = true
  })
  while (!isNoticed) {
    const requestMs = performance.now()
    await rates(patient)
    longest = Math.max(longest, since(requestMs))
  }
  await noticing
  t.diagnostic(`not ready after ${since(freezeMs)} ms; all forms of rates in ${longest} ms at most`)
  const [status, ms = 0] = await uploading
  t.diagnostic(`an upload that had begun ends with ${status} after ${ms} ms`)
  assert.equal(status, 503)
  assert.ok(ms < 12_000, `${ms} ms`)
  thaw()
  const thawMs = performance.now()
  await until(async () => (await probe(patient, '/readyz')) === 200)
  t.diagnostic(`ready ${since(thawMs)} ms after it went on`)
  assert.equal((await upload(patient, 'after it was frozen')).status, 200)
  assert.deepEqual(logEvents(patient, from), ['the database does not answer', 'the database answers again'])
})

test('connections that are ended at random, beside uploads and reads: no 500, nothing lost or twice', async (t) => {
  const ids = new Map<string, number>()
  const statuses = new Map<number, number>()
  const noted = (answer: Response) => {
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    return answer
  }
  const endSignal = AbortSignal.timeout(LONG ? 60_000 : 8000)
  const kill = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'cambista' and pid <> pg_backend_pid() order by random() limit 2`
  const killing = (async () => {
    while (!endSignal.aborted) {
      await queryOnce(server.url, kill)
      await wait(20)
    }
  })()
  const uploading = Array.from({ length: 6 }, async (_, uploader) => {
    for (let at = 0; !endSignal.aborted; at++) {
      const key = `killed ${uploader} ${at}`
      const headers = { 'idempotency-key': key }
      const node = at % 2 ? patient : impatient
      let answer = noted(await post(node, CREATE, batch(pdf(key)), headers))
      while (answer.status === 503 || answer.status === 409) {
        await wait(50)
        answer = noted(await post(node, CREATE, batch(pdf(key)), headers))
      }
      assert.equal(answer.status, 200, await answer.clone().text())
      const { created_documents: made } = (await answer.json()) as { created_documents: { id: number }[] }
      ids.set(key, made[0]?.id ?? 0)
      noted(await read(node, '/api/v1/documents?company_id=1'))
      noted(await node.get('/api/v1/sync/runs'))
      noted(await node.get('/api/v1/status'))
      assert.equal(noted(await node.get('/api/v1/rates/latest')).status, 200)
    }
  })
  await Promise.all([killing, ...uploading])
  t.diagnostic(`${ids.size} documents; answers: ${JSON.stringify([...statuses])}`)
  assert.deepEqual(
    [...statuses.keys()].filter((status) => status !== 200 && status !== 503),
    [],
  )
  const storedIds = new Map<string, number>()
  for (let after: number | undefined = 0; after !== undefined; ) {
    const answer: Response = await read(patient, `/api/v1/documents?company_id=1&after=${after}&limit=200`)
    const { documents } = (await answer.json()) as { documents: { id: number }[] }
    for (const { id } of documents) {
      const content = await (await read(patient, `/api/v1/documents/${id}/content`)).text()
      if (!content.startsWith('killed')) continue
      assert.equal(storedIds.get(content), undefined, `${content} is there twice`)
      storedIds.set(content, id)
    }
    after = documents.at(-1)?.id
  }
  assert.deepEqual([...ids].sort(), [...storedIds].filter(([key]) => ids.has(key)).sort())
  assert.equal(storedIds.size, ids.size)
})

test('a start without a database waits for it, on a port that answers, and fails when it has waited enough', async (t) => {
  const database = schemaAddress(server.url, 'waited_for')
  await queryOnce(server.url, 'create schema waited_for')
  t.after(() => server.start())
  await server.stop()
  const log = createLog({ level: 'error', format: 'text', write: () => {} })
  const impatient = createWaiting({ host: '127.0.0.1', port: 0, log }, 0)
  await assert.rejects(
    impatient.until(() => openPostgres(database)),
    /cannot open the database the socket of .+: connect /,
  )
  const dir = temporaryDirectory(t)
  const env = { CAMBISTA_DATABASE: database, CAMBISTA_BLOBS: dir, CAMBISTA_BLOBS_SHARED: '1', HOME: dir }
  const { printed, stop, ended } = startCommand(['serve', '--port', '0', '--no-scheduler'], env)
  const says = async (pattern: RegExp) => {
    await until(() => pattern.test(printed.err))
    return pattern.exec(printed.err)?.[1] ?? ''
  }
  const url = await says(/the port answers already url=(\S+)/)
  assert.match(printed.err, /warn +waiting for the database reason=/)
  const fetchStatus = async (path: string) => (await fetch(url + path)).status
  assert.deepEqual([await fetchStatus('/healthz'), await fetchStatus('/readyz')], [200, 503])
  const refused = await fetch(`${url}/api/v1/documents`)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
  await server.start()
  assert.equal((await fetch(`${await says(/listening url=(\S+)/)}/readyz`)).status, 200)
  stop()
  assert.equal((await ended).code, 0)
})

test('a start whose connections end goes on, whichever statement it was at', async (t) => {
  const schema = 'cut_at_its_start'
  await queryOnce(server.url, `create schema ${schema}`)
  const proxy = await startProxy(t, schemaAddress(server.url, schema))
  const dir = temporaryDirectory(t)
  const env = { CAMBISTA_DATABASE: proxy.url, CAMBISTA_BLOBS: dir, CAMBISTA_BLOBS_SHARED: '1', HOME: dir }
  let isInTime = true
  for (let at = 0; isInTime; at += LONG ? 1 : 11) {
    let statements = 0
    proxy.decide(() => (statements++ === at ? 'cut' : 'pass'))
    const { printed, stop, ended } = startCommand(['serve', '--port', '0', '--no-scheduler'], env)
    await Promise.race([until(() => /listening url=\S+/.test(printed.err)), ended])
    isInTime = statements > at
    assert.match(printed.err, /listening url=\S+/, `cut at statement ${at}`)
    stop()
    assert.equal((await ended).code, 0)
    if (!isInTime) t.diagnostic(`a start is ${at} statements at most`)
  }
})

test('a start whose first poll takes over a second goes on with the second', async (t) => {
  const url = schemaAddress(server.url, 'slow_at_its_start')
  await queryOnce(server.url, 'create schema slow_at_its_start')
  await (await openPostgres(url)).close()
  const proxy = await startProxy(t, url)
  let freezes = 0
  proxy.decide((text) => {
    if (text.includes('waiting_commits') && freezes++ === 0) setTimeout(server.freeze(), 1300)
    return 'pass'
  })
  const node = await openPostgres(proxy.url)
  t.after(() => node.close())
  assert.equal(freezes, 2) // as many as polls
  for (const one of [patient, impatient]) await until(async () => (await probe(one, '/readyz')) === 200)
})

test('after a fail-over no connection stays with the server that only reads', async (t) => {
  const settings = async (value: string) => {
    await queryOnce(server.url, `alter system set default_transaction_read_only = ${value}`)
    await queryOnce(server.url, 'select pg_reload_conf()')
  }
  t.after(() => settings('off'))
  assert.equal((await upload(patient, 'before the fail-over')).status, 200)
  await settings('on') // as a primary that was demoted, whose connections go on
  await until(async () => (await upload(patient, 'to the old primary')).status === 503)
  await until(async () => (await upload(patient, 'once more')).status === 503)
  assert.equal((await patient.get('/api/v1/rates/latest')).status, 200)
  await settings('off') // the address is that of the new one
  await until(async () => (await upload(patient, 'to the new primary')).status === 200)
})

async function rates(app: TestApp): Promise<Headers> {
  let headers = new Headers()
  for (const path of RATES) {
    const answer = await app.get(path)
    const body = await answer.text()
    assert.equal(answer.status, 200, `${path}: ${body.slice(0, 200)}`)
    headers = answer.headers
  }
  return headers
}

async function probe({ app }: TestApp, path: string): Promise<number> {
  return (await fetch(app.url + path)).status
}

async function metrics({ app }: TestApp): Promise<string> {
  const answer = await fetch(`${app.url}/metrics`)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return text
}

function upload(app: TestApp, text: string): Promise<Response> {
  return post(app, CREATE, batch(pdf(text)))
}

/** Status and Retry-After of an upload of 50 MB before its first byte. */
function beginUpload({ app }: TestApp): Promise<[number | undefined, string | undefined]> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKENS.all}`, 'content-length': 50_000_000 }
    const client = request(app.url + CREATE, { method: 'POST', headers }, (answer) => {
      resolve([answer.statusCode, answer.headers['retry-after']])
      client.destroy()
    })
    client.on('error', reject)
    client.flushHeaders()
  })
}

/** Events of the warnings and errors of a node. */
function logEvents({ logLines }: TestApp, from: number): string[] {
  const lines = logLines.slice(from).flatMap((text) => text.trim().split('\n'))
  return lines
    .map((line) => JSON.parse(line) as { level: string; event: string })
    .filter(({ level }) => level === 'warn' || level === 'error')
    .map(({ event }) => event)
}

function since(from: number): number {
  return Math.round(performance.now() - from)
}
