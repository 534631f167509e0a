import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { BankFault } from '../../../src/demo/bank.ts'
import { openBccrConnection } from '../../../src/providers/bccr/bccr.ts'
import { type FailureFact, FetchFailure } from '../../../src/providers/provider.ts'
import { ask, converse, mockTimeouts, TOKEN, week } from './support.ts'

/** A pace that no stall of the machine uses up. */
const HOUR_MS = 3_600_000
const TIMEOUT: FailureFact = { code: 'timeout', host: '127.0.0.1' }

/** Returns each fault once, then none. */
function faultSequence(...faults: BankFault[]) {
  return () => faults.shift()
}

const always = (fault: BankFault) => () => fault

function failure(message: RegExp, fact?: FailureFact) {
  return (error: unknown) => {
    assert.ok(error instanceof FetchFailure, String(error))
    assert.match(error.message, message)
    if (fact) assert.deepEqual(error.fact, fact)
    assert.ok(!error.message.includes(TOKEN) && !String(error.cause).includes(TOKEN))
    return true
  }
}

const passing: [title: string, fault: BankFault][] = [
  ['HTTP 500', { status: 500, body: 'x' }],
  ['HTTP 503 without a body', { status: 503 }],
  ['HTTP 429', { status: 429 }],
  ['a cut body', 'cut'],
  ['a reset connection', 'reset'],
  [
    'a body that is no gzip',
    { status: 200, headers: { 'Content-Encoding': 'gzip' }, body: 'no gzip at all' },
  ],
]
for (const [title, fault] of passing) {
  test(`get retries after ${title}`, async (t) => {
    const { bank, connection, waits } = await converse(t, { faults: faultSequence(fault, fault) })
    assert.equal((await connection.read(week())).observations.length, 7)
    assert.equal(bank.requests.length, 3)
    assert.equal(waits.length, 2)
    assert.ok(between(waits[0], 1500, 2500) && between(waits[1], 3000, 5000), String(waits))
  })
}

test('get fails after three retries, then makes single attempts until an answer', async (t) => {
  const { bank, connection, waits } = await converse(t, {
    faults: always({ status: 502, body: 'Bad\n gateway' }),
  })
  await assert.rejects(
    connection.read(week()),
    failure(/^318: HTTP 502: Bad gateway$/, { code: 'http_status', status: 502 }),
  )
  assert.equal(bank.requests.length, 4)
  assert.ok(between(waits[2], 6000, 10_000))
  await assert.rejects(connection.read(week()), failure(/318: HTTP 502/))
  assert.equal(bank.requests.length, 5)
  bank.faults = undefined
  await connection.read(week())
  bank.faults = always({ status: 502 })
  await assert.rejects(connection.read(week()), failure(/318/))
  assert.equal(bank.requests.length, 10)
})

const delays: [title: string, headers: Record<string, string>, ms: number][] = [
  ['seconds', { 'Retry-After': '7' }, 7000],
  ['no time', { 'Retry-After': '0' }, 0],
  [
    'a date',
    { 'Retry-After': 'Sun, 20 Sep 2026 10:00:30 GMT', Date: 'Sun, 20 Sep 2026 10:00:00 GMT' },
    30_000,
  ],
  [
    'a past date',
    { 'Retry-After': 'Sun, 20 Sep 2026 09:00:00 GMT', Date: 'Sun, 20 Sep 2026 10:00:00 GMT' },
    0,
  ],
]
for (const [title, headers, ms] of delays) {
  test(`get waits as long as Retry-After: ${title}`, async (t) => {
    const { connection, waits } = await converse(t, { faults: faultSequence({ status: 429, headers }) })
    await connection.read(week())
    assert.deepEqual(waits, ms === 0 ? [] : [ms])
  })
}

test('get ignores an invalid Retry-After', async (t) => {
  const { connection, waits } = await converse(t, {
    faults: faultSequence({ status: 429, headers: { 'Retry-After': '-5' } }),
  })
  await connection.read(week())
  assert.ok(between(waits[0], 1500, 2500), String(waits))
})

