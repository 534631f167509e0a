// Companies, agents and owners, by the permissions of a token (decisions#directory).

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { AT, fillDirectory, read, TOKENS } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'
import { type Document, readDescription } from '../openapi/description.ts'
import { asOtherProcess } from '../support.ts'

const COMPANIES = '/api/v1/companies'
const acme = { authorization: 'Bearer cbt_acme' }

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
  await asOtherProcess(app, async (db) => {
    const token = { company_id: 1, allow: 'documents:GET', created_at: AT }
    await db
      .insertInto('tokens')
      .values({ name: 'acme', hash: hashOfSecret('cbt_acme'), ...token })
      .execute()
  })
  await until(async () => (await read(app, COMPANIES, acme)).status === 200)
})

async function ask(path: string, headers: Record<string, string> = {}) {
  const response = await read(app, path, headers)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const page = { status: 'success', has_more: false }
const OWN = [{ id: 1, name: 'Acme S.A.' }]
const AGENTS = [
  { id: 1, name: 'Lector', description: 'Lee facturas', active: true },
  { id: 2, name: 'Dormido', description: '', active: false },
]
const OWNERS = [
  { id: 1, name: 'Ana', company_id: 1 },
  { id: 3, name: 'Caro', company_id: null },
]

test('a token without a company lists each company, its agents and its owners', async () => {
  assert.deepEqual(await ask(COMPANIES), {
    status: 200,
    body: { ...page, companies: [...OWN, { id: 2, name: 'Otra' }], next_after: 2 },
  })
  assert.deepEqual(await ask(`${COMPANIES}/1/agents`), {
    status: 200,
    body: { ...page, company_id: 1, agents: AGENTS, next_after: 2 },
  })
  assert.deepEqual(await ask(`${COMPANIES}/2/owners`), {
    status: 200,
    body: {
      ...page,
      company_id: 2,
      owners: [{ id: 2, name: 'Beto', company_id: 2 }, OWNERS[1]],
      next_after: 3,
    },
  })
})

test('a token of one company lists that one alone', async () => {
  assert.deepEqual((await ask(COMPANIES, acme)).body, { ...page, companies: OWN, next_after: 1 })
  assert.deepEqual((await ask(`${COMPANIES}?after=1`, acme)).body, { ...page, companies: [], next_after: 1 })
  assert.deepEqual((await ask(`${COMPANIES}/1/agents`, acme)).body.agents, AGENTS)
  assert.deepEqual((await ask(`${COMPANIES}/1/owners`, acme)).body.owners, OWNERS)
})

test('for a token of one company other companies are answered as missing ones, in every byte', async () => {
  const whole = async (path: string, headers = acme) => {
    const response = await read(app, path, headers)
    const headersToCompare = Object.fromEntries(response.headers)
    for (const name of ['date', 'x-request-id']) delete headersToCompare[name]
    return { status: response.status, sent: headersToCompare, text: await response.text() }
  }
  for (const what of ['agents', 'owners']) {
    const none = await whole(`${COMPANIES}/99/${what}`)
    assert.deepEqual(
      [none.status, JSON.parse(none.text)],
      [404, { status: 'not found', message: 'Company not found', reason: 'no_company' }],
    )
    for (const query of ['', '?limit=1', '?after=1']) {
      assert.deepEqual(await whole(`${COMPANIES}/2/${what}${query}`), none)
    }
    assert.deepEqual(await whole(`${COMPANIES}/${'9'.repeat(30)}/${what}`, {} as typeof acme), none)
  }
})

test('a list is read a page at a time', async () => {
  const first = await ask(`${COMPANIES}?limit=1`)
  assert.deepEqual(first.body, { status: 'success', companies: OWN, next_after: 1, has_more: true })
  const second = await ask(`${COMPANIES}?limit=1&after=1`)
  assert.deepEqual(second.body, { ...page, companies: [{ id: 2, name: 'Otra' }], next_after: 2 })
  for (const [path, ids] of [
    ['1/agents', [1, 2]],
    ['1/owners', [1, 3]],
  ] as const) {
    const listedIds: number[] = []
    let after = 0
    for (let more = true; more; ) {
      const { body } = await ask(`${COMPANIES}/${path}?limit=1&after=${after}`)
      const [, name = ''] = path.split('/')
      listedIds.push(...(body[name] as { id: number }[]).map(({ id }) => id))
      after = body.next_after as number
      more = body.has_more as boolean
    }
    assert.deepEqual(listedIds, ids)
  }
})

test('lists need a token that reads documents', async () => {
  for (const path of [COMPANIES, `${COMPANIES}/1/agents`, `${COMPANIES}/1/owners`]) {
    for (const secret of [TOKENS.upload, TOKENS.agent]) {
      const refused = await ask(path, { authorization: `Bearer ${secret}` })
      assert.deepEqual(refused, {
        status: 403,
        body: {
          status: 'error',
          message: 'Token not allowed for this endpoint',
          hint: 'the token needs the permission documents:GET',
        },
      })
    }
    assert.equal((await fetch(app.app.url + path)).status, 401)
    assert.equal((await fetch(app.app.url + path, { headers: { 'x-api-key': app.key } })).status, 401)
    assert.equal((await read(app, path, { authorization: `Bearer ${TOKENS.read}` })).status, 200)
    assert.match(String((await ask(`${path}?order=desc`)).body.message), /there is no parameter order/)
  }
  assert.equal((await ask(`${COMPANIES}/x/agents`)).status, 422)
  assert.equal((await ask(`${COMPANIES}/1`)).status, 404)
})

test('every answer matches its description', async () => {
  const description = readDescription((await (await fetch(`${app.app.url}/openapi.json`)).json()) as Document)
  for (const [path, asked] of [
    [COMPANIES, COMPANIES],
    [`${COMPANIES}/{id}/agents`, `${COMPANIES}/1/agents`],
    [`${COMPANIES}/{id}/owners`, `${COMPANIES}/1/owners`],
    [`${COMPANIES}/{id}/owners`, `${COMPANIES}/9/owners`],
  ] as const) {
    const response = await read(app, asked)
    const type = String(response.headers.get('content-type'))
    description.checkAnswer(path, 'get', { status: response.status, type, body: await response.text() })
  }
})
