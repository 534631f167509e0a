// Every parameter and body of every endpoint that the program describes, filled with what nobody should send. What
// comes back is always an answer that the description declares, and what was refused has left nothing.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { countDocuments } from '../../../src/store/documents.ts'
import { type Document, describedIn } from '../../api/openapi/description.ts'
import { asOtherProcess, openApp } from '../../api/support.ts'
import { fillDirectory, TOKENS } from '../../support/directory.ts'
import { figure, SEED, scaled } from '../scale.ts'

const RUNS = scaled({ short: 65, long: 3000 }) // of each operation: 5,000 and more of all
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
const description = describedIn((await (await fetch(`${app.app.url}/openapi.json`)).json()) as Document)
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
  for (const [method, described] of Object.entries(operations)) {
    if (described.requestBody) continue
    test(`${method} ${path} declares whatever it answers`, async (t) => {
      const names = described.parameters.filter((one) => one.in === 'query').map(({ name }) => name)
      // What is unknown is refused: seldom enough that the rest is judged too.
      const name = fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...names, '__proto__') },
        fc.constant('any'),
      )
      const query = fc.array(fc.tuple(name, value), { maxLength: 8 })
      const statuses = new Map<number, number>()
      const property = fc.asyncProperty(query, value, async (pairs, inPath) => {
        const search = pairs.map(([name, text]) => `${name}=${text}`).join('&')
        const response = await ask(method, `${path.replace(/\{\w+\}/, inPath)}${search && `?${search}`}`)
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
const good = JSON.stringify({
  owner_id: 1,
  company_id: 1,
  agent_id: 1,
  documents: [{ name: 'ñ\u{1f600}', mimetype: 'a/b', base64: 'aGVsbG8=' }],
})
const mutated = fc
  .array(
    fc.tuple(
      fc.nat(good.length),
      fc.nat(3),
      fc.constantFrom('"', '\\', '{', '[', ',', '=', '\0', '-', '\\u0000'),
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((changes) =>
    changes.reduce((text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut), good),
  )

for (const [path, operations] of Object.entries(paths)) {
  const described = operations.post
  if (!described?.requestBody) continue
  test(`post ${path} refuses what is not right and keeps nothing of it`, async (t) => {
    const statuses = new Map<number, number>()
    const property = fc.asyncProperty(fc.oneof(anyBody, mutated), async (body) => {
      const before = await kept()
      const response = await ask('post', path, body)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      await judge(response, 'post', path, [])
      const after = await kept()
      if (response.status !== 200) assert.deepEqual(after, before)
      assert.equal(after.temporary, 0)
    })
    await fc.assert(property, { numRuns: RUNS, seed: SEED })
    figure(t, `answers with seed ${SEED}`, JSON.stringify([...statuses]))
  })
}

test('nothing of it was a failure of the program', () => {
  assert.deepEqual(
    app.logged.filter((line) => line.includes('"level":"error"')),
    [],
  )
})

function ask(method: string, path: string, body?: string | Buffer): Promise<Response> {
  const headers = { 'x-api-key': app.key, authorization: `Bearer ${TOKENS.all}` }
  return fetch(app.app.url + path, { method, headers, body: (body as string) ?? null })
}

async function judge(response: Response, method: string, path: string, names: string[]): Promise<void> {
  const { status, headers } = response
  const body = await response.text()
  const about = `${response.url.slice(0, 300)}: ${status} ${body.slice(0, 300)}`
  assert.match(headers.get('x-request-id') ?? '', /^[\w-]+$/, about)
  assert.equal(headers.get('x-content-type-options'), 'nosniff', about)
  // A path that became another one is not the endpoint's to describe.
  const { pathname } = new URL(response.url)
  if (status === 404 || pathname.split('/').length !== path.split('/').length) return
  // A bad escape is refused by every endpoint, by those too that ignore their parameters (decisions 1.4).
  const isBare =
    status === 422 && !path.startsWith('/compat/') && !description.operation(path, method).responses[422]
  if (isBare) return assert.equal(JSON.parse(body).detail[0].type, 'encoding', about)
  description.holds(path, method, { status, type: headers.get('content-type') ?? '', body })
  if (status !== 422 || path.startsWith('/compat/')) return
  const { detail } = JSON.parse(body)
  if (!Array.isArray(detail)) return
  assert.ok(detail.length > 0, about)
  for (const { loc, msg } of detail) {
    if (loc[0] === 'query' && names.includes(loc[1])) assert.ok(msg.startsWith(`${loc[1]} `), about)
  }
}

/** What is stored: rows, contents, and files that are not yet either. */
function kept(): Promise<{ rows: number; temporary: number; folders: number }> {
  const blobs = join(app.dataDir, 'blobs')
  return asOtherProcess(app, async (db) => ({
    rows: await countDocuments(db),
    temporary: readdirSync(join(blobs, 'tmp')).length,
    folders: readdirSync(blobs, { recursive: true }).length,
  }))
}
