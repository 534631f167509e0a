// Uploads in every valid form of JSON and base64, and uploads with one error. The reader sees them in pieces, a model
// sees them whole, and both must agree. Stored documents equal the sent ones.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createJsonScanner, type JsonListener } from '../../../src/formats/json/scanner.ts'
import { createUtf8Check } from '../../../src/formats/json/utf8.ts'
import { type JsonScalar, TOO_LONG } from '../../../src/formats/json/value.ts'
import { AppError } from '../../../src/runtime/errors.ts'
import { openApp } from '../../api/support.ts'
import type { TestApp } from '../../support/app.ts'
import { CREATE, fillDirectory, read, TOKENS } from '../../support/directory.ts'
import * as model from '../../support/documents/upload-model.ts'
import { assertProperty, fc } from '../../support/fast-check.ts'
import { SEED } from '../../support/seed.ts'
import { figure, scaled } from '../scale.ts'

type BodyRequest = { body: Buffer; cuts: number; dice: model.Dice }
type Row = { id: number; name: string; mimetype: string; size: number; sha256: string }

const RUNS = scaled({ short: 40, long: 5000 })
const validApp = await openApp()
const invalidApp = await openApp() // its store must remain empty
for (const app of [validApp, invalidApp]) await fillDirectory(app)
const clients = new Agent({ keepAlive: true })
after(() => clients.destroy())
let lastId = 0 // id of the newest document
const contents = new Set<string>()

test('a valid upload in any spelling and pieces is stored byte for byte', async (t) => {
  let documents = 0
  const property = fc.asyncProperty(model.draft, async ({ draft, seed, escaping, cuts }) => {
    const dice = model.createDice(seed)
    const body = model.encodeBody(model.buildUpload(draft, dice), dice, escaping)
    documents += await judge({ body, cuts, dice })
  })
  await assertProperty(property, RUNS, () => documents > RUNS)
  assert.ok(documents > RUNS)
  figure(t, `documents read back with seed ${SEED}`, documents)
})

test('an upload with one error is rejected with that error', async (t) => {
  const reasons = new Map<string, number>()
  const property = fc.asyncProperty(model.draft, async ({ draft, seed, escaping, cuts }) => {
    const dice = model.createDice(seed)
    const isTextError = dice(3) === 0
    const draftToSend = isTextError ? draft : model.corruptDraft(draft, dice)
    const text = model.encodeBody(model.buildUpload(draftToSend, dice), dice, escaping)
    const body = isTextError ? model.corruptText(text, dice) : text
    const verdict = model.expectedVerdict(body)
    const reason = 'accepted' in verdict ? 'right after all' : verdict.message
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    await judge({ body, cuts, dice })
  })
  await assertProperty(property, RUNS * 2, () => reasons.size >= 6)
  assert.ok(reasons.size >= 6, [...reasons.keys()].join())
  figure(t, `answers with seed ${SEED}`, JSON.stringify([...reasons]))
})

test('each blob is stored once, and none of a rejected upload', () => {
  assert.deepEqual(blobFiles(validApp).length, contents.size)
  assert.deepEqual(blobFiles(invalidApp), [])
  for (const { logLines } of [validApp, invalidApp]) {
    assert.deepEqual(
      logLines.filter((line) => line.includes('"level":"error"')),
      [],
    )
  }
})

test('get_by_company answers each body as the model', async () => {
  const value = fc.oneof(
    fc
      .constantFrom<unknown>(
        1,
        '1',
        2,
        3,
        0,
        -1,
        1.5,
        2 ** 53,
        null,
        '',
        [],
        {},
        true,
        ' 1',
        'ACME',
        'acme',
        'OTRA',
      )
      .map((plain): model.JsonValue => ({ plain })),
    fc.jsonValue({ maxDepth: 2 }).map((plain): model.JsonValue => ({ plain })),
    fc.constantFrom('1.0', '1e0', '1.0000000000000000001', '[[[[]]]]').map((raw) => ({ raw })),
  )
  const member = fc.tuple(fc.constantFrom('company_id', 'code', 'other'), value)
  const parts = fc.tuple(fc.array(member, { maxLength: 5 }), fc.integer(), fc.nat(3))
  const good: model.Member[] = [
    ['company_id', { plain: 1 }],
    ['code', { plain: 'ACME' }],
  ]
  const property = fc.asyncProperty(parts, async ([moreMembers, seed, cuts]) => {
    const dice = model.createDice(seed)
    const members = dice(2) === 0 ? [...good, ...moreMembers] : [...moreMembers, ...good]
    const text = model.encodeBody({ members }, dice, dice(17))
    const body = dice(3) === 0 ? model.corruptText(text, dice) : text
    const { status, answer } = await send(validApp, '/api/v1/agent/get_by_company', { body, cuts, dice })
    const expected = expectedAgents(body)
    assert.deepEqual([status, answer.message ?? answer.agents], expected, body.toString())
  })
  await fc.assert(property, { numRuns: RUNS, seed: SEED })
})

