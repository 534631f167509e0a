import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { fillDirectory, post, TOKENS } from '../../support/directory.ts'
import { openTestDatabase } from '../../support/temporary.ts'

const PATH = '/api/v1/agent/get_by_company'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

test('agents/get lists the active agents of a company, with descriptions as plain text', async () => {
  const response = await post(
    app,
    PATH,
    { company_id: 1, code: 'ACME' },
    { authorization: `Bearer ${TOKENS.agent}` },
  )
  assert.equal(response.status, 200)
  assert.deepEqual(await response.json(), {
    status: 'success',
    company_id: 1,
    company_name: 'Acme S.A.',
    service_code: 'ACME',
    agents: [{ id: 1, name: 'Lector', description: 'Lee facturas' }],
    total_agents: 1,
  })
})

test('a company without active agents gets an empty list', async () => {
  const db = openTestDatabase(app.dataDir)
  await db.updateTable('agents').set({ active: 0 }).where('company_id', '=', 2).execute()
  await db.destroy()
  const answer = (await (await post(app, PATH, { company_id: '2', code: 'OTRA' })).json()) as Record<
    string,
    unknown
  >
  assert.deepEqual([answer.status, answer.agents, answer.total_agents], ['success', [], 0])
})

const REQUIRED = 'Fields company_id and code are required'
const refused: [string, unknown, number, string][] = [
  ['nothing', {}, 400, REQUIRED],
  ['no code', { company_id: 1 }, 400, REQUIRED],
  ['an empty code', { company_id: 1, code: '' }, 400, REQUIRED],
  ['a null company', { company_id: null, code: 'ACME' }, 400, REQUIRED],
  ['an array', [], 400, REQUIRED],
  ['a company that is no integer', { company_id: 'x', code: 'ACME' }, 400, 'company_id must be an integer'],
  ['a code that is a number', { company_id: 1, code: 7 }, 400, 'code must be a string'],
  ['what is not JSON', 'company_id=1', 400, 'Request body must be valid JSON in UTF-8'],
  ['what is not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, 'Request body must be valid JSON in UTF-8'],
  ['the code of another company', { company_id: 1, code: 'OTRA' }, 404, 'Company not found'],
  ['the code in another case', { company_id: 1, code: 'acme' }, 404, 'Company not found'],
  ['a code with NUL', { company_id: 1, code: 'ACME\0' }, 404, 'Company not found'],
  ['an unknown company', { company_id: 9, code: 'ACME' }, 404, 'Company not found'],
]
for (const [what, body, status, message] of refused) {
  test(`${what} is rejected`, async () => {
    const response = await post(app, PATH, body)
    assert.equal(response.status, status)
    const isMissing = status === 404
    assert.deepEqual(await response.json(), {
      ...{ status: isMissing ? 'not found' : 'error', message },
      ...(isMissing && { reason: 'no_company' }),
    })
  })
}

test('a body far over the limit is a 413', async () => {
  const response = await post(app, PATH, { company_id: 1, code: 'x'.repeat(100_000) })
  assert.equal(response.status, 413)
  assert.match(((await response.json()) as { message: string }).message, /at most 65536 bytes/)
})

test('a token without agent:POST is rejected', async () => {
  const response = await post(app, PATH, {}, { authorization: `Bearer ${TOKENS.upload}` })
  assert.equal(response.status, 403)
})
