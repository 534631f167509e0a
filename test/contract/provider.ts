// Contract suite of providers. A valid answer has the published values. An empty one is valid. Other answers are a
// FetchFailure without secrets. The test of a provider calls `testProvider(…)`.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  FetchFailure,
  type FetchRequest,
  type Provider,
  type RequestTuning,
  type SourceAnswer,
  type SourceConnection,
  UnsynchronizedFailure,
  type Window,
} from '../../src/providers/provider.ts'
import { addDays, currentDay, type IsoDate } from '../../src/values/dates.ts'
import { canonicalNumber } from '../../src/values/decimal.ts'
import { until } from '../support/terminal.ts'
import { testDeclaration } from './declaration.ts'
import { type FaultySource, type Manner, type Reply, startFaultySource } from './faulty-source.ts'
import {
  bodiesWithoutRows,
  cutBodies,
  encodedReplies,
  harmfulReplies,
  laterReplies,
  rowChanges,
  valueChanges,
  wrongOutcome,
} from './harms.ts'
import { testScaledValues } from './scaled.ts'

/** Request with the body of its answer. */
export type Exchange = { ask: FetchRequest; body: string }

/** Changes of each value and each day of an answer. A provider writes its days in its own form. */
export type Rewriting = { value: (text: string) => string; day: (day: IsoDate) => string }

export type ProviderSample = {
  provider: Provider
  /** Undefined: the source needs none. */
  token: string | undefined
  /** Values of the answer, in canonical form: `[code, day, value]`. */
  valid: Exchange & { values: [code: string, day: string, value: string][] }
  /** Request for days without data. An empty body is a failure, unless it is this answer. */
  empty: Exchange
  /** Well-formed texts that are not valid answers. */
  wrong: string[]
  /** Returns the body of the valid answer with other values and days. */
  rewrite: (change: Rewriting) => string
  /** Returns the body of the valid answer with other rows; undefined: its rows have no rule. */
  rewriteRows?: (change: (rows: string[]) => string[]) => string
  /** An answer does not show that one of its rows is missing. Default: that of a source of each day. */
  mayLackRows?: boolean
  /** Bodies of another currency or indicator than the requested ones. */
  strangers?: string[]
  /** The source sends days before those of a request. */
  sendsEarlierDays?: true
  /** Answer about unsynchronized days of the valid request; undefined: no source of this kind has one. */
  unsynchronized?: { reply: Reply; days: Window }
  /** Returns the answer of a sign-on path. */
  signOn?: (path: string) => string | undefined
}

const MAINTENANCE = '<!doctype html>\n<html><body><h1>En mantenimiento</h1></body></html>'
const LARGEST = 8 * 1024 * 1024

