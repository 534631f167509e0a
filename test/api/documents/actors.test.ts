// Actors: the request log names the key or token, and a document the token that made it (decisions#actions).

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import {
  AT,
  batch,
  CREATE,
  fillDirectory,
  pdf,
  post,
  read,
  TOKENS,
  tokenName,
} from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, send } from '../support.ts'

type Line = { event: string; id: string; key?: string; token?: string; status: number }

let app: TestApp
let keyName = ''
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
  keyName = `test ${app.key.slice(-6)}`
})

/** The log line of a request. */
async function findRequestLine(id: string): Promise<Line> {
  const find = () =>
    app.logLines
      .join('')
      .split('\n')
      .find((line) => line.includes(`"${id}"`))
  await until(() => find() !== undefined)
  return JSON.parse(find() ?? '') as Line
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const LIST = '/api/v1/documents'
const cases: [
  what: string,
  path: string,
  headers: () => Record<string, string>,
  status: number,
  names: object,
][] = [
  ['a key', '/api/v1/providers', () => ({ 'x-api-key': app.key }), 200, { key: 'KEY' }],
  [
    'a key, answered from the cache',
    '/api/v1/providers',
    () => ({ 'x-api-key': app.key }),
    200,
    { key: 'KEY' },
  ],
  [
    'a key, with a bad parameter',
    '/api/v1/rates?on=x',
    () => ({ 'x-api-key': app.key }),
    422,
    { key: 'KEY' },
  ],
  ['no key', '/api/v1/providers', () => ({}), 401, {}],
  ['a wrong key', '/api/v1/providers', () => ({ 'x-api-key': 'cbk_no' }), 401, {}],
  ['a key on an open path', '/healthz', () => ({ 'x-api-key': app.key }), 200, {}],
  ['a token', LIST, () => bearer(TOKENS.read), 200, { token: tokenName(TOKENS.read) }],
  [
    'a token, for nothing that is there',
    `${LIST}/999`,
    () => bearer(TOKENS.read),
    404,
    { token: tokenName(TOKENS.read) },
  ],
  ['a token that is not for it', LIST, () => bearer(TOKENS.upload), 403, { token: tokenName(TOKENS.upload) }],
  ['an expired token', LIST, () => bearer(TOKENS.expired), 401, {}],
  ['a revoked token', LIST, () => bearer(TOKENS.revoked), 401, {}],
  ['a key where a token is asked', LIST, () => ({ 'x-api-key': app.key }), 401, {}],
]
for (const [at, [what, path, headers, status, names]] of cases.entries()) {
  test(`the log line of a request with ${what} names ${Object.keys(names).join() || 'nobody'}`, async () => {
    const id = `actor-${at}.`
    const answer = await send(app.app.url + path, { headers: { ...headers(), 'x-request-id': id } })
    assert.equal(answer.status, status)
    const { key, token } = await findRequestLine(id)
    const expected = { key: undefined, token: undefined, ...names }
    assert.deepEqual({ key: key === keyName ? 'KEY' : key, token }, expected)
  })
}

test('the log line of a rejected upload names its token too', async () => {
  const answer = await post(app, CREATE, { ...batch(pdf()), company_id: 99 }, { 'x-request-id': 'refused.' })
  assert.equal(answer.status, 404)
  assert.equal((await findRequestLine('refused.')).token, tokenName(TOKENS.all))
})

test('a row names the token that made it; a document of unknown origin has none', async () => {
  const response = await post(app, CREATE, batch(pdf('suyo')), bearer(TOKENS.upload))
  const { created_documents } = (await response.json()) as { created_documents: { id: number }[] }
  const id = created_documents[0]?.id ?? 0
  const row = async () => (await (await read(app, `${LIST}/${id}`)).json()) as { created_by: string | null }
  assert.equal((await row()).created_by, tokenName(TOKENS.upload))
  const { documents } = (await (await read(app, LIST)).json()) as { documents: { created_by: string }[] }
  assert.equal(documents.at(-1)?.created_by, tokenName(TOKENS.upload))
  await asOtherProcess(app, (db) =>
    db.updateTable('documents').set({ created_by: null }).where('id', '=', id).execute(),
  )
  assert.equal((await row()).created_by, null)
})

test('a document has the name of its token after the token was revoked and replaced', async () => {
  const secret = 'cbt_rotated'
  await asOtherProcess(app, async (db) => {
    const token = { name: 'rotado', allow: 'documents:POST', created_at: AT }
    await db
      .insertInto('tokens')
      .values({ ...token, hash: hashOfSecret(secret) })
      .execute()
  })
  await until(async () => (await post(app, CREATE, batch(pdf('r')), bearer(secret))).status === 200)
  await asOtherProcess(app, async (db) => {
    await db.updateTable('tokens').set({ revoked_at: AT }).where('name', '=', 'rotado').execute()
    await db
      .insertInto('tokens')
      .values({ name: 'rotado', allow: 'agent:POST', created_at: AT, hash: 'h' })
      .execute()
  })
  const { documents } = (await (await read(app, LIST)).json()) as { documents: { created_by: string }[] }
  assert.equal(documents.at(-1)?.created_by, 'rotado')
})