test('the JSON reader accepts the same texts as JSON.parse, with equal values', async (t) => {
  let [tried, accepted] = [0, 0]
  const text = fc.oneof(
    fc.json({ maxDepth: 5 }),
    fc.json({ stringUnit: 'binary' }),
    fc
      .tuple(fc.array(fc.string({ minLength: 5 }), { minLength: 1 }), fc.integer())
      .map(([strings, seed]) => model.encodeText(toWritten(strings), model.createDice(seed), 12)),
    fc.tuple(fc.jsonValue(), fc.integer(), fc.nat(16)).map(([plain, seed, escaping]) => {
      const dice = model.createDice(seed)
      return model.encodeText(toWritten(plain), dice, escaping)
    }),
    fc.string({
      unit: fc.constantFrom(...'{}[]:,"\\ \n\u0001-+.0123eEtrufalsn/bé😀', 'true', 'null', '\\u00'),
      maxLength: 12,
    }),
  )
  const property = fc.property(text, fc.integer(), fc.nat(4), (whole, seed, faults) => {
    const dice = model.createDice(seed)
    let body: Buffer = Buffer.from(whole)
    for (let fault = 2; fault < faults; fault++) body = model.corruptText(body, dice)
    const expected = model.parseBody(body)
    const isStreamed = dice(2) === 0
    const pieces = model.splitBody(body, dice(6), dice)
    const result = scan(pieces, isStreamed ? { streams: dice } : {})
    assert.equal(scan(pieces, { skips: dice }) !== undefined, result !== undefined, `skipped ${body}`)
    const details = `${body.toString('hex')} ${body}`
    assert.equal(result !== undefined, expected !== undefined, details)
    if (result && expected)
      assert.equal(comparable(result.value, isStreamed), comparable(expected.value, isStreamed), details)
    tried++
    if (result) accepted++
  })
  const texts = scaled({ short: 2500, long: 200_000 })
  await assertProperty(property, texts, () => accepted > texts / 4 && accepted < tried)
  assert.ok(accepted > texts / 4 && accepted < tried)
  figure(t, `texts with seed ${SEED}, and taken of them`, `${tried}, ${accepted}`)
})

/** Sends a body to the app for its verdict and checks the result. Returns the number of stored documents. */
async function judge(bodyRequest: BodyRequest): Promise<number> {
  const verdict = model.expectedVerdict(bodyRequest.body)
  const details =
    bodyRequest.body.length > 2000 ? `${bodyRequest.body.length} bytes` : bodyRequest.body.toString()
  if ('accepted' in verdict) {
    await checkStored(verdict.accepted, await send(validApp, CREATE, bodyRequest), details)
    return verdict.accepted.length
  }
  const { status, answer } = await send(invalidApp, CREATE, bodyRequest)
  assert.equal(status, 400, details)
  if (verdict.message === model.NOT_JSON)
    assert.ok(String(answer.message).startsWith(`${model.NOT_JSON}: `), details)
  else assert.deepEqual(answer, { status: 'error', ...verdict }, details)
  assert.deepEqual(blobFiles(invalidApp), [], details)
  assert.deepEqual(await listDocuments(invalidApp, 0), [], details)
  return 0
}

async function checkStored(
  expectedDocuments: model.AcceptedDocument[],
  { status, answer }: { status: number; answer: Record<string, unknown> },
  details: string,
): Promise<void> {
  assert.equal(status, 200, `${details} ${JSON.stringify(answer)}`)
  const rows = await listDocuments(validApp, lastId)
  const expected = expectedDocuments.map(({ name, mimetype, bytes }) => ({
    name,
    mimetype,
    size: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
  }))
  assert.deepEqual(
    rows.map(({ name, mimetype, size, sha256 }) => ({ name, mimetype, size, sha256 })),
    expected,
    details,
  )
  const parties = { agent_id: 1, company_id: 1, owner_id: 1 }
  const { created_documents, ...totals } = answer as {
    created_documents: (Row & { attachment_id: number })[]
  }
  const count = expectedDocuments.length
  const message = `${count} document${count === 1 ? '' : 's'} created successfully`
  assert.deepEqual(totals, { status: 'success', message, total_created: count, ...parties })
  assert.deepEqual(
    created_documents.map(({ attachment_id: _, ...row }) => row),
    rows.map(({ id, name }) => ({ id, name, ...parties })),
  )
  for (const [at, { id }] of rows.entries()) {
    const content = await (await read(validApp, `/api/v1/documents/${id}/content`)).bytes()
    assert.ok(expectedDocuments[at]?.bytes.equals(content), details)
  }
  for (const { sha256 } of expected) contents.add(sha256)
  lastId = rows.at(-1)?.id ?? lastId
}

