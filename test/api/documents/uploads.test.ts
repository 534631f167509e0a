import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { rawNumber } from '../../../src/formats/json/raw.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

/** The names of all files below the folder of blobs. */
/** Lists the blobs, and their temporary files. A node writes its record of counters at any time. */
function blobFiles(): string[] {
  return readdirSync(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('cambista-contents-counters'))
    .map(({ name }) => name)
}

async function countDocuments(): Promise<number> {
  const { documents } = (await (await read(app, '/api/v1/documents?limit=200')).json()) as {
    documents: unknown[]
  }
  return documents.length
}

test('an upload of several documents answers with each, in order', async () => {
  const response = await post(
    app,
    CREATE,
    batch(pdf('uno', 'a.pdf'), pdf('dos', 'b.pdf'), pdf('tres', 'c.pdf')),
  )
  assert.equal(response.status, 200)
  const answer = (await response.json()) as { created_documents: { id: number; attachment_id: number }[] }
  const { created_documents, ...rest } = answer
  assert.deepEqual(rest, {
    status: 'success',
    message: '3 documents created successfully',
    total_created: 3,
    agent_id: 1,
    company_id: 1,
    owner_id: 1,
  })
  const ids = created_documents.map(({ id }) => id)
  assert.deepEqual(
    ids,
    [...ids].sort((a, b) => a - b),
  )
  assert.deepEqual(
    created_documents.map(({ id, attachment_id, ...row }) => row),
    ['a.pdf', 'b.pdf', 'c.pdf'].map((name) => ({ name, agent_id: 1, owner_id: 1, company_id: 1 })),
  )
})

test('the message for one document is in the singular', async () => {
  const response = await post(app, CREATE, batch(pdf()))
  assert.equal(((await response.json()) as { message: string }).message, '1 document created successfully')
})

const tokens: [string, string | undefined, number, string][] = [
  ['no Authorization header', undefined, 401, 'Invalid Authorization header format'],
  ['another scheme of credentials', 'Basic abc', 401, 'Invalid Authorization header format'],
  ['no token', 'Bearer ', 401, 'Invalid Authorization header format'],
  ['a token of two words', 'Bearer a b', 401, 'Invalid Authorization header format'],
  ['an unknown token', 'Bearer cbt_x', 401, 'Invalid or expired token'],
  ['an expired token', `Bearer ${TOKENS.expired}`, 401, 'Invalid or expired token'],
  ['a revoked token', `Bearer ${TOKENS.revoked}`, 401, 'Invalid or expired token'],
  ['a token of the other family', `Bearer ${TOKENS.agent}`, 403, 'Token not allowed for this endpoint'],
  ['a token of the other method', `Bearer ${TOKENS.read}`, 403, 'Token not allowed for this endpoint'],
]
const HINTS = new Map([
  ['Invalid Authorization header format', 'send a token (cbt_…) as Authorization: Bearer cbt_…'],
  ['Token not allowed for this endpoint', 'the token needs the permission documents:POST'],
])
for (const [name, authorization, status, message] of tokens) {
  test(`an upload with ${name} is rejected before all other checks`, async () => {
    const headers: Record<string, string> = authorization ? { authorization } : {}
    for (const method of ['POST', 'GET', 'PUT']) {
      const body = method === 'GET' ? {} : { body: 'not json' }
      const response = await fetch(app.app.url + CREATE, { method, headers, ...body })
      assert.equal(response.status, status, method)
      const hint = HINTS.get(message)
      assert.deepEqual(await response.json(), { status: 'error', message, ...(hint && { hint }) })
    }
  })
}

test('a token is valid through its last day', async () => {
  const response = await post(app, CREATE, batch(pdf()), { authorization: `Bearer ${TOKENS.lastDay}` })
  assert.equal(response.status, 200)
})

