// Second opinion on the dollar: comparison with the stored values of its days, limits of requests, wrong answers.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { findOpinionReport } from '../../../src/domain/rates/second-opinion.ts'
import { findOpinion } from '../../../src/store/rates/second-opinions.ts'
import { openSecondOpinion } from '../../../src/sync/opinion-request.ts'
import { openDesk } from '../../support/rates/memory-bank.ts'
import { type ReplayReply, startReplay } from '../../support/sources/replay.ts'

const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'

const dollar = (venta: number | string, compra: number | string = 500, day = TODAY) =>
  `{"venta":{"fecha":"${day}","valor":${venta}},"compra":{"fecha":"${day}","valor":${compra}}}`

/** A store whose dollar is 500.12 on each day up to today, and a source with one answer. */
async function open(t: TestContext, reply: ReplayReply | 'reset') {
  const desk = await openDesk(t, { backfillFrom: '2026-03-20' })
  const { clock, bank, db, deps } = desk
  bank.publish['317'] = (day) => (day <= clock.today() ? '500' : undefined)
  bank.publish['318'] = (day) => (day <= clock.today() ? '500.12' : undefined)
  await desk.sync()
  const source = await startReplay(t, clock.read, () => ({ body: '' }))
  source.fault = () => reply
  const opinion = openSecondOpinion(deps, { url: source.url, userAgent: 'cambista/test', timeoutMs: 60_000 })
  t.after(() => opinion.close())
  const providers = [bank.provider]
  const lines = () => {
    deps.log.flush()
    return desk.logged.filter((line) => line.includes('second opinion'))
  }
  return {
    ...{ ...desk, source, opinion, lines },
    request: () => opinion.request(bank.provider),
    report: () => findOpinionReport(db, { clock: clock.read, providers }),
    stored: () => findOpinion(db, 'hacienda'),
  }
}

test('an equal second opinion is no report, and its request has the form of the source', async (t) => {
  const { request, report, source, lines, stored } = await open(t, { body: dollar('500.12') })
  await request()
  assert.deepEqual([await report(), lines()], [undefined, []])
  const [seen] = source.requests
  assert.deepEqual([seen?.method, seen?.url.pathname], ['GET', '/indicadores/tc/dolar'])
  assert.deepEqual([seen?.headers.accept, seen?.headers['user-agent']], ['application/json', 'cambista/test'])
  assert.match(String(seen?.headers['x-request-id']), /^[\da-f-]{36}$/)
  assert.equal((await stored())?.answer?.sides.length, 2)
})

test('a second opinion is compared at the fewer decimals, and at two at least', async (t) => {
  const { request, report, source } = await open(t, { body: dollar('500.1204') })
  await request()
  assert.equal(await report(), undefined)
  source.fault = () => ({ body: dollar('500.1') })
  await request()
  assert.equal((await report())?.differences.length, 1)
  source.fault = () => ({ body: dollar('500.12', '500.01') })
  await request()
  assert.equal((await report())?.differences.length, 1)
})

test('a second opinion that differs by 0.01 is reported and logged once, and no value changes', async (t) => {
  const { request, report, lines, db, clock, stored } = await open(t, {
    body: dollar('500.13', 500, `${TODAY}T00:00:00-06:00`),
  })
  const rows = await db.selectFrom('rates').selectAll().execute()
  const meta = await db.selectFrom('meta').selectAll().execute()
  await request()
  const message = `the second opinion differs: venta of ${TODAY} is 500.12 here and 500.13 at Hacienda`
  const asked_at = clock.read().toISOString()
  const difference = { rate_type: 'venta', rate_date: TODAY, value: '500.12', other: '500.13' }
  assert.deepEqual(await report(), { source: 'hacienda', asked_at, message, differences: [difference] })
  await request()
  assert.equal(lines().length, 1)
  assert.match(lines()[0] ?? '', /"level":"warn".*500\.13 at Hacienda/)
  assert.deepEqual(await db.selectFrom('rates').selectAll().execute(), rows)
  assert.deepEqual(await db.selectFrom('meta').selectAll().execute(), meta)
  assert.equal((await stored())?.requests, 2)
  clock.now = new Date('2026-04-01T12:00:00Z')
  assert.equal(await report(), undefined, 'an answer of more than 7 days ago is dropped')
})

