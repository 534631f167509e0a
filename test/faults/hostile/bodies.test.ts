// Uploads that are right in every way that JSON and base64 have, and uploads with one thing wrong: the reader that
// sees them in pieces says what a model says that sees them whole, and what it keeps is what was sent.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { AppError } from '../../../src/errors.ts'
import { createJsonScanner, type JsonListener } from '../../../src/json/scanner.ts'
import { createUtf8Check } from '../../../src/json/utf8.ts'
import { type JsonScalar, TOO_LONG } from '../../../src/json/value.ts'
import { openApp } from '../../api/support.ts'
import type { TestApp } from '../../support/app.ts'
import { CREATE, fillDirectory, read, TOKENS } from '../../support/directory.ts'
import * as model from '../../support/documents/upload-model.ts'
import { figure, SEED, scaled } from '../scale.ts'

type Sent = { body: Buffer; cuts: number; dice: model.Dice }
type Row = { id: number; name: string; mimetype: string; size: number; sha256: string }

const RUNS = scaled({ short: 150, long: 5000 })
const keeping = await openApp()
const refusing = await openApp() // nothing may ever be kept in it
for (const app of [keeping, refusing]) await fillDirectory(app)
const clients = new Agent({ keepAlive: true })
after(() => clients.destroy())
let last = 0 // the newest document
const contents = new Set<string>()

test('what is sent rightly, however it is written and cut, is kept byte for byte', async (t) => {
  let documents = 0
  const property = fc.asyncProperty(model.draft, async ({ draft, seed, escaping, cuts }) => {
    const dice = model.diceOf(seed)
    const body = model.bodyOf(model.uploadOf(draft, dice), dice, escaping)
    documents += await judge({ body, cuts, dice })
  })
  await fc.assert(property, { numRuns: RUNS, seed: SEED })
  assert.ok(documents > RUNS)
  figure(t, `documents read back with seed ${SEED}`, documents)
})

test('of what has one thing wrong nothing is kept, and the answer says which', async (t) => {
  const refusals = new Map<string, number>()
  const property = fc.asyncProperty(model.draft, async ({ draft, seed, escaping, cuts }) => {
    const dice = model.diceOf(seed)
    const inText = dice(3) === 0
    const wrong = inText ? draft : model.spoiltDraft(draft, dice)
    const text = model.bodyOf(model.uploadOf(wrong, dice), dice, escaping)
    const body = inText ? model.spoiltText(text, dice) : text
    const verdict = model.verdictOn(body)
    const what = 'kept' in verdict ? 'right after all' : verdict.message
    refusals.set(what, (refusals.get(what) ?? 0) + 1)
    await judge({ body, cuts, dice })
  })
  await fc.assert(property, { numRuns: RUNS * 2, seed: SEED })
  assert.ok(refusals.size >= 6, [...refusals.keys()].join())
  figure(t, `answers with seed ${SEED}`, JSON.stringify([...refusals]))
})

test('every content is there once, and nothing that was refused', () => {
  assert.deepEqual(filesOf(keeping).length, contents.size)
  assert.deepEqual(filesOf(refusing), [])
  for (const { logged } of [keeping, refusing]) {
    assert.deepEqual(
      logged.filter((line) => line.includes('"level":"error"')),
      [],
    )
  }
})

test('a body that asks for agents is answered as the model says', async () => {
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
      .map((plain): model.Written => ({ plain })),
    fc.jsonValue({ maxDepth: 2 }).map((plain): model.Written => ({ plain })),
    fc.constantFrom('1.0', '1e0', '1.0000000000000000001', '[[[[]]]]').map((raw) => ({ raw })),
  )
  const member = fc.tuple(fc.constantFrom('company_id', 'code', 'other'), value)
  const sent = fc.tuple(fc.array(member, { maxLength: 5 }), fc.integer(), fc.nat(3))
  const good: model.Member[] = [
    ['company_id', { plain: 1 }],
    ['code', { plain: 'ACME' }],
  ]
  const property = fc.asyncProperty(sent, async ([more, seed, cuts]) => {
    const dice = model.diceOf(seed)
    const members = dice(2) === 0 ? [...good, ...more] : [...more, ...good]
    const text = model.bodyOf({ members }, dice, dice(17))
    const body = dice(3) === 0 ? model.spoiltText(text, dice) : text
    const { status, answer } = await send(keeping, '/api/v1/agent/get_by_company', { body, cuts, dice })
    const expected = agentsOf(body)
    assert.deepEqual([status, answer.message ?? answer.agents], expected, body.toString())
  })
  await fc.assert(property, { numRuns: RUNS, seed: SEED })
})

