// Every parameter and body of every described endpoint, filled with invalid values. The description declares each
// answer, and rejected requests store nothing.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { countRows } from '../../../src/store/rows.ts'
import { readAllPaths, readDescription } from '../../api/openapi/description.ts'
import { asOtherProcess, openApp } from '../../api/support.ts'
import { fillDirectory, TOKENS } from '../../support/directory.ts'
import { fc } from '../../support/fast-check.ts'
import { SEED } from '../../support/seed.ts'
import { figure, scaled } from '../scale.ts'

const RUNS = scaled({ short: 20, long: 3000 }) // per operation
const STRANGE = [
  '',
  '0',
  '-1',
  '1e3',
  '9'.repeat(400),
  '%',
  '%00',
  '%ff',
  '%ed%a0%80',
  '+',
  '%2B',
  'null',
  '1.',
  '.5',
]
const PLAUSIBLE = [
  '1',
  '2',
  '200',
  'USD',
  'EUR',
  'CRC',
  'usd',
  'bccr',
  'true',
  'venta',
  '2026-03-24',
  '1900-01-01',
]
const app = await openApp({ listen: { compat: { open: 'any', serveRounded: true } } })
await app.sync()
await fillDirectory(app)
const description = readDescription(await readAllPaths(app.app.url))
const { paths } = description.document
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PLAUSIBLE) },
  { weight: 2, arbitrary: fc.constantFrom(...STRANGE) },
  fc.string({ unit: 'grapheme', maxLength: 40 }).map(encodeURIComponent),
  fc.string({ unit: 'binary-ascii', maxLength: 20 }).map(encodeURIComponent),
  fc.bigInt().map(String),
  fc.double().map(String),
  fc.integer({ min: 1, max: 14_000 }).map((length) => 'a'.repeat(length)),
)

for (const [path, operations] of Object.entries(paths)) {
  for (const [method, operation] of Object.entries(operations)) {
    if (operation.requestBody) continue
    test(`${method} ${path} returns only declared answers`, async (t) => {
      const names = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name)
      // Unknown parameters are rejected, so they are rare: other values are validated too.
      const name = fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...names, '__proto__') },
        fc.constant('any'),
      )
      const query = fc.array(fc.tuple(name, value), { maxLength: 8 })
      const statuses = new Map<number, number>()
      const property = fc.asyncProperty(query, value, async (pairs, inPath) => {
        const search = pairs.map(([name, text]) => `${name}=${text}`).join('&')
        const response = await send(method, `${path.replace(/\{\w+\}/, inPath)}${search && `?${search}`}`)
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
        await judge(response, method, path, names)
      })
      await fc.assert(property, { numRuns: RUNS, seed: SEED })
      figure(t, `answers with seed ${SEED}`, JSON.stringify([...statuses]))
    })
  }
}

const anyBody = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.string({ unit: 'binary' }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => `{"documents":${'{"a":'.repeat(depth)}`),
  fc.integer({ min: 1, max: 300_000 }).map((length) => `{"${'k'.repeat(length)}":1}`),
  fc.constantFrom(
    '',
    '{}',
    '[]',
    'null',
    '{"__proto__":{"company_id":1}}',
    '{"company_id":1,"company_id":"x"}',
  ),
  fc.constantFrom(
    '{"company_id":"\\ud800"}',
    '\ufeff{"company_id":1}',
    '{"company_id":1}x',
    '{"company_id":NaN}',
  ),
)
const validBody = JSON.stringify({
  owner_id: 1,
  company_id: 1,
  agent_id: 1,
  documents: [{ name: 'ñ\u{1f600}', mimetype: 'a/b', base64: 'aGVsbG8=' }],
})
const alteredBody = fc
  .array(
    fc.tuple(
      fc.nat(validBody.length),
      fc.nat(3),
      fc.constantFrom('"', '\\', '{', '[', ',', '=', '\0', '-', '\\u0000'),
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((changes) =>
    changes.reduce((text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut), validBody),
  )

for (const [path, operations] of Object.entries(paths)) {
  const operation = operations.post
  if (!operation?.requestBody) continue
  test(`post ${path} rejects invalid bodies and stores nothing of them`, async (t) => {
    const statuses = new Map<number, number>()
    const property = fc.asyncProperty(fc.oneof(anyBody, alteredBody), async (body) => {
      const before = await readStorage()
      const response = await send('post', path, body)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      await judge(response, 'post', path, [])
      const after = await readStorage()
      if (response.status !== 200) assert.deepEqual(after, before)
      assert.equal(after.temporary, 0)
    })
    await fc.assert(property, { numRuns: RUNS, seed: SEED })
    figure(t, `answers with seed ${SEED}`, JSON.stringify([...statuses]))
  })
}

test('no request of this file logged an error', () => {
  assert.deepEqual(
    app.logLines.filter((line) => line.includes('"level":"error"')),
    [],
  )
})

function send(method: string, path: string, body?: string | Buffer): Promise<Response> {
  const headers = { 'x-api-key': app.key, authorization: `Bearer ${TOKENS.all}` }
  return fetch(app.app.url + path, { method, headers, body: (body as string) ?? null })
}

async function judge(response: Response, method: string, path: string, names: string[]): Promise<void> {
  const { status, headers } = response
  const body = await response.text()
  const details = `${response.url.slice(0, 300)}: ${status} ${body.slice(0, 300)}`
  assert.match(headers.get('x-request-id') ?? '', /^[\w-]+$/, details)
  assert.equal(headers.get('x-content-type-options'), 'nosniff', details)
  // A path that the URL parser changed belongs to another endpoint.
  const { pathname } = new URL(response.url)
  if (status === 404 || pathname.split('/').length !== path.split('/').length) return
  // Every endpoint rejects a bad escape, even one that ignores its parameters (decisions#paths).
  const isBare =
    status === 422 && !path.startsWith('/compat/') && !description.operation(path, method).responses[422]
  if (isBare) return assert.equal(JSON.parse(body).detail[0].type, 'encoding', details)
  description.checkAnswer(path, method, { status, type: headers.get('content-type') ?? '', body })
  if (status !== 422 || path.startsWith('/compat/')) return
  const { detail } = JSON.parse(body)
  if (!Array.isArray(detail)) return
  assert.ok(detail.length > 0, details)
  for (const { loc, msg } of detail) {
    if (loc[0] === 'query' && names.includes(loc[1])) assert.ok(msg.startsWith(`${loc[1]} `), details)
  }
}

/** Counts of rows, blob folders and temporary files. */
function readStorage(): Promise<{ rows: number; temporary: number; folders: number }> {
  const blobs = join(app.dataDir, 'blobs')
  return asOtherProcess(app, async (db) => ({
    rows: await countRows(db, 'documents'),
    temporary: readdirSync(join(blobs, 'tmp')).length,
    folders: readdirSync(blobs, { recursive: true }).length,
  }))
}