async function listDocuments(app: TestApp, from: number): Promise<Row[]> {
  const answer = await read(app, `/api/v1/documents?limit=200&after=${from}`)
  return ((await answer.json()) as { documents: Row[] }).documents
}

/** The blob files, complete or partial. */
function blobFiles({ dataDir }: TestApp): string[] {
  return readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

/** Posts a body in pieces, with or without Content-Length. */
async function send(app: TestApp, path: string, { body, cuts, dice }: BodyRequest) {
  const headers: Record<string, string | number> = { authorization: `Bearer ${TOKENS.all}` }
  if (dice(2) === 0) headers['content-length'] = body.length
  const client = request(app.app.url + path, { method: 'POST', headers, agent: clients })
  client.setNoDelay(true)
  const responseReceived = new Promise<{ status: number; answer: Record<string, unknown> }>(
    (resolve, reject) => {
      client.on('error', reject)
      client.on('response', async (response) => {
        const text = Buffer.concat(await response.toArray()).toString()
        resolve({ status: response.statusCode ?? 0, answer: JSON.parse(text) })
      })
    },
  )
  for (const piece of model.splitBody(body, cuts, dice)) {
    if (piece.length > 0) client.write(piece)
    await setImmediate()
  }
  client.end()
  return await responseReceived
}

function expectedAgents(body: Buffer): [number, unknown] {
  const json = model.parseIntegers(body)
  if (!json) return [400, 'Request body must be valid JSON in UTF-8']
  const { company_id, code } = model.readFields(json.value)
  if (model.lacks(company_id) || model.lacks(code)) return [400, 'Fields company_id and code are required']
  if (!model.isId(company_id)) return [400, 'company_id must be an integer']
  if (typeof code !== 'string') return [400, 'code must be a string']
  if (Number(company_id) === 1 && code === 'ACME') {
    return [200, [{ id: 1, name: 'Lector', description: 'Lee facturas' }]]
  }
  if (Number(company_id) === 2 && code === 'OTRA') return [200, [{ id: 3, name: 'Otro', description: '' }]]
  return [404, 'Company not found']
}

function toWritten(value: unknown): model.JsonValue {
  if (Array.isArray(value)) return { items: value.map(toWritten) }
  if (typeof value !== 'object' || value === null) return { plain: value }
  return { members: Object.entries(value).map(([key, one]) => [key, toWritten(one)]) }
}

/** A value as text. In streamed strings, pieces replace text that is not ASCII. */
function comparable(value: unknown, isStreamed: boolean): string {
  const ascii = (_: string, one: unknown) => (typeof one === 'string' && /[^\0-\x7f]/.test(one) ? '?' : one)
  return JSON.stringify(value, isStreamed ? ascii : undefined)
}

/**
 * The value that the reader reports; undefined if it rejects the text. The dice choose strings to receive in pieces,
 * and values to skip.
 */
function scan(
  pieces: Buffer[],
  { streams, skips }: { streams?: model.Dice; skips?: model.Dice },
): { value: unknown } | undefined {
  const root: unknown[] = []
  const open: { holder: object; key: string; skipped: boolean }[] = [
    { holder: root, key: '', skipped: false },
  ]
  let parts: Buffer[] = []
  const addValue = (value: unknown) => {
    const { holder, key, skipped } = open.at(-1) as (typeof open)[number]
    assert.ok(!skipped, 'a skipped value was reported')
    if (Array.isArray(holder)) holder.push(value)
    else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
  }
  const listener: JsonListener = {
    open(kind) {
      const holder = kind === 'array' ? [] : {}
      const skipped = skips?.(3) === 0
      addValue(skipped ? '?' : holder)
      open.push({ holder, key: '', skipped })
      return !skipped
    },
    close: () => void open.pop(),
    key(name) {
      assert.ok(name !== TOO_LONG)
      ;(open.at(-1) as { key: string }).key = name
    },
    value: (value: JsonScalar) =>
      addValue(typeof value === 'object' && value !== null ? Number(value.number) : value),
    maxBytes: () => 100_000,
    wantsPieces: () => streams?.(2) === 0,
    piece(bytes) {
      parts.push(Buffer.from(bytes))
      return /^[A-Za-z0-9+/=\r\n]*$/.test(bytes.toString('latin1'))
    },
    endOfPieces() {
      addValue(Buffer.concat(parts).toString())
      parts = []
    },
    isBusy: () => skips?.(4) === 0,
  }
  const scanner = createJsonScanner(listener)
  const isUtf8 = createUtf8Check()
  try {
    for (const piece of pieces) {
      if (!isUtf8(piece)) return undefined
      for (let at = 0; at < piece.length; ) at = scanner.push(piece, at)
    }
    scanner.end()
    return { value: root[0] }
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad-request') return undefined
    throw error
  }
}