export function testProvider(name: string, sample: ProviderSample): void {
  const { provider, token, valid, empty, wrong, signOn } = sample
  /** The day after the window. */
  const AFTERWARDS = { Date: new Date(`${addDays(valid.ask.window.to, 1)}T18:00:00Z`).toUTCString() }
  testDeclaration(name, provider)
  testScaledValues(name, sample)

  test(`${name}: a valid answer has each value as published`, async (t) => {
    const { connection } = await open(t, sample, { body: valid.body })
    const { listed, observations } = await connection.read(valid.ask)
    assert.deepEqual(
      observations.map(({ code, day, value }) => [code, day, canonicalNumber(value)]),
      valid.values,
    )
    const codes = new Set(listed.map(({ code }) => code))
    for (const { code, value, roundedTo } of observations) {
      assert.ok(codes.has(code), `${code} is listed`)
      assert.ok(valid.body.includes(value), `${value} stands so in the answer`)
      assert.equal(roundedTo === undefined, connection.exact)
    }
    assert.deepEqual(connection.notices(), [])
  })

  test(`${name}: an empty answer is valid`, async (t) => {
    const { connection } = await open(t, sample, { body: empty.body })
    assert.deepEqual((await connection.read(empty.ask)).observations, [])
  })

  const failing: [title: string, manner: Manner][] = [
    ['HTML of maintenance', { body: MAINTENANCE }],
    ['HTTP 500', { status: 500, body: MAINTENANCE }],
    ['HTTP 400', { status: 400, body: '' }],
    ['HTTP 401', { status: 401, body: '' }],
    ['HTTP 429', { status: 429, body: '' }],
    ['a redirect', { status: 302, headers: { Location: 'http://127.0.0.1:9/' }, body: '' }],
    ...(empty.body === '' ? [] : [['nothing', { body: '' }] satisfies [string, Manner]]),
    ['silence', 'hang'],
    ['a reset connection', 'reset'],
    ['a connection that ends too early', { cut: valid.body }],
    ['half a document', { body: valid.body.slice(0, valid.body.trimEnd().length / 2) }],
    ['a document without its end', { body: valid.body.trimEnd().slice(0, -1) }],
    ['bytes that are no text', { body: Buffer.from([0xff, 0xfe, 0x00, 0x1f, 0x8b]) }],
    ['a compressed body that is none', { headers: { 'Content-Encoding': 'gzip' }, body: valid.body }],
    ['an answer that a cache has had for two days', { headers: { Age: '172800' }, body: valid.body }],
    ['a huge body', { body: valid.body + ' '.repeat(LARGEST) }],
    ...harmfulReplies(sample),
    ...encodedReplies(sample),
    ...wrong.map((body): [string, Manner] => [
      `wrong content: ${body.slice(0, 40).replace(/\s+/g, ' ')}`,
      { body },
    ]),
  ]
  for (const [title, manner] of failing) {
    test(`${name}: ${title} is a failure`, async (t) => {
      const { connection, source } = await open(t, sample, manner)
      await assert.rejects(connection.read(valid.ask), isFailureWithoutSecret(token))
      assert.ok(source.seen.length > 0, 'it was asked')
      source.manner = { body: valid.body }
      // The next window is requested again. A refused token may have been dropped.
      if (title !== 'HTTP 401')
        assert.equal((await connection.read(valid.ask)).observations.length, valid.values.length)
    })
  }

  for (const [title, manner] of laterReplies(sample)) {
    test(`${name}: ${title} are neither stored nor covered`, async (t) => {
      const { connection } = await open(t, sample, manner)
      const answer = await readOrFail(sample, connection, valid.ask)
      if (answer) assert.deepEqual(wrongOutcome(sample, answer), [])
    })
  }

  for (const [title, body] of rowChanges(sample)) {
    test(`${name}: ${title} change no value, and cover no day without its value`, async (t) => {
      const { connection } = await open(t, sample, { headers: AFTERWARDS, body })
      const answer = await readOrFail(sample, connection, valid.ask)
      if (answer) assert.deepEqual(wrongOutcome(sample, answer), [])
    })
  }

  test(`${name}: rows that are missing change no value, and no day of theirs is covered`, async (t) => {
    const { connection, source } = await open(t, sample, { body: valid.body })
    for (const body of bodiesWithoutRows(sample)) {
      source.manner = { headers: AFTERWARDS, body }
      const answer = await readOrFail(sample, connection, { ...valid.ask, again: true })
      // The sync counts the answers without a day of a source that publishes each day.
      const ignoresHoles = sample.mayLackRows ?? provider.publication.days === 'every day'
      if (answer) assert.deepEqual(wrongOutcome(sample, answer, { ignoresHoles }), [], body)
    }
  })

  test(`${name}: a body that ends early covers no day whose value it lacks`, async (t) => {
    const { connection, source } = await open(t, sample, { body: valid.body })
    for (const body of cutBodies(sample)) {
      source.manner = { headers: AFTERWARDS, body }
      const answer = await readOrFail(sample, connection, { ...valid.ask, again: true })
      if (answer) assert.deepEqual(wrongOutcome(sample, answer), [], `${body.length}: ${body.subarray(-80)}`)
    }
  })

  for (const [title, body] of valueChanges(sample)) {
    test(`${name}: ${title} are neither stored nor covered`, async (t) => {
      const { connection } = await open(t, sample, { headers: AFTERWARDS, body })
      const answer = await readOrFail(sample, connection, valid.ask)
      if (answer) assert.deepEqual(wrongOutcome(sample, answer), [])
    })
  }

  test(`${name}: values without a text are not stored`, async (t) => {
    const { connection, source } = await open(t, sample, { body: '' })
    for (const marker of ['', 'N/E', 'NaN', '-']) {
      source.manner = {
        headers: AFTERWARDS,
        body: sample.rewrite({ value: () => marker, day: (day) => day }),
      }
      const answer = await readOrFail(sample, connection, { ...valid.ask, again: true })
      assert.deepEqual(answer && wrongOutcome(sample, answer, { ignoresHoles: true }), [])
    }
  })

  for (const body of sample.strangers ?? []) {
    test(`${name}: another currency is neither stored nor covered: ${body.slice(0, 40).replace(/\s+/g, ' ')}`, async (t) => {
      const { connection } = await open(t, sample, { headers: AFTERWARDS, body })
      const answer = await readOrFail(sample, connection, valid.ask)
      if (answer) assert.deepEqual(wrongOutcome(sample, answer), [])
    })
  }

  test(`${name}: an answer of the year before is a failure`, async (t) => {
    const { from, to } = valid.ask.window
    const window = { from: addDays(from, 365), to: addDays(to, 365) }
    const headers = { Date: new Date(`${window.to}T18:00:00Z`).toUTCString() }
    const { connection, source } = await open(t, sample, { headers, body: valid.body })
    await assert.rejects(connection.read({ ...valid.ask, window }), isFailureWithoutSecret(token))
    assert.ok(source.seen.length > 0, 'it was asked')
  })

  test(`${name}: an answer in UTF-8 with its mark, or compressed, has the same values`, async (t) => {
    const { connection, source } = await open(t, sample, { body: valid.body })
    const expected = await connection.read(valid.ask)
    const replies: Reply[] = [
      { body: Buffer.from(`\ufeff${valid.body}`) },
      { headers: { 'Content-Encoding': 'gzip' }, body: gzipSync(valid.body) },
    ]
    for (const reply of replies) {
      source.manner = reply
      assert.deepEqual(await connection.read({ ...valid.ask, again: true }), expected)
    }
    source.manner = { body: Buffer.from(valid.body, 'latin1') }
    const answer = await readOrFail(sample, connection, { ...valid.ask, again: true })
    if (answer) assert.deepEqual(wrongOutcome(sample, answer), [], 'Latin 1')
  })

  test(`${name}: no redirect is followed, whatever is there`, async (t) => {
    const body = sample.rewrite({ value: (value) => `1${value}`, day: (day) => day })
    const stranger = await startFaultySource(t, { body }, signOn)
    for (const status of [300, 301, 302, 303, 307, 308]) {
      for (const place of ['/elsewhere', `${stranger.url}/elsewhere`]) {
        const headers = { Location: place }
        const { connection } = await open(
          t,
          { ...sample, signOn: elsewhere(body, signOn) },
          { status, headers, body },
        )
        await assert.rejects(connection.read(valid.ask), isFailureWithoutSecret(token), `${status} ${place}`)
      }
    }
    assert.deepEqual(stranger.seen, [])
  })

  const refusals: [title: string, manner: Manner, message: RegExp][] = [
    ['HTTP 403', { status: 403, body: '' }, /HTTP 403.* \(it refuses the User-Agent "cambista\/test"/],
    ['HTTP 406', { status: 406, body: '' }, /HTTP 406.* \(it does not answer in the form "/],
    [
      'a redirect to another host',
      { status: 301, headers: { Location: 'https://bank.example/new' }, body: '' },
      /HTTP 301, a redirect to another host, "https:\/\/bank\.example\/new"/,
    ],
  ]
  if (provider.isOptional) {
    const ours = /HTTP 41[34].* \(the request of cambista is too large: report this fault\)$/
    refusals.push(
      ['HTTP 404', { status: 404, body: '' }, /HTTP 404.* \(the address of these data has moved\)$/],
      ['HTTP 413', { status: 413, body: '' }, ours],
      ['HTTP 414', { status: 414, body: '' }, ours],
    )
  }
  for (const [title, manner, message] of refusals) {
    test(`${name}: the message names ${title}`, async (t) => {
      const { connection, source } = await open(t, sample, manner)
      await assert.rejects(connection.read(valid.ask), message)
      for (const { headers } of source.seen) {
        assert.notEqual(JSON.parse(headers).accept ?? '*/*', '*/*', 'requests say which form they take')
      }
    })
  }

  const { unsynchronized } = sample
  if (unsynchronized) {
    test(`${name}: UnsynchronizedFailure has the days, without a retry or a wait`, async (t) => {
      const waits: number[] = []
      const sleep = async (ms: number) => void waits.push(ms)
      const { connection, source } = await open(t, sample, unsynchronized.reply, { sleep })
      await assert.rejects(connection.read(valid.ask), (error) => {
        assert.ok(error instanceof UnsynchronizedFailure, String(error))
        assert.deepEqual(error.days, unsynchronized.days)
        return isFailureWithoutSecret(token)(error)
      })
      assert.deepEqual([source.seen.length, waits], [1, []])
      source.manner = { body: valid.body }
      assert.equal((await connection.read(valid.ask)).observations.length, valid.values.length)
      assert.deepEqual([connection.notices(), waits], [[], []])
    })
  }

  if (token !== undefined) {
    test(`${name}: the token is in the header of requests only`, async (t) => {
      const { connection, source } = await open(t, sample, { body: valid.body })
      await connection.read(valid.ask)
      for (const { path, headers } of source.seen) {
        assert.ok(headers.includes(token))
        assert.ok(!path.includes(token))
      }
      for (const echo of [200, 400, 500, 401]) {
        source.manner = { echo }
        const result = await connection.read(valid.ask).then(JSON.stringify, String)
        assert.match(result, /Failure/)
        assert.ok(!result.includes(token), result)
      }
      assert.ok(!JSON.stringify(connection.notices()).includes(token))
    })
  }

  test(`${name}: sourceDay is in the time zone of the provider`, async (t) => {
    const { connection, source } = await open(t, sample, { body: valid.body })
    assert.equal(connection.sourceDay, undefined)
    for (let hour = 0; hour < 24; hour += 3) {
      const instant = new Date(Date.UTC(2026, 2, 24, hour, 30))
      source.manner = { headers: { Date: instant.toUTCString() }, body: valid.body }
      await connection.read({ ...valid.ask, again: true })
      assert.equal(
        connection.sourceDay,
        currentDay(() => instant, provider.timeZone),
      )
    }
    source.manner = { headers: { Date: 'Tue Mar 24 12:00:00 2026' }, body: valid.body }
    await connection.read({ ...valid.ask, again: true })
    assert.equal(connection.sourceDay, undefined, 'a Date without a zone')
  })

  test(`${name}: an aborted connection stops at once, with the reason`, async (t) => {
    const { connection, source, abort } = await open(t, sample, 'hang', { timeoutMs: 60_000 })
    const reason = new Error('shutting down')
    const reading = connection.read(valid.ask)
    await until(() => source.seen.length > 0)
    abort.abort(reason)
    await assert.rejects(reading, (error) => error === reason)
    await assert.rejects(connection.read(valid.ask), (error) => error === reason)
    assert.equal(source.seen.length, 1)
  })

  test(`${name}: requests have the User-Agent and wait for the pace`, async (t) => {
    const waits: number[] = []
    const sleep = async (ms: number) => void waits.push(ms)
    const { connection, source } = await open(t, sample, { body: valid.body }, { sleep }, 3_600_000)
    await connection.read(valid.ask)
    await connection.read({ ...valid.ask, again: true })
    for (const { userAgent } of source.seen) assert.equal(userAgent, 'cambista/test')
    assert.ok(waits.length > 0 && waits.every((ms) => ms > 3_000_000 && ms <= 3_600_000), String(waits))
  })
}

async function open(
  t: TestContext,
  { provider, token, signOn }: ProviderSample,
  manner: Manner,
  tuning: RequestTuning = {},
  paceMs = 0,
) {
  const source: FaultySource = await startFaultySource(t, manner, signOn)
  const abort = new AbortController()
  const settings = { url: source.url, token, paceMs, userAgent: 'cambista/test' }
  const quick = { sleep: async () => undefined, timeoutMs: 60_000, ...tuning }
  if (manner === 'hang' && tuning.timeoutMs === undefined) quick.timeoutMs = 250
  return { source, abort, connection: provider.connect(settings, abort.signal, quick) }
}

/** Returns the answer to a request; undefined: it is a failure. */
function readOrFail(
  { token }: ProviderSample,
  connection: SourceConnection,
  request: FetchRequest,
): Promise<SourceAnswer | undefined> {
  return connection.read(request).catch((error) => {
    assert.ok(isFailureWithoutSecret(token)(error))
    return undefined
  })
}

/** Returns the answers of a sign-on, and of a redirect within the source. */
function elsewhere(body: string, signOn: ProviderSample['signOn']): ProviderSample['signOn'] {
  return (path) => (path.endsWith('/elsewhere') ? body : signOn?.(path))
}

/** Returns an assertion for a FetchFailure without the token. */
function isFailureWithoutSecret(token: string | undefined) {
  return (error: unknown) => {
    assert.ok(error instanceof FetchFailure, String(error))
    assert.notEqual(error.message, '')
    assert.ok(error.message.length < 1000, error.message)
    if (token !== undefined) assert.ok(!`${error.message} ${error.cause}`.includes(token))
    return true
  }
}
