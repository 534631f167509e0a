// The compat APIs against hostile and broken clients. An invalid request is never a failure of the server and costs
// little memory. No key appears in an error or the log.

import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startBank } from '../../../src/demo/bank.ts'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { addDays, currentDay } from '../../../src/values/dates.ts'
import { startProgram } from '../../support/program.ts'
import { createRandom, type Random } from '../../support/rates/random-bank.ts'
import { readMemory } from '../../support/resources.ts'
import { SEED } from '../../support/seed.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { figure, PROGRAM, scaled } from '../scale.ts'
import { alterRequest } from './shape-mutations.ts'
import {
  BANK_NETWORK,
  KEYS,
  listAddresses,
  MARK,
  OPEN_NETWORK,
  type ShapeRequest,
  validRequest,
} from './shape-requests.ts'

const REQUESTS = scaled({ short: 800, long: 100_000 })
const WARM_UP = 10_000 // 3000 also counted growth after the start: +31 to +65 MB from seed to seed
const AT_ONCE = 24
const MEMORY_BYTES = 60 * 1024 ** 2
// Growth over the first peak. V8 collects late under a long load, so garbage counts.
const PEAK_BYTES = scaled({ short: 60, long: 240 }) * 1024 ** 2
const REST_MS = scaled({ short: 0, long: 40_000 }) // time to release memory
const AT = '2026-03-01T00:00:00.000Z'
const DAYS = 400

/** Errors of the contract: a missing parameter, an unknown operation, an unreadable envelope. */
const ALLOWED_500 = /^(Missing parameter: |Request format is unrecognized for URL )|<soap:Fault>/
/** Days before the first run: their values are unknown, and a range with them is an error. */
const UNSYNCHRONIZED =
  /^[^\d]*(?:"(?:status|code|CodigoError)":"?503"?[^\d]*)?(?:[Tt]he days from|Los días del) \d{4}-\d\d-\d\d (?:to|al) \d{4}-\d\d-\d\d (?:have not been synchronized|no se han sincronizado)|^\{"code":503,"status":"Service unavailable"\}$/
const IS_ASMX = /wsindicadoreseconomicos/i
const IS_ERROR = /^\{"(success":false|error|result":"error)/

type Answer = { status: number; body: string }

test(`compat APIs answer ${REQUESTS} invalid requests without failures, leaks or exposed keys`, async (t) => {
  const { url, pid, printed } = await startServer(t)
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const today = currentDay(() => new Date())
  const addresses = listAddresses(addDays(today, -30), today)
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  t.after(() => agent.destroy())

  const statuses = new Map<number, number>()
  const faults: string[] = []
  const sendOne = async (random: Random) => {
    const shapeRequest = alterRequest(random, validRequest(random, addresses))
    const answer = await exchange(url, agent, shapeRequest)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const fault = findFault(shapeRequest, answer)
    if (fault) faults.push(`${fault}: ${describe(shapeRequest, answer)}`)
  }
  for (const address of addresses) {
    const headers = { 'x-api-key': KEYS.url, 'x-forwarded-for': '10.7.0.1' }
    const { status, body } = await exchange(url, agent, { method: 'GET', target: address, headers })
    assert.ok(status === 200 || address.includes('/KEY/'), `${address}: ${status} ${body.slice(0, 200)}`)
  }
  await inParallel(WARM_UP, () => sendOne(random))
  const before = readMemory(pid, 'VmHWM')
  const startMs = performance.now()
  await inParallel(REQUESTS, () => sendOne(random))
  figure(t, 'seconds', Math.round((performance.now() - startMs) / 100) / 10)
  figure(t, 'answers by status; 0 is a connection that was cut', JSON.stringify([...statuses].sort()))
  const after = readMemory(pid, 'VmHWM')
  figure(t, 'most memory after the first and after all, MB', [before, after].map(megabytes).join(', '))

  assert.deepEqual(faults.slice(0, 20), [])
  assert.ok((statuses.get(200) ?? 0) > REQUESTS / 10, 'enough requests are valid')
  assert.ok((statuses.get(0) ?? 0) < REQUESTS / 50, 'few are cut')
  assert.ok(after <= before + PEAK_BYTES, `${before} bytes grew to ${after}`)
  await wait(REST_MS)
  const restMemory = readMemory(pid, 'VmRSS')
  figure(t, 'memory after a rest, MB', megabytes(restMemory))
  assert.ok(restMemory <= before + MEMORY_BYTES, `${before} bytes grew to ${restMemory}`)
  const leaked = printed.err.split('\n').filter((line) => MARK.test(line))
  assert.deepEqual(leaked.slice(0, 5), [])
  const errorLines = printed.err.split('\n').filter((line) => line.includes('"level":"error"'))
  assert.deepEqual(errorLines.slice(0, 5), [])
  const target = `/k/${KEYS.url}/v1/latest?base=USD&symbols=CRC`
  assert.equal((await exchange(url, agent, { method: 'GET', target, headers: {} })).status, 200)
})