test("tomorrow's second opinion is compared when the value of that day is stored", async (t) => {
  const { request, report, bank, sync } = await open(t, { body: dollar('501', 500, TOMORROW) })
  await request()
  assert.equal(await report(), undefined)
  bank.publish['318'] = (day) => (day <= TODAY ? '500.12' : day === TOMORROW ? '500.99' : undefined)
  await sync()
  assert.deepEqual((await report())?.differences, [
    { rate_type: 'venta', rate_date: TOMORROW, value: '500.99', other: '501' },
  ])
})

test('a second opinion is requested at most three times a day', async (t) => {
  const { request, source, clock, deps, bank } = await open(t, { body: dollar('500.12') })
  for (let time = 0; time < 5; time++) await request()
  assert.equal(source.requests.length, 3)
  const restarted = openSecondOpinion(deps, { url: source.url, userAgent: 'cambista/test' })
  await restarted.request(bank.provider)
  assert.equal(source.requests.length, 3, 'a restart has the same limit')
  clock.now = new Date('2026-03-25T06:00:00Z')
  await Promise.all([request(), request()])
  assert.equal(source.requests.length, 4)
})

test('HTTP 429 silences the second opinion for a day', async (t) => {
  const { request, source, clock, report } = await open(t, {
    status: 429,
    body: '{"code":429,"status":"Too Many Requests"}',
  })
  await request()
  clock.now = new Date('2026-03-25T11:59:00Z')
  await request()
  assert.equal(source.requests.length, 1)
  clock.now = new Date('2026-03-25T12:00:00Z')
  await request()
  assert.deepEqual([source.requests.length, await report()], [2, undefined])
  clock.now = new Date('2026-03-20T12:00:00Z')
  await request()
  assert.equal(source.requests.length, 3, 'a pause that a wrong clock stored does not last')
})

const none: [title: string, reply: ReplayReply | 'reset', reason: RegExp][] = [
  ['an error in a 200', { body: '{"code":503,"status":"Service unavailable"}' }, /503 Service unavailable/],
  ['HTTP 503', { status: 503, body: '{"code":503}' }, /HTTP 503/],
  [
    'a redirect',
    { status: 302, headers: { Location: 'https://portal.example/' }, body: '' },
    /portal\.example/,
  ],
  ['HTML', { body: '<html>En mantenimiento</html>' }, /not JSON/],
  ['one side alone', { body: '{"venta":{"fecha":"2026-03-24","valor":1}}' }, /no day and value of compra/],
  ['a day that is none', { body: dollar('500', 500, '24/03/2026') }, /no day and value of compra/],
  ['a value that is none', { body: dollar('"N/E"') }, /no day and value of venta/],
  ['a large body', { body: ' '.repeat(70_000) }, /larger than 65536 bytes/],
  ['a reset connection', 'reset', /UND_ERR_SOCKET|ECONNRESET/],
]
for (const [title, reply, reason] of none) {
  test(`${title} is no second opinion, and leaves the former answer`, async (t) => {
    const { request, report, source, lines } = await open(t, { body: dollar('500.13') })
    await request()
    source.fault = () => reply
    await request()
    assert.equal((await report())?.differences.length, 1)
    assert.match(lines().at(-1) ?? '', /"there is no second opinion"/)
    assert.match(lines().at(-1) ?? '', reason)
  })
}

test('a silent source ends with its time-out, and a stop ends it at once', async (t) => {
  const { deps, bank, lines } = await open(t, { body: '' })
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  const impatient = openSecondOpinion(deps, { url, userAgent: 'cambista/test', timeoutMs: 50 })
  await impatient.request(bank.provider)
  assert.match(lines().at(-1) ?? '', /no complete answer within 0\.05 s/)
  const patient = openSecondOpinion(deps, { url, userAgent: 'cambista/test', timeoutMs: 600_000 })
  const count = lines().length
  const request = patient.request(bank.provider)
  await patient.close()
  await request
  assert.equal(lines().length, count)
})

test('an answer with the id of the request is of this machine', async (t) => {
  const { request, report, source, lines } = await open(t, { body: '' })
  source.fault = ({ headers }) => ({
    headers: { 'X-Request-Id': String(headers['x-request-id']) },
    body: dollar('1'),
  })
  await request()
  const { message, differences } = (await report()) ?? {}
  assert.deepEqual(
    [message, differences],
    ['127.0.0.1 leads to this machine: there is no second opinion', []],
  )
  assert.equal(lines().length, 1)
})
