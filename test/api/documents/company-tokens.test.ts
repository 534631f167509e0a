// Tokens of one company: rows of other companies do not exist for them.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { AT, batch, CREATE, fillDirectory, pdf, post, read } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess } from '../support.ts'

const AGENTS = '/api/v1/agent/get_by_company'
const LIST = '/api/v1/documents'
const ours = { authorization: 'Bearer cbt_acme' }
const theirs = { authorization: 'Bearer cbt_otra' }
const OTHER = { ...batch(pdf('suyo')), company_id: 2, agent_id: 3, owner_id: 2 }

let app: TestApp
const ids: number[] = []
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
  await asOtherProcess(app, async (db) => {
    for (const [name, company_id] of [
      ['cbt_acme', 1],
      ['cbt_otra', 2],
    ] as const) {
      const allow = 'documents:POST documents:GET agent:POST'
      await db
        .insertInto('tokens')
        .values({ name, company_id, hash: hashOfSecret(name), allow, created_at: AT })
        .execute()
    }
  })
  await until(async () => (await read(app, LIST, ours)).status === 200)
  for (const [body, headers] of [
    [batch(pdf('nuestro')), ours],
    [OTHER, theirs],
  ] as const) {
    const response = await post(app, CREATE, body, headers)
    assert.equal(response.status, 200)
    const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
    ids.push(created_documents[0]?.id ?? 0)
  }
})

/** Status, headers and body of an answer: everything that could reveal a row. */
async function readWhole(response: Response) {
  const headers = Object.fromEntries(response.headers)
  for (const name of ['date', 'x-request-id']) delete headers[name]
  return { status: response.status, headers, body: await response.text() }
}

const uploads: [what: string, body: Record<string, unknown>, message: string, reason: string][] = [
  ['another company', OTHER, 'Company not found', 'no_company'],
  ['a company that is not there', { ...OTHER, company_id: 99 }, 'Company not found', 'no_company'],
  ['an agent of another company', { ...batch(pdf()), agent_id: 3 }, 'Agent not found', 'no_agent'],
  ['an agent that is not there', { ...batch(pdf()), agent_id: 99 }, 'Agent not found', 'no_agent'],
  ['an owner of another company', { ...batch(pdf()), owner_id: 2 }, 'Owner not found', 'no_owner'],
  ['an owner that is not there', { ...batch(pdf()), owner_id: 99 }, 'Owner not found', 'no_owner'],
]
for (const [what, body, message, reason] of uploads) {
  test(`a token of one company cannot upload to ${what}`, async () => {
    const answer = await readWhole(await post(app, CREATE, body, ours))
    assert.deepEqual(
      [answer.status, JSON.parse(answer.body)],
      [404, { status: 'not found', message, reason }],
    )
  })
}

test('an upload to another company is answered as one to a missing company, before and after the look-up of its agent', async () => {
  for (const headers of [ours, { ...ours, 'idempotency-key': 'one' }]) {
    const of = async (body: unknown) => readWhole(await post(app, CREATE, body, headers))
    assert.deepEqual(await of(OTHER), await of({ ...OTHER, company_id: 99 }))
    assert.deepEqual(await of({ ...OTHER, agent_id: 1 }), await of({ ...OTHER, company_id: 99 }))
  }
})

test('a token of one company uploads to it, also for an owner without a company', async () => {
  const response = await post(app, CREATE, { ...batch(pdf('mío')), owner_id: 3 }, ours)
  assert.equal(response.status, 200)
})

test('an Idempotency-Key belongs to the token, whatever its company', async () => {
  const headers = { 'idempotency-key': 'mayo' }
  const first = await (await post(app, CREATE, batch(pdf('mayo')), { ...ours, ...headers })).text()
  const again = await (await post(app, CREATE, batch(pdf('mayo')), { ...ours, ...headers })).text()
  assert.equal(again, first)
  const other = await post(app, CREATE, OTHER, { ...theirs, ...headers })
  assert.equal(other.status, 200)
})

test('the agents of another company are a 404, also with its right code', async () => {
  const of = async (body: unknown, headers = ours) => readWhole(await post(app, AGENTS, body, headers))
  assert.equal((await of({ company_id: 1, code: 'ACME' })).status, 200)
  assert.equal((await of({ company_id: 2, code: 'OTRA' }, theirs)).status, 200)
  const none = await of({ company_id: 99, code: 'OTRA' })
  assert.deepEqual(
    [none.status, JSON.parse(none.body)],
    [404, { status: 'not found', message: 'Company not found', reason: 'no_company' }],
  )
  assert.deepEqual(await of({ company_id: 2, code: 'OTRA' }), none)
  assert.deepEqual(await of({ company_id: 2, code: 'no' }), none)
})

test('the list has the documents of the company alone, on every page', async () => {
  const companies = new Set<number>()
  let after = 0
  for (;;) {
    const page = (await (await read(app, `${LIST}?limit=1&after=${after}`, ours)).json()) as {
      documents: { company_id: number }[]
      next_after: number
      has_more: boolean
    }
    for (const { company_id } of page.documents) companies.add(company_id)
    if (!page.has_more) break
    after = page.next_after
  }
  assert.deepEqual([...companies], [1])
})

test('the list of another company is a 404 as of a missing one; a list by its agents is empty', async () => {
  const of = async (query: string) => readWhole(await read(app, `${LIST}?${query}`, ours))
  const none = await of('company_id=99')
  assert.deepEqual(
    [none.status, JSON.parse(none.body)],
    [404, { status: 'not found', message: 'Company not found', reason: 'no_company' }],
  )
  assert.deepEqual(await of('company_id=2'), none)
  assert.deepEqual(await of('company_id=2&agent_id=3'), none)
  assert.deepEqual(await of('agent_id=3'), await of('agent_id=99'))
  assert.deepEqual(JSON.parse((await of('agent_id=3')).body).documents, [])
  assert.ok(JSON.parse((await of('company_id=1&agent_id=1')).body).documents.length > 0)
})

const REQUESTS: [what: string, path: string, init?: { method?: string; headers?: Record<string, string> }][] =
  [
    ['its row', ''],
    ['its row by HEAD', '', { method: 'HEAD' }],
    ['its content', '/content'],
    ['its content by HEAD', '/content', { method: 'HEAD' }],
    ['a range', '/content', { headers: { range: 'bytes=0-1' } }],
    ['a range outside it', '/content', { headers: { range: 'bytes=5000-' } }],
    ['whether it is the one that is held', '/content', { headers: { 'if-none-match': '*' } }],
  ]
for (const [what, path, { method = 'GET', headers = {} } = {}] of REQUESTS) {
  test(`for a document of another company ${what} is answered as for a missing document`, async () => {
    const [own, other] = ids
    const of = async (id: unknown) =>
      readWhole(
        await fetch(`${app.app.url}${LIST}/${id}${path}`, { method, headers: { ...ours, ...headers } }),
      )
    const answer = await of(other)
    assert.equal(answer.status, 404)
    assert.deepEqual(answer, await of(999))
    assert.notEqual((await of(own)).status, 404)
  })
}