test('get ignores a Date without a zone', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-03-24T12:00:00Z') })
  const headers = {
    'Retry-After': 'Tue, 24 Mar 2026 12:01:00 GMT',
    Date: 'Sun Sep 20 10:00:00 2026',
  }
  const { connection, waits } = await converse(t, { faults: faultSequence({ status: 429, headers }) })
  await connection.read(week())
  assert.deepEqual(waits, [60_000])
})

test('get fails when Retry-After is over two minutes', async (t) => {
  const { bank, connection, waits } = await converse(t, {
    faults: always({ status: 429, headers: { 'Retry-After': '121' } }),
  })
  await assert.rejects(connection.read(week()), failure(/^318: HTTP 429.*wait 121 s/))
  assert.deepEqual([bank.requests.length, waits.length], [1, 0])
})

const final: [title: string, fault: BankFault, message: RegExp][] = [
  [
    'a bad parameter',
    { status: 400, body: '{"CodigoError":"400","Mensaje":"El indicador no existe."}' },
    /^318: HTTP 400: El indicador no existe\.$/,
  ],
  ['another client error', { status: 418, body: '<h1>no</h1>' }, /^318: HTTP 418: <h1>no<\/h1>$/],
  [
    'HTML with 200',
    { status: 200, body: '<html>\n<body>Mantenimiento' },
    /^318: .*not JSON: <html> <body>Mant/,
  ],
  [
    'more values than a table has',
    { status: 200, body: `[${'{},'.repeat(300_000)}{}]` },
    /^318: the answer holds too many values: \[\{\},/,
  ],
  ['a long body', { status: 400, body: 'x'.repeat(5000) }, /^318: HTTP 400: x{300}$/],
  ['no content', { status: 204 }, /^318: .*not JSON$/],
]
for (const [title, fault, message] of final) {
  test(`get does not retry after ${title}`, async (t) => {
    const { bank, connection } = await converse(t, { faults: always(fault) })
    await assert.rejects(connection.read(week()), failure(message))
    assert.equal(bank.requests.length, 1)
  })
}

test('get masks an echoed token, also at the end of the excerpt', async (t) => {
  const echo = { status: 400, body: `${TOKEN} ${'y'.repeat(285)} ${TOKEN}` }
  const { bank, connection } = await converse(t, { faults: always(echo) })
  await assert.rejects(connection.read(week()), failure(/^318: HTTP 400: \*\*\* y{285} \*\*\*$/))
  bank.faults = always({ status: 200, body: `{"estado":false,"mensaje":"${TOKEN}"}` })
  await assert.rejects(connection.read(week()), failure(/estado.*\*\*\*/))
})

test('get masks the token in a name', async (t) => {
  const datos = [{ codigoIndicador: '318', nombreIndicador: TOKEN, series: [] }]
  const echo = { status: 200, body: JSON.stringify({ estado: true, datos }) }
  const { connection } = await converse(t, { faults: always(echo) })
  assert.deepEqual((await connection.read(week())).listed, [{ code: '318', name: '***' }])
})

test('get never follows a redirect', async (t) => {
  const otherHost = await converse(t)
  const Location = `${otherHost.bank.url}/x?t=${TOKEN}`
  for (const status of [301, 302, 303, 307, 308]) {
    const { connection } = await converse(t, { faults: always({ status, headers: { Location } }) })
    await assert.rejects(connection.read(week()), failure(/^318: HTTP 30.*redirect.*never followed/))
  }
  assert.equal(otherHost.bank.requests.length, 0)
})

test('get reports an unreachable bank', async (t) => {
  const { bank, connection } = await converse(t)
  await bank.close()
  const { port } = new URL(bank.url)
  const refused = new RegExp(`^318: 127\\.0\\.0\\.1:${port} cannot be reached \\(ECONNREFUSED\\)$`)
  await assert.rejects(connection.read(week()), failure(refused))
})

test('get reports host, port and cause of a reserved port, without a retry', async () => {
  const waits: number[] = []
  for (const [url, place] of [
    ['http://127.0.0.1:6000', '127.0.0.1:6000'],
    ['https://[::1]:6667/SDDE', '[::1]:6667'],
  ] as const) {
    const message = `318: ${place} cannot be reached (bad port: it is reserved, no HTTP client opens it)`
    const settings = { url, token: TOKEN, userAgent: 'cambista/test', paceMs: 0 }
    const { signal } = new AbortController()
    const connection = openBccrConnection(settings, signal, { sleep: async (ms) => void waits.push(ms) })
    await assert.rejects(connection.read(week()), { name: 'FetchFailure', message })
  }
  assert.deepEqual(waits, [], 'it waited for another try')
})

test('get times out a bank that does not answer', async (t) => {
  const expire = mockTimeouts(t)
  const faults = () => {
    expire()
    return 'hang' as const
  }
  const { bank, connection } = await converse(t, { faults })
  await assert.rejects(connection.read(week()), failure(/^318: .*no complete answer in time/, TIMEOUT))
  assert.equal(bank.requests.length, 4)
})

test('get times out a body that never ends', async (t) => {
  const server = createServer((_request, response) => void response.write('{"estado":'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connection = openBccrConnection(
    { url, token: TOKEN, paceMs: 0, userAgent: 'x' },
    new AbortController().signal,
    { sleep: async () => undefined },
  )
  mockTimeouts(t, { isAtHeaders: true })
  await assert.rejects(connection.read(week()), failure(/^318: the answer was cut short/, TIMEOUT))
})

test('get limits the size of a decompressed body', async (t) => {
  const zipped = gzipSync(Buffer.alloc(200_000, ' '))
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    response.setHeader('Content-Encoding', 'gzip')
    response.end(zipped)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const settings = { url, token: TOKEN, paceMs: 0, userAgent: 'x' }
  const open = (bodyLimit: number) =>
    openBccrConnection(settings, new AbortController().signal, { bodyLimit })
  await assert.rejects(open(199_999).read(week()), failure(/^318: the answer is larger than 199999 bytes$/))
  await assert.rejects(open(200_000).read(week()), failure(/not JSON/))
  assert.equal(requests, 2)
})

test('get waits for the pace between the starts of requests', async (t) => {
  const { connection, waits } = await converse(t, { paceMs: HOUR_MS })
  await connection.read(ask('520', undefined, '2026-01-01', '2026-09-20'))
  assert.equal(waits.length, 2)
  assert.ok(
    waits.every((ms) => between(ms, HOUR_MS / 2, HOUR_MS)),
    String(waits),
  )
})

test('get sends the configured User-Agent', async (t) => {
  const { bank, connection } = await converse(t)
  await connection.read(week())
  assert.equal(bank.requests[0]?.userAgent, 'cambista/test')
})

test('get stops at once when aborted, with the reason', async (t) => {
  const reason = new Error('shutting down')
  const silent = await converse(t)
  silent.bank.faults = () => {
    silent.abort.abort(reason)
    return 'hang'
  }
  await assert.rejects(silent.connection.read(week()), (error) => error === reason)

  const sleep = (ms: number, signal: AbortSignal) => {
    setImmediate(() => pausing.abort.abort(reason))
    return until(ms, signal)
  }
  const pausing = await converse(t, { faults: always({ status: 503 }), tuning: { sleep } })
  await assert.rejects(pausing.connection.read(week()), (error) => error === reason)
  await assert.rejects(pausing.connection.read(week()), (error) => error === reason)
  assert.equal(pausing.bank.requests.length, 1)
})

/** Waits for the signal, like a long sleep. */
function until(_ms: number, signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function between(value: number | undefined, low: number, high: number): boolean {
  return value !== undefined && value >= low && value <= high
}
