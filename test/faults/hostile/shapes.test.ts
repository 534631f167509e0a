// The shapes of other services, asked by clients that are hostile or broken: what is wrong with a request is never a
// failure of the server, costs it little memory, and brings no key into an error or into the log.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { addDays, todayIn } from '../../../src/dates.ts'
import { startBank } from '../../../src/demo/bank.ts'
import { hashOfSecret } from '../../../src/domain/secrets.ts'
import { insertApiKey } from '../../../src/store/api-keys.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { startProgram } from '../../support/program.ts'
import { type Random, randomOf } from '../../support/rates/random-bank.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { figure, PROGRAM, SEED, scaled } from '../scale.ts'
import { mutated } from './shape-mutations.ts'
import {
  addressesOf,
  BANK_NETWORK,
  KEYS,
  MARK,
  OPEN_NETWORK,
  type ShapeRequest,
  validRequest,
} from './shape-requests.ts'

const REQUESTS = scaled({ short: 10_000, long: 100_000 })
const WARM_UP = 10_000 // with 3000 the growth of a server that has just begun was measured too: +31 to +65 MB from seed to seed
const AT_ONCE = 24
const MEMORY_BYTES = 60 * 1024 ** 2
// Over that which it had first; what answers left lies about until V8 looks, which it does late under a long load.
const PEAK_BYTES = scaled({ short: 60, long: 240 }) * 1024 ** 2
const REST_MS = scaled({ short: 0, long: 40_000 }) // until it has given memory back
const AT = '2026-03-01T00:00:00.000Z'
const DAYS = 400

/** Those of the contract: a form or a URL without a parameter, an operation that there is not, an unreadable envelope. */
const ALLOWED_500 = /^(Missing parameter: |Request format is unrecognized for URL )|<soap:Fault>/
/** Days before the first run: their values are not known, and a range with them is an error in words. */
const UNSYNCHRONIZED =
  /^[^\d]*(?:"(?:status|code|CodigoError)":"?503"?[^\d]*)?(?:[Tt]he days from|Los días del) \d{4}-\d\d-\d\d (?:to|al) \d{4}-\d\d-\d\d (?:have not been synchronized|no se han sincronizado)|^\{"code":503,"status":"Service unavailable"\}$/
const IS_ASMX = /wsindicadoreseconomicos/i
const IS_ERROR = /^\{"(success":false|error|result":"error)/

type Answer = { status: number; body: string }

test(`${REQUESTS} requests to the shapes that are wrong in some way`, async (t) => {
  const { url, pid, printed } = await startGround(t)
  figure(t, 'seed', SEED)
  const random = randomOf(SEED)
  const today = todayIn(() => new Date())
  const addresses = addressesOf(addDays(today, -30), today)
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  t.after(() => agent.destroy())

  const statuses = new Map<number, number>()
  const wrong: string[] = []
  const one = async (random: Random) => {
    const sent = mutated(random, validRequest(random, addresses))
    const answer = await exchanged(url, agent, sent)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const fault = faultOf(sent, answer)
    if (fault) wrong.push(`${fault}: ${shown(sent, answer)}`)
  }
  for (const address of addresses) {
    const headers = { 'x-api-key': KEYS.url, 'x-forwarded-for': '10.7.0.1' }
    const { status, body } = await exchanged(url, agent, { method: 'GET', target: address, headers })
    assert.ok(status === 200 || address.includes('/KEY/'), `${address}: ${status} ${body.slice(0, 200)}`)
  }
  await inParallel(WARM_UP, () => one(random))
  const before = memoryOf(pid, 'VmHWM')
  const begun = performance.now()
  await inParallel(REQUESTS, () => one(random))
  figure(t, 'seconds', Math.round((performance.now() - begun) / 100) / 10)
  figure(t, 'answers by status; 0 is a connection that was cut', JSON.stringify([...statuses].sort()))
  const after = memoryOf(pid, 'VmHWM')
  figure(t, 'most memory after the first and after all, MB', [before, after].map(megabytes).join(', '))

  assert.deepEqual(wrong.slice(0, 20), [])
  assert.ok((statuses.get(200) ?? 0) > REQUESTS / 10, 'not all is refused before it is looked at')
  assert.ok((statuses.get(0) ?? 0) < REQUESTS / 50, 'few are cut')
  assert.ok(after <= before + PEAK_BYTES, `${before} bytes grew to ${after}`)
  await wait(REST_MS)
  const rested = memoryOf(pid, 'VmRSS')
  figure(t, 'memory after a rest, MB', megabytes(rested))
  assert.ok(rested <= before + MEMORY_BYTES, `${before} bytes grew to ${rested}`)
  const leaked = printed.err.split('\n').filter((line) => MARK.test(line))
  assert.deepEqual(leaked.slice(0, 5), [])
  const failed = printed.err.split('\n').filter((line) => line.includes('"level":"error"'))
  assert.deepEqual(failed.slice(0, 5), [])
  const target = `/k/${KEYS.url}/v1/latest?base=USD&symbols=CRC`
  assert.equal((await exchanged(url, agent, { method: 'GET', target, headers: {} })).status, 200)
})