test('the reader takes a text exactly if JSON.parse does, and reads the same from it', (t) => {
  let taken = 0
  const text = fc.oneof(
    fc.json({ maxDepth: 5 }),
    fc.json({ stringUnit: 'binary' }),
    fc
      .tuple(fc.array(fc.string({ minLength: 5 }), { minLength: 1 }), fc.integer())
      .map(([strings, seed]) => model.textOf(writtenOf(strings), model.diceOf(seed), 12)),
    fc.tuple(fc.jsonValue(), fc.integer(), fc.nat(16)).map(([plain, seed, escaping]) => {
      const dice = model.diceOf(seed)
      return model.textOf(writtenOf(plain), dice, escaping)
    }),
    fc.string({
      unit: fc.constantFrom(...'{}[]:,"\\ \n\u0001-+.0123eEtrufalsn/bé😀', 'true', 'null', '\\u00'),
      maxLength: 12,
    }),
  )
  const property = fc.property(text, fc.integer(), fc.nat(4), (whole, seed, faults) => {
    const dice = model.diceOf(seed)
    let body: Buffer = Buffer.from(whole)
    for (let fault = 2; fault < faults; fault++) body = model.spoiltText(body, dice)
    const expected = model.parsed(body)
    const streamed = dice(2) === 0
    const pieces = model.chunksOf(body, dice(6), dice)
    const found = scanned(pieces, streamed ? { streams: dice } : {})
    assert.equal(scanned(pieces, { skips: dice }) !== undefined, found !== undefined, `skipped ${body}`)
    const about = `${body.toString('hex')} ${body}`
    assert.equal(found !== undefined, expected !== undefined, about)
    if (found && expected)
      assert.equal(comparable(found.value, streamed), comparable(expected.value, streamed), about)
    if (found) taken++
  })
  const texts = scaled({ short: 10_000, long: 200_000 })
  fc.assert(property, { numRuns: texts, seed: SEED })
  assert.ok(taken > texts / 4 && taken < texts)
  figure(t, `texts with seed ${SEED}, and taken of them`, `${texts}, ${taken}`)
})

/** Sends it to where it belongs and looks at what came of it; answers how many documents were kept. */
async function judge(sent: Sent): Promise<number> {
  const verdict = model.verdictOn(sent.body)
  const about = sent.body.length > 2000 ? `${sent.body.length} bytes` : sent.body.toString()
  if ('kept' in verdict) {
    await judgeKept(verdict.kept, await send(keeping, CREATE, sent), about)
    return verdict.kept.length
  }
  const { status, answer } = await send(refusing, CREATE, sent)
  assert.equal(status, 400, about)
  if (verdict.message === model.NOT_JSON)
    assert.ok(String(answer.message).startsWith(`${model.NOT_JSON}: `), about)
  else assert.deepEqual(answer, { status: 'error', ...verdict }, about)
  assert.deepEqual(filesOf(refusing), [], about)
  assert.deepEqual(await listed(refusing, 0), [], about)
  return 0
}

async function judgeKept(
  kept: model.Kept[],
  { status, answer }: { status: number; answer: Record<string, unknown> },
  about: string,
): Promise<void> {
  assert.equal(status, 200, `${about} ${JSON.stringify(answer)}`)
  const rows = await listed(keeping, last)
  const expected = kept.map(({ name, mimetype, bytes }) => ({
    name,
    mimetype,
    size: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
  }))
  assert.deepEqual(
    rows.map(({ name, mimetype, size, sha256 }) => ({ name, mimetype, size, sha256 })),
    expected,
    about,
  )
  const parties = { agent_id: 1, company_id: 1, owner_id: 1 }
  const { created_documents, ...rest } = answer as { created_documents: (Row & { attachment_id: number })[] }
  const count = kept.length
  const message = `${count} document${count === 1 ? '' : 's'} created successfully`
  assert.deepEqual(rest, { status: 'success', message, total_created: count, ...parties })
  assert.deepEqual(
    created_documents.map(({ attachment_id: _, ...row }) => row),
    rows.map(({ id, name }) => ({ id, name, ...parties })),
  )
  for (const [at, { id }] of rows.entries()) {
    const content = await (await read(keeping, `/api/v1/documents/${id}/content`)).bytes()
    assert.ok(kept[at]?.bytes.equals(content), about)
  }
  for (const { sha256 } of expected) contents.add(sha256)
  last = rows.at(-1)?.id ?? last
}