const MISSING = 'Fields owner_id, company_id, agent_id, documents are required'
const full = batch(pdf())
const refused: [string, unknown, number, string][] = [
  ['no body', '', 400, ''],
  ['half a body', '{"owner_id": 1', 400, ''],
  ['no owner', { ...full, owner_id: undefined }, 400, MISSING],
  ['a null company', { ...full, company_id: null }, 400, MISSING],
  ['an empty agent', { ...full, agent_id: '' }, 400, MISSING],
  ['no documents in the array', { ...full, documents: [] }, 400, MISSING],
  ['an array', [1, 2], 400, ''],
  ['an owner_id that is text', { ...full, owner_id: 'uno' }, 400, 'owner_id must be an integer'],
  ['a company_id of 1.5', { ...full, company_id: 1.5 }, 400, 'company_id must be an integer'],
  ['an agent_id above 2^53', { ...full, agent_id: '9007199254740992' }, 400, 'agent_id must be an integer'],
  ['an agent_id of zero', { ...full, agent_id: 0 }, 400, 'agent_id must be an integer'],
  ['an owner_id of true', { ...full, owner_id: true }, 400, 'owner_id must be an integer'],
  ['an owner_id that is an object', { ...full, owner_id: { id: 1 } }, 400, 'owner_id must be an integer'],
  ['documents that are text', { ...full, documents: 'x' }, 400, 'Invalid documents'],
  ['documents that are an object', { ...full, documents: { a: 1 } }, 400, 'Invalid documents'],
  ['an unknown company', { ...full, company_id: 99 }, 404, 'Company not found'],
  ['an unknown agent', { ...full, agent_id: 99 }, 404, 'Agent not found'],
  ['an agent that is not active', { ...full, agent_id: 2 }, 404, 'Agent not found'],
  ['an agent of another company', { ...full, agent_id: 3 }, 404, 'Agent not found'],
  ['an unknown owner', { ...full, owner_id: 99 }, 404, 'Owner not found'],
  ['an owner of another company', { ...full, owner_id: 2 }, 404, 'Owner not found'],
]
for (const [name, body, status, message] of refused) {
  test(`an upload with ${name} is rejected, and nothing is stored`, async () => {
    const [rows, files] = [await countDocuments(), blobFiles()]
    const response = await post(app, CREATE, body)
    assert.equal(response.status, status)
    const answer = (await response.json()) as { status: string; message: string }
    assert.equal(answer.status, status === 404 ? 'not found' : 'error')
    if (message) assert.equal(answer.message, message)
    else assert.ok(answer.message.length > 10)
    assert.equal(await countDocuments(), rows)
    assert.deepEqual(blobFiles(), files)
  })
}

test('an answer to missing fields names them in `hint`', async () => {
  const hints = await Promise.all(
    [
      { ...full, agent_id: null },
      { ...full, documents: [] },
      { documents: [] },
      { ...full, owner_id: 'uno' },
    ].map(async (body) => {
      const answer = await (await post(app, CREATE, body)).json()
      return (answer as { hint?: string }).hint
    }),
  )
  const end = 'missing or empty: documents must have at least one element'
  const all = `owner_id, company_id, agent_id, documents are ${end}`
  assert.deepEqual(hints, ['agent_id is missing', `documents is ${end}`, all, undefined])
})

const good = pdf()
const MIMETYPE =
  'mimetype must be of the form type/subtype, such as application/pdf or text/plain; charset=utf-8'
const WILDCARD = 'mimetype must not have a wildcard: name one type, such as application/pdf'
const NOT_BASE64 = 'base64 must be RFC 4648 with padding, without spaces, tabs or a data: prefix'
const faulty: [string, unknown, string, string][] = [
  ['no name', { ...good, name: undefined }, 'name', 'name is missing'],
  ['an empty name', { ...good, name: '' }, 'name', 'name is missing'],
  ['a blank name', { ...good, name: ' \u3000' }, 'name', 'name must not be blank'],
  [
    'a name of 256 characters',
    { ...good, name: 'é'.repeat(256) },
    'name',
    'name must be at most 255 characters',
  ],
  ['a name of 2 MB', { ...good, name: 'x'.repeat(2_000_000) }, 'name', 'name must be at most 255 characters'],
  ['a name with a line break', { ...good, name: 'a\nb' }, 'name', 'name must not have control characters'],
  ['a name with U+2028', { ...good, name: 'a\u2028b' }, 'name', 'name must not have control characters'],
  [
    'half a surrogate in its name',
    { ...good, name: '\ud800' },
    'name',
    'name must be Unicode: it has half of a surrogate pair',
  ],
  ['a number for a name', { ...good, name: 7 }, 'name', 'name must be a string'],
  [
    'a number of 5,000 digits for a name',
    { ...good, name: rawNumber('9'.repeat(5000)) },
    'name',
    'name must be a string',
  ],
  ['an object for a name', { ...good, name: {} }, 'name', 'name must be a string'],
  ['no type', { ...good, mimetype: '' }, 'mimetype', 'mimetype is missing'],
  ['half a type', { ...good, mimetype: 'pdf' }, 'mimetype', MIMETYPE],
  ['a header in its type', { ...good, mimetype: 'a/b\r\nX: 1' }, 'mimetype', MIMETYPE],
  ['a header in a parameter', { ...good, mimetype: 'a/b; c="\r\nX: 1"' }, 'mimetype', MIMETYPE],
  ['half a parameter', { ...good, mimetype: 'text/plain; charset' }, 'mimetype', MIMETYPE],
  ['a wildcard for a type', { ...good, mimetype: '*/*' }, 'mimetype', WILDCARD],
  ['a wildcard for a subtype', { ...good, mimetype: 'text/*; q=0.5' }, 'mimetype', WILDCARD],
  [
    'a type that is too long',
    { ...good, mimetype: `a/b; c=${'d'.repeat(300)}` },
    'mimetype',
    'mimetype must be at most 255 characters',
  ],
  ['an empty blob', { ...good, base64: '' }, 'base64', 'base64 is empty'],
  ['null for its blob', { ...good, base64: null }, 'base64', 'base64 is missing'],
  ['a number for its blob', { ...good, base64: 5 }, 'base64', 'base64 must be a string'],
  ['a space in its base64', { ...good, base64: 'aG 9s' }, 'base64', NOT_BASE64],
  ['no padding of its base64', { ...good, base64: 'aG9sYQ' }, 'base64', NOT_BASE64],
  ['a data URL for its base64', { ...good, base64: 'data:a/b;base64,aG9s' }, 'base64', NOT_BASE64],
  ['URL-safe base64', { ...good, base64: '-_-_' }, 'base64', NOT_BASE64],
  ['text for an object', 'x', 'name', 'a document must be an object with name, mimetype and base64'],
]
for (const [name, document, field, message] of faulty) {
  test(`a document with ${name} rejects the batch, and the error has its index`, async () => {
    const [rows, files] = [await countDocuments(), blobFiles()]
    const response = await post(app, CREATE, batch(good, document, good))
    assert.equal(response.status, 400)
    assert.deepEqual(await response.json(), {
      status: 'error',
      message: message === NOT_BASE64 ? 'Invalid base64 content' : 'Invalid documents',
      errors: [{ index: 1, field, message }],
      errors_total: 1,
    })
    assert.equal(await countDocuments(), rows)
    assert.deepEqual(blobFiles(), files)
  })
}

