// Support for the tests of the API: one app for a file, and requests that fetch cannot send. A second
// connection to the database is another process to the running app.

import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { after, type TestContext } from 'node:test'
import { raiseRevision } from '../../src/store/meta.ts'
import type { LeaseTimes } from '../../src/store/postgres/lease.ts'
import { replaceCoverage, selectCoverage } from '../../src/store/rates/coverage.ts'
import { markSeriesChanged, upsertRates } from '../../src/store/rates/rates.ts'
import { selectSeries } from '../../src/store/rates/series.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { addInterval, type Interval, subtractInterval } from '../../src/values/intervals.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'
import { openTestDatabase } from '../support/temporary.ts'

export type Answer = { status: number; headers: IncomingHttpHeaders; body: string }

/** A parameter of a 422. */
export type Item = { loc: (string | number)[]; msg: string; type: string; input?: unknown }

export const ENDPOINTS = [
  '/api/v1/health',
  '/api/v1/providers',
  '/api/v1/series',
  '/api/v1/rates/latest',
  '/api/v1/rates',
  '/api/v1/series/1/history',
  '/api/v1/convert?amount=1&from=USD&to=CRC',
  '/api/v1/history?base=EUR&quote=CRC&every=month&stat=mean',
  '/api/v1/revisions',
  '/api/v1/sync/runs',
  '/api/v1/scheduler',
  '/api/v1/status',
] as const

export const CACHED = ENDPOINTS.filter((path) => !/health$|revisions$|runs$|scheduler$|status$/.test(path))
export const PROBES = ['/healthz', '/readyz'] as const
export const OPEN = [...PROBES, '/openapi.json', '/openapi-compat.json'] as const

/** Leases outlast a process of many files that gets no turn for half a minute. No test of the API is about them. */
const PATIENT: LeaseTimes = { ttlMs: 60_000, renewMs: 5000 }

/** An app for all tests of a file. */
export function openApp(options: TestAppOptions = {}): Promise<TestApp> {
  const lasting: Pick<TestContext, 'after'> = { after: (done) => after(done as () => void) }
  return startTestApp(lasting as TestContext, { leaseTimes: PATIENT, ...options })
}

/** A request without a key and without the default headers of fetch. */
export function send(url: string, options: { method?: string; headers?: OutgoingHttpHeaders } = {}) {
  const { method = 'GET', headers = {} } = options
  return new Promise<Answer & { bytes: Buffer }>((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, body: bytes.toString(), bytes })
      })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** Sends bytes to the server's port and returns the first final answer; status 0 without one. */
export function exchange(url: string, bytes: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    const finish = () => {
      socket.destroy()
      resolve(parseAnswer(received) ?? { status: 0, headers: {}, body: received })
    }
    socket.setTimeout(20_000, finish) // a limit for a broken server
    socket.on('error', reject)
    socket.on('close', finish)
    socket.on('data', (chunk) => {
      received = (received + chunk.toString('latin1')).replace(/^HTTP\/1\.1 100 [\s\S]*?\r\n\r\n/, '')
      if (parseAnswer(received)) finish()
    })
    socket.write(bytes, 'latin1')
  })
}

function parseAnswer(received: string): Answer | undefined {
  const end = received.indexOf('\r\n\r\n')
  const [first = '', ...lines] = received.slice(0, Math.max(0, end)).split('\r\n')
  const pairs = lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.split(': ')[1]])
  const headers = Object.fromEntries(pairs) as IncomingHttpHeaders
  const body = received.slice(end + 4)
  if (end < 0 || body.length < Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)) return undefined
  return { status: Number(first.split(' ')[1]), headers, body }
}

/** The items of a 422. */
export async function validationItems(app: TestApp, path: string): Promise<Item[]> {
  const response = await app.get(path)
  const body = await response.text()
  assert.equal(response.status, 422, `${path}: ${response.status} ${body}`)
  return (JSON.parse(body) as { detail: Item[] }).detail
}

/** The text of an error with another status. */
export async function errorDetail(app: TestApp, path: string, status: number): Promise<string> {
  const response = await app.get(path)
  const body = await response.text()
  assert.equal(response.status, status, `${path}: ${response.status} ${body}`)
  const { detail, hint, see, ...rest } = JSON.parse(body) as Record<'detail' | 'hint' | 'see', string>
  assert.deepEqual(rest, {})
  assert.ok(hint === undefined || [401, 404].includes(status), `a hint in a ${status}`)
  assert.ok(see === undefined || status === 404, `a path to see in a ${status}`)
  assert.ok(typeof detail === 'string' && detail !== '', body)
  return detail
}

/** Commits over another connection. */
export async function asOtherProcess<T>(app: TestApp, change: (db: WriteDb) => Promise<T>): Promise<T> {
  const db = openTestDatabase(app.dataDir)
  try {
    return await change(db)
  } finally {
    await db.destroy()
  }
}

/** Stores a corrected value, as a sync of another process does. */
export function storeAsOtherProcess(app: TestApp, rate: { series: number; day: string; value: string }) {
  return asOtherProcess(app, (db) =>
    db.transaction().execute(async (trx) => {
      const { series, day, value } = rate
      const row = { series_id: series, rate_date: day, value, rounded_to: null }
      await upsertRates(trx, [row], Date.now())
      const covered = (await selectCoverage(trx)).get(series) ?? []
      const answered = new Map([[series, addInterval(covered, { from: day, to: day })]])
      await replaceCoverage(trx, 'answered', answered, Date.now())
      await markSeriesChanged(trx, [series], await raiseRevision(trx))
    }),
  )
}

/** Deletes values and coverage of some days, of every series or of `codes`, as if never synchronized. */
export function loseDays(app: TestApp, days: Interval, codes?: readonly string[]): Promise<void> {
  return asOtherProcess(app, (db) =>
    db.transaction().execute(async (trx) => {
      const { from, to } = days
      const series = (await selectSeries(trx)).filter((one) => codes?.includes(one.external_code) ?? true)
      const coverage = new Map(await selectCoverage(trx))
      for (const { id } of series) {
        const rates = trx.deleteFrom('rates').where('series_id', '=', id)
        await rates.where('rate_date', '>=', from).where('rate_date', '<=', to).execute()
        coverage.set(id, subtractInterval(coverage.get(id) ?? [], days))
      }
      await replaceCoverage(trx, 'answered', coverage, Date.now())
      await markSeriesChanged(trx, [...coverage.keys()], await raiseRevision(trx))
    }),
  )
}

/** Marks the values of some days as rounded to two decimals, of every series of `codes`. */
export function roundDays(app: TestApp, { from, to }: Interval, codes: readonly string[]): Promise<void> {
  return asOtherProcess(app, (db) =>
    db.transaction().execute(async (trx) => {
      const series = (await selectSeries(trx)).filter((one) => codes.includes(one.external_code))
      const ids = series.map(({ id }) => id)
      const rates = trx.updateTable('rates').set({ rounded_to: 2 }).where('series_id', 'in', ids)
      await rates.where('rate_date', '>=', from).where('rate_date', '<=', to).execute()
      await markSeriesChanged(trx, ids, await raiseRevision(trx))
    }),
  )
}
