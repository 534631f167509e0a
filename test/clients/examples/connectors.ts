// Scenarios that each printed example passes, as the file that `cambista example NAME` prints. The server is a real app
// behind a proxy that can answer in its place.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, suite, type TestContext, test } from 'node:test'
import { EXAMPLES } from '../../../src/cli/commands/example.ts'
import { loseDays } from '../../api/support.ts'
import { type TestApp, temporaryDirectory } from '../../support/app.ts'
import { runCommand, until } from '../../support/terminal.ts'
import { KEY, openForClients, run, TODAY } from '../support.ts'

/** Answers a request in place of the server. */
type Answerer = (response: ServerResponse) => void

export type Front = {
  url: string
  /** Answers of the next requests; the server answers those after them. */
  answers: Answerer[]
  requests: { path: string; headers: IncomingHttpHeaders }[]
}

type End = { code: number; out: string; err: string }
type Conversion = { result: string; rate: string; rate_date: string }

/** Prints an example and writes it into a file of its usual name. */
export async function writeExample(t: TestContext, name: string): Promise<string> {
  const { code, out, err } = await runCommand(['example', name])
  assert.deepEqual([code, err], [0, ''])
  const file = join(temporaryDirectory(t), EXAMPLES[name]?.target ?? '')
  writeFileSync(file, out)
  return file
}