test('every bad document has its entry, and the message is that of the first', async () => {
  const response = await post(app, CREATE, batch({ ...good, base64: '?' }, good, { ...good, name: '' }))
  assert.deepEqual(await response.json(), {
    status: 'error',
    message: 'Invalid base64 content',
    errors: [
      { index: 0, field: 'base64', message: NOT_BASE64 },
      { index: 2, field: 'name', message: 'name is missing' },
    ],
    errors_total: 2,
  })
})

for (const mimetype of [
  'text/plain; charset=utf-8',
  'text/plain;charset="utf-8"',
  'multipart/mixed; boundary="a;\\"b"; x=y',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
]) {
  test(`${mimetype} is a valid type, and the blob is returned with it`, async () => {
    const response = await post(app, CREATE, batch({ ...good, mimetype }))
    assert.equal(response.status, 200)
    const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
    const content = await read(app, `/api/v1/documents/${created_documents[0]?.id}/content`)
    assert.equal(content.headers.get('content-type'), mimetype)
  })
}

test('bad documents are reported before an unknown company', async () => {
  const response = await post(app, CREATE, { ...batch({ ...good, base64: '?' }), company_id: 99 })
  assert.equal(((await response.json()) as { message: string }).message, 'Invalid base64 content')
})

const unusualBodies: [string, string][] = [
  ['documents first', `{"documents":[${JSON.stringify(good)}],"agent_id":1,"company_id":1,"owner_id":1}`],
  ['ids as digits in text', JSON.stringify({ ...full, owner_id: '1', company_id: '01', agent_id: '1' })],
  ['an owner of no company', JSON.stringify({ ...full, owner_id: 3 })],
  ['unknown nested fields', JSON.stringify({ x: { y: [[{}]] }, ...full, z: [1, { documents: [] }] })],
  ['slashes escaped as PHP does', JSON.stringify(batch({ ...good, base64: '////' })).replaceAll('/', '\\/')],
  ['line breaks in base64', JSON.stringify(batch({ ...good, base64: 'aG\r\n9s\nYQ==\r\n' }))],
  ['escapes in base64', JSON.stringify(batch({ ...good, base64: 'a+++' })).replaceAll('+', '\\u002b')],
  ['bits under the padding', JSON.stringify(batch({ ...good, base64: 'aB==' }))],
  ['white space around', ` \n${JSON.stringify(full)}\t\r\n`],
]
for (const [name, body] of unusualBodies) {
  test(`a body with ${name} is valid`, async () => {
    for (const type of ['application/json', 'text/plain', 'nonsense']) {
      const response = await post(app, CREATE, body, { 'content-type': type })
      assert.equal(response.status, 200, await response.text())
    }
  })
}

test('equal blobs are stored once, and each upload has its own rows', async () => {
  const before = blobFiles().length
  const ids = new Set<number>()
  for (let time = 0; time < 3; time += 1) {
    const response = await post(app, CREATE, batch(pdf('siempre lo mismo'), pdf('siempre lo mismo')))
    const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
    for (const { id } of created_documents) ids.add(id)
  }
  assert.equal(ids.size, 6)
  assert.equal(blobFiles().length, before + 1)
})

test('another method is 405 with Allow', async () => {
  const response = await fetch(app.app.url + CREATE, { headers: { authorization: `Bearer ${TOKENS.all}` } })
  assert.equal(response.status, 405)
  assert.equal(response.headers.get('allow'), 'POST')
  assert.deepEqual(await response.json(), { status: 'error', message: 'Method not allowed' })
})