/** A server behind a proxy that it trusts, with rates, keys of each kind, and a network that needs none. */
async function startGround(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const today = () => todayIn(() => new Date())
  const bank = await startBank({ token: 'test-token', today })
  t.after(() => bank.close())
  const from = addDays(today(), -DAYS)
  const words = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0', '--backfill-from', from]
  const env = { CAMBISTA_BCCR_TOKEN: 'test-token' }
  assert.equal(await startProgram(t, ['sync', ...words], env, PROGRAM).ended(), 0)
  const db = openDatabase(dataDir)
  const facts = {
    header: { kind: 'header' },
    url: { kind: 'url' },
    compra: { kind: 'url', side: 'compra' },
    bank: { kind: 'bank', network: BANK_NETWORK },
  } as const
  for (const name of Object.keys(KEYS) as (keyof typeof KEYS)[]) {
    await insertApiKey(db, { name, hash: hashOfSecret(KEYS[name]), createdAt: AT, ...facts[name] })
  }
  await db.destroy()
  const places = ['--trust-proxy', 'loopback', '--open-rates', OPEN_NETWORK]
  const flags = ['--port', '0', '--no-scheduler', '--log-format', 'json', ...places]
  // Of a heap that may grow V8 collects when it likes: what lives in this one must fit, or the server ends.
  const heap = { NODE_OPTIONS: '--max-old-space-size=96' }
  const server = startProgram(t, ['serve', '--data-dir', dataDir, ...flags], heap, PROGRAM)
  const [, url = ''] = await server.says(/"url":"([^"]+)"/)
  return { url, pid: server.child.pid ?? 0, printed: server.printed }
}

async function inParallel(count: number, work: () => Promise<void>): Promise<void> {
  let left = count
  const worker = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** What is wrong with an answer; undefined: nothing. */
function faultOf({ method, target }: ShapeRequest, { status, body }: Answer): string | undefined {
  const isAllowed = status === 500 && IS_ASMX.test(target) && (method === 'HEAD' || ALLOWED_500.test(body))
  const isUnsynchronized =
    (status === 500 || status === 503) && (method === 'HEAD' || UNSYNCHRONIZED.test(body)) // a HEAD has no body
  if (status >= 500 && !isAllowed && !isUnsynchronized) return 'a failure'
  const isError = status >= 400 || IS_ERROR.test(body)
  return isError && MARK.test(decoded(body)) ? 'a key in an error' : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function shown({ method, target, headers, body }: ShapeRequest, answer: Answer): string {
  const sent = `${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)}`
  return `${sent} ${body?.toString('latin1', 0, 600) ?? ''} -> ${answer.status} ${answer.body.slice(0, 300)}`
}

function exchanged(
  url: string,
  agent: Agent,
  { method, target, headers, body }: ShapeRequest,
): Promise<Answer> {
  return new Promise((resolve) => {
    const length = body ? { 'content-length': body.length } : {}
    const { port } = new URL(url)
    const path = target.replaceAll(/[^\x21-\xff]/g, '%20')
    const sent = request({ host: '127.0.0.1', port, agent, method, path, headers: { ...headers, ...length } })
    sent.on('response', (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', () => resolve({ status: 0, body: '' }))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString() }),
      )
    })
    sent.on('error', () => resolve({ status: 0, body: '' }))
    sent.end(body)
  })
}

/** The memory that a process has (`VmRSS`), or the most that it has had (`VmHWM`). */
function memoryOf(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] =
    new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2)
}