async function listed(app: TestApp, from: number): Promise<Row[]> {
  const answer = await read(app, `/api/v1/documents?limit=200&after=${from}`)
  return ((await answer.json()) as { documents: Row[] }).documents
}

/** The files of contents, whole or begun. */
function filesOf({ dataDir }: TestApp): string[] {
  return readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

/** A POST in pieces, with its length said beforehand or not. */
async function send(app: TestApp, path: string, { body, cuts, dice }: Sent) {
  const headers: Record<string, string | number> = { authorization: `Bearer ${TOKENS.all}` }
  if (dice(2) === 0) headers['content-length'] = body.length
  const client = request(app.app.url + path, { method: 'POST', headers, agent: clients })
  client.setNoDelay(true)
  const answered = new Promise<{ status: number; answer: Record<string, unknown> }>((resolve, reject) => {
    client.on('error', reject)
    client.on('response', async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve({ status: response.statusCode ?? 0, answer: JSON.parse(text) })
    })
  })
  for (const piece of model.chunksOf(body, cuts, dice)) {
    if (piece.length > 0) client.write(piece)
    await setImmediate()
  }
  client.end()
  return await answered
}

function agentsOf(body: Buffer): [number, unknown] {
  const json = model.parsedByText(body)
  if (!json) return [400, 'Request body must be valid JSON in UTF-8']
  const { company_id, code } = model.fieldsOf(json.value)
  if (model.lacks(company_id) || model.lacks(code)) return [400, 'Fields company_id and code are required']
  if (!model.isId(company_id)) return [400, 'company_id must be an integer']
  if (typeof code !== 'string') return [400, 'code must be a string']
  if (Number(company_id) === 1 && code === 'ACME') {
    return [200, [{ id: 1, name: 'Lector', description: 'Lee facturas' }]]
  }
  if (Number(company_id) === 2 && code === 'OTRA') return [200, [{ id: 3, name: 'Otro', description: '' }]]
  return [404, 'Company not found']
}

function writtenOf(value: unknown): model.Written {
  if (Array.isArray(value)) return { items: value.map(writtenOf) }
  if (typeof value !== 'object' || value === null) return { plain: value }
  return { members: Object.entries(value).map(([key, one]) => [key, writtenOf(one)]) }
}

/** As text; of strings that are not ASCII pieces only say that they are not. */
function comparable(value: unknown, streamed: boolean): string {
  const ascii = (_: string, one: unknown) => (typeof one === 'string' && /[^\0-\x7f]/.test(one) ? '?' : one)
  return JSON.stringify(value, streamed ? ascii : undefined)
}

/**
 * What the reader makes of it, put together again, strings in pieces by the dice, and of what the dice does not want
 * nothing; undefined if it refuses.
 */
function scanned(
  pieces: Buffer[],
  { streams, skips }: { streams?: model.Dice; skips?: model.Dice },
): { value: unknown } | undefined {
  const root: unknown[] = []
  const open: { holder: object; key: string; skipped: boolean }[] = [
    { holder: root, key: '', skipped: false },
  ]
  let parts: Buffer[] = []
  const put = (value: unknown) => {
    const { holder, key, skipped } = open.at(-1) as (typeof open)[number]
    assert.ok(!skipped, 'something was reported that is not wanted')
    if (Array.isArray(holder)) holder.push(value)
    else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
  }
  const listener: JsonListener = {
    open(kind) {
      const holder = kind === 'array' ? [] : {}
      const skipped = skips?.(3) === 0
      put(skipped ? '?' : holder)
      open.push({ holder, key: '', skipped })
      return !skipped
    },
    close: () => void open.pop(),
    key(name) {
      assert.ok(name !== TOO_LONG)
      ;(open.at(-1) as { key: string }).key = name
    },
    value: (value: JsonScalar) =>
      put(typeof value === 'object' && value !== null ? Number(value.number) : value),
    keep: () => 100_000,
    wantsPieces: () => streams?.(2) === 0,
    piece(bytes) {
      parts.push(Buffer.from(bytes))
      return /^[A-Za-z0-9+/=\r\n]*$/.test(bytes.toString('latin1'))
    },
    endOfPieces() {
      put(Buffer.concat(parts).toString())
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
