// Documents by name, states and days of arrival (decisions#reading).

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../../support/directory.ts'

type Page = { documents: { id: number; name: string }[]; next_before?: number; has_more: boolean }

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext, { now: '2026-03-24T12:00:00.000Z' })
  await fillDirectory(app)
  const names = ['Crédito 1.pdf', 'Factura 50%.pdf', 'factura_2.pdf', 'Otra.pdf']
  await post(app, CREATE, batch(...names.map((name) => pdf(name, name))))
  await post(app, CREATE, {
    ...batch(pdf('x', 'Factura ajena.pdf')),
    company_id: 2,
    agent_id: 3,
    owner_id: 2,
  })
})

async function list(query: string, secret: string = TOKENS.read): Promise<Page> {
  const response = await read(app, `/api/v1/documents?${query}`, { authorization: `Bearer ${secret}` })
  assert.equal(response.status, 200, query)
  return (await response.json()) as Page
}

const names = async (query: string, secret?: string) =>
  (await list(query, secret)).documents.map(({ name }) => name)

test('`q` finds each word of a name, whatever its accents and capitals', async () => {
  assert.deepEqual(await names('q=credito'), ['Crédito 1.pdf'])
  assert.deepEqual(await names('q=CR%C3%89DITO%20pdf'), ['Crédito 1.pdf'])
  assert.deepEqual(await names('q=50%25'), ['Factura 50%.pdf'])
  assert.deepEqual(await names('q=_'), ['factura_2.pdf'])
  assert.deepEqual(await names('q=factura&order=desc'), [
    'Factura ajena.pdf',
    'factura_2.pdf',
    'Factura 50%.pdf',
  ])
  const page = await list('q=factura&order=desc&limit=1')
  assert.deepEqual([page.documents.length, page.next_before, page.has_more], [1, 5, true])
  assert.deepEqual(await names('q=factura&order=desc&before=5&limit=1'), ['factura_2.pdf'])
})

test('`q` finds no document that the token may not see', async () => {
  assert.deepEqual(await names('q=factura', TOKENS.ofCompany), ['Factura ajena.pdf'])
  assert.deepEqual(await names('q=ajena', TOKENS.ofAgent), [])
})

test('`state` is one or several, `from` and `to` are days of arrival in Costa Rica', async () => {
  await post(app, '/api/v1/documents/claim', { agent_id: 1 }, { authorization: `Bearer ${TOKENS.work}` })
  assert.deepEqual(await names('state=claimed'), ['Crédito 1.pdf'])
  assert.equal((await names('state=new,claimed')).length, 5)
  assert.equal((await names('state=failed,done')).length, 0)
  assert.equal((await names('company_id=1&state=new')).length, 3)
  assert.equal((await names('from=2026-03-24&to=2026-03-24')).length, 5)
  assert.equal((await names('from=2026-03-25')).length, 0)
  assert.equal((await names('to=2026-03-23&order=desc')).length, 0)
  assert.deepEqual(await names('to=2026-03-24&q=otra&state=new'), ['Otra.pdf'])
})

for (const [query, name, message] of [
  ['q=', 'q', /q must be 1 to 100 characters/],
  ['q=%20', 'q', /with a word/],
  ['q=a%00b', 'q', /q must be 1 to 100 characters without U\+0000/],
  [`q=${'a'.repeat(101)}`, 'q', /q must be 1 to 100 characters/],
  ['state=new,gone', 'state', /state must be new, claimed, done or failed, or several of these/],
  ['from=24/03/2026', 'from', /from must be a calendar day written YYYY-MM-DD/],
  ['from=2026-03-24&to=2026-03-23', 'from', /from must not be after to/],
  ['q=a&wait=5', 'wait', /wait goes without q/],
  ['from=2026-03-24&wait=5', 'wait', /wait goes without from/],
  ['state=new,done&wait=5', 'wait', /wait goes without state/],
] as const) {
  test(`a list with ${query.slice(0, 40)} is a 422 that names ${name}`, async () => {
    const response = await read(app, `/api/v1/documents?${query}`)
    const { status, ...body } = (await response.json()) as { status: string; message: string }
    assert.equal(response.status, 422)
    assert.match(body.message, message)
  })
}
