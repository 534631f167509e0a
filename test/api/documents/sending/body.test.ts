// A document sent as the body of a request, with its type in Content-Type and the rest in the query.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { fillDirectory, read, TOKENS } from '../../../support/directory.ts'
import { SEND } from '../../../support/documents/ways.ts'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

const FULL = { company_id: '1', agent_id: '1', owner_id: '1', name: 'factura.pdf' }
const PDF = { 'content-type': 'application/pdf' }

/** A request by node:http, which adds no Content-Type of its own. */
function send(
  query: Record<string, string> | string,
  headers: Record<string, string>,
  body: string | Buffer = 'hola',
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const url = `${app.app.url}${SEND}?${typeof query === 'string' ? query : new URLSearchParams(query)}`
  const authorization = `Bearer ${TOKENS.all}`
  return new Promise((resolve, reject) => {
    const client = request(
      url,
      { method: 'POST', headers: { authorization, ...headers } },
      async (response) => {
        let text = ''
        for await (const piece of response) text += piece
        resolve({ status: response.statusCode ?? 0, answer: JSON.parse(text) })
      },
    )
    client.on('error', reject)
    client.end(body)
  })
}

test('the body is stored byte for byte, with its name and type', async () => {
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 256))
  for (const type of [
    'application/pdf',
    'text/plain; charset="utf-8"',
    'application/json',
    'multipart/mixed; boundary=a',
  ]) {
    const name = `ñandú, 50 % & más+ ${type}.pdf`
    const { status, answer } = await send({ ...FULL, name }, { 'content-type': type }, bytes)
    assert.equal(status, 200)
    const { created_documents, ...rest } = answer as {
      created_documents: { id: number; attachment_id: number }[]
    }
    const [{ id = 0, attachment_id = 0 } = {}] = created_documents
    assert.deepEqual(created_documents, [
      { id, name, attachment_id, agent_id: 1, owner_id: 1, company_id: 1 },
    ])
    assert.deepEqual(rest, {
      status: 'success',
      message: '1 document created successfully',
      total_created: 1,
      agent_id: 1,
      company_id: 1,
      owner_id: 1,
    })
    const content = await read(app, `${SEND}/${id}/content`)
    assert.equal(content.headers.get('content-type'), type)
    assert.ok(Buffer.from(await content.arrayBuffer()).equals(bytes))
  }
})

const WITHOUT = 'Content-Type is missing: it must be the type of the document, such as application/pdf'
const CURLS =
  'Content-Type application/x-www-form-urlencoded is what curl says unasked: it must be the type of the document, such as application/pdf'
const PARTY = 'must be an integer from 1 to 9007199254740991'
const MIMETYPE =
  'mimetype must be of the form type/subtype, such as application/pdf or text/plain; charset=utf-8'
const refused: [string, Record<string, string> | string, Record<string, string>, string, number, string][] = [
  ['no Content-Type', FULL, {}, 'x', 400, WITHOUT],
  ['an empty Content-Type', FULL, { 'content-type': ' ' }, 'x', 400, WITHOUT],
  ['what curl says', FULL, { 'content-type': 'application/x-www-form-urlencoded' }, 'x', 400, CURLS],
  [
    'the same in capitals',
    FULL,
    { 'content-type': 'Application/X-WWW-Form-URLencoded;a=b' },
    'x',
    400,
    CURLS,
  ],
  [
    'a coding',
    FULL,
    { ...PDF, 'content-encoding': 'gzip' },
    'x',
    415,
    'The request body must not be compressed (Content-Encoding)',
  ],
  [
    'no query',
    '',
    PDF,
    'x',
    422,
    'company_id is required; agent_id is required; owner_id is required; name is required',
  ],
  ['a word for an id', { ...FULL, owner_id: 'x' }, PDF, 'x', 422, 'owner_id must be an integer'],
  ['agent 0', { ...FULL, agent_id: '0' }, PDF, 'x', 422, `agent_id ${PARTY}`],
  [
    'an id beyond the safe integers',
    { ...FULL, agent_id: '9007199254740992' },
    PDF,
    'x',
    422,
    `agent_id ${PARTY}`,
  ],
  ['an empty name', { ...FULL, name: '' }, PDF, 'x', 422, 'name must not be empty'],
  [
    'a misspelt parameter',
    { ...FULL, nam: 'x' },
    PDF,
    'x',
    422,
    'there is no parameter nam: did you mean name?',
  ],
  [
    'a bad escape',
    'name=%ff&company_id=1&agent_id=1&owner_id=1',
    PDF,
    'x',
    422,
    'name must be valid percent-encoded UTF-8',
  ],
  ['another company', { ...FULL, company_id: '99' }, PDF, 'x', 404, 'Company not found'],
  ['an agent that is not active', { ...FULL, agent_id: '2' }, PDF, 'x', 404, 'Agent not found'],
  ['an owner of another company', { ...FULL, owner_id: '2' }, PDF, 'x', 404, 'Owner not found'],
]
for (const [what, query, headers, body, status, message] of refused) {
  test(`${what} is rejected, and nothing is stored`, async () => {
    const result = await send(query, headers, body)
    assert.deepEqual([result.status, result.answer.message], [status, message])
    assert.deepEqual(readdirSync(join(app.dataDir, 'blobs/tmp')), [])
  })
}

const faulty: [string, Record<string, string>, Record<string, string>, string, string, string][] = [
  ['an empty body', FULL, PDF, '', 'content', 'content is empty'],
  ['a blank name', { ...FULL, name: ' ' }, PDF, 'x', 'name', 'name must not be blank'],
  [
    'a line break in the name',
    { ...FULL, name: 'a\nb' },
    PDF,
    'x',
    'name',
    'name must not have control characters',
  ],
  [
    'a long name',
    { ...FULL, name: 'é'.repeat(256) },
    PDF,
    'x',
    'name',
    'name must be at most 255 characters',
  ],
  ['half a type', FULL, { 'content-type': 'pdf' }, 'x', 'mimetype', MIMETYPE],
]
for (const [what, query, headers, body, field, fault] of faulty) {
  test(`${what} is reported as a fault of the document`, async () => {
    assert.deepEqual(await send(query, headers, body), {
      status: 400,
      answer: {
        status: 'error',
        message: 'Invalid documents',
        errors: [{ index: 0, field, message: fault }],
        errors_total: 1,
      },
    })
    assert.deepEqual(readdirSync(join(app.dataDir, 'blobs/tmp')), [])
  })
}

test('the last of a repeated parameter counts, and cache busters are ignored', async () => {
  const { status } = await send(`agent_id=x&${new URLSearchParams(FULL)}&_=1`, PDF)
  assert.equal(status, 200)
})

test('a token without documents:POST is rejected, and PUT is a 405', async () => {
  const url = `${app.app.url}${SEND}?${new URLSearchParams(FULL)}`
  const authorization = `Bearer ${TOKENS.read}`
  const refusal = await fetch(url, { method: 'POST', headers: { authorization, ...PDF }, body: 'x' })
  assert.equal(refusal.status, 403)
  assert.equal((await fetch(url, { method: 'POST', headers: PDF, body: 'x' })).status, 401)
  const put = await fetch(url, {
    method: 'PUT',
    headers: { authorization: `Bearer ${TOKENS.all}` },
    body: 'x',
  })
  assert.equal(put.status, 405)
  assert.equal(put.headers.get('allow'), 'POST, GET, HEAD')
  assert.equal((await read(app, SEND)).status, 200)
})