/** Starts a proxy of the app that answers `answers` first. */
export async function openFront(t: TestContext, app: TestApp): Promise<Front> {
  const front: Front = { url: '', answers: [], requests: [] }
  const server = createServer((incoming, response) => {
    const { url: path = '', headers } = incoming
    front.requests.push({ path, headers })
    const answerer = front.answers.shift()
    if (answerer) return answerer(response)
    const onward = request(app.app.url + path, { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.on('error', (error) => response.destroy(error))
    onward.end()
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  front.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return front
}

/** Answers 503 with this Retry-After. */
export const busy =
  (seconds: number): Answerer =>
  (response) =>
    void response.writeHead(503, { 'retry-after': String(seconds) }).end('{"detail":"busy"}')

/** Sends half of a 200, and closes the connection. */
export const cut: Answerer = (response) => {
  response.writeHead(200, { 'content-length': 1000 })
  response.write('{"provider":"bccr","rate_date":"2026-03-2', () => response.destroy())
}

/** Sends nothing until the client gives up. */
export const silent: Answerer = () => {}

/** Redirects to another address. */
export const redirect: Answerer = (response) =>
  void response.writeHead(302, { location: `http://127.0.0.1:${response.socket?.localPort}/other` }).end()

/** Answers a value of this day. */
export const oldValue =
  (day: string): Answerer =>
  (response) =>
    void response.end(JSON.stringify({ rate_date: day, amount: '1', rate: '500', result: '500' }))

/** Loses the days from 2026-02-02 to 2026-02-13. The server has noticed it when this returns. */
export async function loseWeeks(app: TestApp): Promise<void> {
  await loseDays(app, { from: '2026-02-02', to: '2026-02-13' })
  const path = '/api/v1/rates/latest?base=USD&quote=CRC&on=2026-02-10'
  await until(async () => (await app.get(path)).status === 404)
}

/**
 * Runs the scenarios, four at once, since most of their time is waiting. `prepare` returns the command that runs a
 * printed file.
 */
export async function testConnector(
  name: string,
  prepare: (file: string) => string[] | Promise<string[]>,
): Promise<void> {
  const lasting = { after: (work: () => void) => after(work) } as TestContext
  const app = await openForClients()
  const command = await prepare(await writeExample(lasting, name))

  async function runConversion(
    front: Front,
    words: string[],
    env: Record<string, string> = {},
  ): Promise<End> {
    const { PATH = '' } = process.env
    const options = { CAMBISTA_URL: front.url, CAMBISTA_KEY: KEY, ...env }
    front.requests = []
    return new Promise((resolve) => {
      const [program = '', ...start] = command
      const settings = { env: { PATH, ...options }, timeout: 120_000 }
      execFile(program, [...start, ...words], settings, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      )
    })
  }

  async function assertConversion(front: Front, words: string[]): Promise<Conversion> {
    const [amount = '', from = '', to = '', on = '', type = 'venta', decimals] = words
    const query = new URLSearchParams({ amount, from, to, on, type, ...(decimals && { decimals }) })
    const answer = await app.json<Conversion>(`/api/v1/convert?${query}`)
    const out = `${answer.result} ${answer.rate} ${answer.rate_date}\n`
    assert.deepEqual(await runConversion(front, words), { code: 0, out, err: '' })
    return answer
  }

  async function assertFailure(
    front: Front,
    words: string[],
    expected: { message: RegExp; requests: number; env?: Record<string, string> },
  ): Promise<void> {
    const { code, out, err } = await runConversion(front, words, expected.env)
    assert.match(err, expected.message)
    assert.deepEqual([code, out, front.requests.length], [1, '', expected.requests])
  }

  const dollar = ['1', 'USD', 'CRC', TODAY]

  suite(name, { concurrency: 4 }, () => {
    test(`${name}: an answer that does not arrive in time is retried twice`, async (t) => {
      const front = await openFront(t, app)
      front.answers = [silent, silent, silent]
      const start = performance.now()
      const { code, out, err } = await runConversion(front, dollar, { CAMBISTA_TIMEOUT: '2' })
      assert.match(err, /does not answer: /)
      assert.deepEqual([code, out], [1, ''])
      // Three attempts of 2 s and waits of 1 and 2 s. A busy machine may end one before its request has arrived.
      assert.ok(performance.now() - start > 8990)
      assert.ok(front.requests.length >= 1 && front.requests.length <= 3)
    })

    test(`${name}: a closed port is an error after three attempts`, async (t) => {
      const env = { CAMBISTA_URL: 'http://127.0.0.1:9' }
      await assertFailure(await openFront(t, app), dollar, { message: /does not answer: /, requests: 0, env })
    })

    test(`${name}: a 503 is retried after its Retry-After`, async (t) => {
      const front = await openFront(t, app)
      front.answers = [busy(3)]
      const start = performance.now()
      await assertConversion(front, dollar)
      assert.equal(front.requests.length, 2)
      assert.ok(performance.now() - start > 2990)
    })

    test(`${name}: a long Retry-After is an error`, async (t) => {
      const front = await openFront(t, app)
      front.answers = [busy(3600)]
      await assertFailure(front, dollar, { message: /does not answer: 503: .*busy/, requests: 1 })
    })

    test(`${name}: an answer that is cut is retried`, async (t) => {
      const front = await openFront(t, app)
      front.answers = [cut]
      await assertConversion(front, dollar)
      assert.equal(front.requests.length, 2)
    })

    test(`${name}: a weekday has its own value, with all digits`, async (t) => {
      const front = await openFront(t, app)
      const { rate_date } = await assertConversion(front, ['1234567.89', 'USD', 'CRC', TODAY])
      assert.equal(rate_date, TODAY)
      await assertConversion(front, ['1.5', 'USD', 'CRC', TODAY, 'compra', '2'])
      assert.equal(front.requests[0]?.headers['x-api-key'], KEY)
    })

    test(`${name}: inverse and chained pairs have 15 digits`, async (t) => {
      const front = await openFront(t, app)
      await assertConversion(front, ['7', 'CRC', 'USD', TODAY])
      await assertConversion(front, ['7', 'JPY', 'CRC', TODAY])
    })

    test(`${name}: a Sunday has the last published value, with its day`, async (t) => {
      const words = ['1', 'EUR', 'CRC', '2026-03-22']
      const { rate_date } = await assertConversion(await openFront(t, app), words)
      assert.equal(rate_date, '2026-03-20')
    })

    test(`${name}: a day that was not synchronized is an error, and is requested once`, async (t) => {
      await loseWeeks(app)
      const words = ['1', 'USD', 'CRC', '2026-02-10']
      const message = /404: .*have not been synchronized/
      await assertFailure(await openFront(t, app), words, { message, requests: 1 })
    })

    test(`${name}: a day in the future and an old value are errors`, async (t) => {
      const front = await openFront(t, app)
      const future = /2027-03-24 is in the future/
      await assertFailure(front, ['1', 'USD', 'CRC', '2027-03-24'], { message: future, requests: 1 })
      front.answers = [oldValue('2026-03-10')]
      const message = /the newest value for 2026-03-24 is of 2026-03-10: the server is behind/
      await assertFailure(front, dollar, { message, requests: 1 })
    })

    test(`${name}: a wrong parameter and a wrong key are errors`, async (t) => {
      const front = await openFront(t, app)
      await assertFailure(front, ['1', 'DOLLAR', 'CRC', TODAY], { message: /422: .*DOLLAR/, requests: 1 })
      const env = { CAMBISTA_KEY: 'cbk_wrong' }
      await assertFailure(front, dollar, { message: /401: .*X-API-Key/, requests: 1, env })
    })

    test(`${name}: a wrong amount, date and number of decimals are errors that name the right form`, async (t) => {
      const front = await openFront(t, app)
      const forms: [string[], RegExp][] = [
        [['1,5', 'USD', 'CRC', TODAY], /amount must be a decimal number/i],
        [['1,500.50', 'USD', 'CRC', TODAY], /amount must be a decimal number/i],
        [['1', 'USD', 'CRC', '24/03/2026'], /(on|DAY) must be .*YYYY-MM-DD/],
        [[...dollar, 'venta', 'dos'], /decimals (must be )?an integer/i],
        [[...dollar, 'venta', ''], /decimals (must be )?an integer/i],
      ]
      for (const [words, message] of forms) {
        const { code, out, err } = await runConversion(front, words)
        assert.match(err, message)
        assert.deepEqual([code, out], [1, ''])
      }
      if (name === 'google-sheets') return // functions of a cell have no command line
      const { code, out, err } = await runConversion(front, [])
      assert.match(err, /^usage: \S+ AMOUNT FROM TO DAY /)
      assert.deepEqual([code, out], [2, ''])
    })

    test(`${name}: a redirect is an error, so that no other server gets the key`, async (t) => {
      const front = await openFront(t, app)
      front.answers = [redirect]
      await assertFailure(front, dollar, { message: /302/, requests: 1 })
    })
  })
}

/**
 * Checks that the list of `cambista example` names the version of a program that a test runs. Call it after
 * `testConnector`: the server is closed after the tests that are known while it starts.
 */
export function testVersion(name: string, command: [string, ...string[]], version: RegExp): void {
  test(`the list of examples names the version with which ${name} is tested`, async () => {
    const [program, ...words] = command
    const [, number = ''] = version.exec(await run(program, words)) ?? []
    assert.match(EXAMPLES[name]?.note.en ?? '', new RegExp(`^tested with \\S+ ${number}\\b`))
  })
}