/** A server behind a trusted proxy, with rates, keys of each kind, and an open network. */
async function startServer(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const today = () => currentDay(() => new Date())
  const bank = await startBank({ token: 'test-token', today })
  t.after(() => bank.close())
  const from = addDays(today(), -DAYS)
  const options = ['--data-dir', dataDir, '--bccr-url', bank.url, '--bccr-pace', '0', '--backfill-from', from]
  const env = { CAMBISTA_BCCR_TOKEN: 'test-token' }
  assert.equal(await startProgram(t, ['sync', ...options], env, PROGRAM).waitForExit(), 0)
  const db = openDatabase(dataDir)
  const keyKinds = {
    header: { kind: 'header' },
    url: { kind: 'url' },
    compra: { kind: 'url', side: 'compra' },
    bank: { kind: 'bank', network: BANK_NETWORK },
  } as const
  for (const name of Object.keys(KEYS) as (keyof typeof KEYS)[]) {
    await insertApiKey(db, { name, hash: hashOfSecret(KEYS[name]), createdAt: AT, ...keyKinds[name] })
  }
  await db.destroy()
  const networkOptions = ['--trust-proxy', 'loopback', '--open-rates', OPEN_NETWORK]
  const flags = ['--port', '0', '--no-scheduler', '--log-format', 'json', ...networkOptions]
  // V8 collects a growing heap late: live objects must fit into this one, or the server ends.
  const heap = { NODE_OPTIONS: '--max-old-space-size=96' }
  const server = startProgram(t, ['serve', '--data-dir', dataDir, ...flags], heap, PROGRAM)
  const [, url = ''] = await server.waitForOutput(/"url":"([^"]+)"/)
  return { url, pid: server.child.pid ?? 0, printed: server.printed }
}

async function inParallel(count: number, work: () => Promise<void>): Promise<void> {
  let remaining = count
  const worker = async () => {
    while (remaining-- > 0) await work()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** The fault of an answer, if any. */
function findFault({ method, target }: ShapeRequest, { status, body }: Answer): string | undefined {
  const isAllowed = status === 500 && IS_ASMX.test(target) && (method === 'HEAD' || ALLOWED_500.test(body))
  const isUnsynchronized =
    (status === 500 || status === 503) && (method === 'HEAD' || UNSYNCHRONIZED.test(body)) // a HEAD has no body
  if (status >= 500 && !isAllowed && !isUnsynchronized) return 'a failure'
  const isError = status >= 400 || IS_ERROR.test(body)
  return isError && MARK.test(decodeText(body)) ? 'a key in an error' : undefined
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function describe({ method, target, headers, body }: ShapeRequest, answer: Answer): string {
  const requestText = `${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)}`
  return `${requestText} ${body?.toString('latin1', 0, 600) ?? ''} -> ${answer.status} ${answer.body.slice(0, 300)}`
}

function exchange(
  url: string,
  agent: Agent,
  { method, target, headers, body }: ShapeRequest,
): Promise<Answer> {
  return new Promise((resolve) => {
    const length = body ? { 'content-length': body.length } : {}
    const { port } = new URL(url)
    const path = target.replaceAll(/[^\x21-\xff]/g, '%20')
    const outgoing = request({
      host: '127.0.0.1',
      port,
      agent,
      method,
      path,
      headers: { ...headers, ...length },
    })
    outgoing.on('response', (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', () => resolve({ status: 0, body: '' }))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString() }),
      )
    })
    outgoing.on('error', () => resolve({ status: 0, body: '' }))
    outgoing.end(body)
  })
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2)
}
