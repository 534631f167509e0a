// Access control of every route that the program describes, with every wrong credential. New routes are tested too; a
// route with parameters unknown to this test fails.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { ALLOWED, hashOfSecret, makeSecret } from '../../../src/domain/access/secrets.ts'
import { insertApiKey, revokeApiKey } from '../../../src/store/access/api-keys.ts'
import { insertToken, revokeToken } from '../../../src/store/access/tokens.ts'
import { replaceResult } from '../../../src/store/documents/results.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { type Operation, readAllPaths, readDescription } from '../../api/openapi/description.ts'
import { exchange, send } from '../../api/support.ts'
import { AT, CREATE, fillDatabase, pdf } from '../../support/directory.ts'
import { startProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { figure, LONG, PROGRAM, scaled } from '../scale.ts'
import { advantage } from './statistics.ts'

type Family = 'open' | 'rates' | 'documents' | 'agent' | 'session'
type Route = { path: string; method: 'GET' | 'POST' | 'DELETE'; family: Family } & {
  queries: string[]
  fields: string[]
}
type Headers = Record<string, string | string[]>

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
const PLAIN = ['cache-control', 'connection', 'content-length', 'content-type', 'date', 'keep-alive']
PLAIN.push('x-content-type-options', 'x-request-id')
const NO_KEY = '{"detail":"Missing or invalid API key: send it in the header X-API-Key"}'
const NO_HEADER = '{"status":"error","message":"Invalid Authorization header format"}'
const HINTED_TEXT = NO_HEADER.replace('}', ',"hint":"send a token (cbt_…) as Authorization: Bearer cbt_…"}')
const HINTED = Buffer.from(HINTED_TEXT).toString('latin1') // as `exchange` reads bytes
const NO_TOKEN = '{"status":"error","message":"Invalid or expired token"}'
const notAllowed = (action: string) =>
  `{"status":"error","message":"Token not allowed for this endpoint","hint":"the token needs the permission ${action}"}`
const NO_SESSION = '{"detail":"The session has ended: sign in again"}'
const keys = { good: makeSecret('cbk_'), revoked: makeSecret('cbk_') }
const tokens = {
  good: makeSecret('cbt_'),
  revoked: makeSecret('cbt_'),
  expired: makeSecret('cbt_'),
  acme: makeSecret('cbt_'),
  otra: makeSecret('cbt_'),
}
const narrow = ALLOWED.map((allow) => ({ allow, token: makeSecret('cbt_') }))
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Cookie and page header of a session of the good token. */
const session: Record<string, string> = {}

/** Documents of ACME and of OTRA. */
const documents = { acme: 0, otra: 0 }

const fileContext: Pick<TestContext, 'after'> = { after: (done) => after(done as () => void) }
const dataDir = temporaryDirectory(fileContext as TestContext)
await fillDatabase(dataDir)
await insertSecrets(dataDir)
const words = ['serve', '--no-scheduler', '--port', '0', '--data-dir', dataDir]
const program = startProgram(fileContext, words, {}, PROGRAM)
const url = (await program.waitForOutput(/ listening url=(\S+)/))[1] ?? ''
const description = readDescription(await readAllPaths(url))
const { paths } = description.document
// Compat APIs and /mcp read keys in other ways: test/api/compat and test/api/mcp test them.
const describedPaths = Object.entries(paths).filter(
  ([path]) => !path.startsWith('/compat/') && path !== '/mcp',
)
const routes = describedPaths.flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => toRoute(path, method, operation)),
)
const signInReply = await fetch(`${url}/session`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ secret: tokens.good }),
})
session.cookie = (signInReply.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
session['x-cambista-page'] = ((await signInReply.json()) as { page: string }).page
for (const [name, ids] of [
  ['acme', { company_id: 1, agent_id: 1, owner_id: 1 }],
  ['otra', { company_id: 2, agent_id: 3, owner_id: 2 }],
] as const) {
  const body = JSON.stringify({ ...ids, documents: [pdf(`de ${name}`, `secreto-${name}.pdf`)] })
  const answer = await fetch(url + CREATE, { method: 'POST', headers: bearer(tokens[name]), body })
  const reply = (await answer.json()) as { created_documents: { id: number }[] }
  documents[name] = reply.created_documents[0]?.id ?? 0
}
const db = openDatabase(dataDir)
await replaceResult(db, documents.acme, '{"total":"1.10"}')
await db.destroy()

test('the description has routes of each family', (t) => {
  for (const family of ['open', 'rates', 'documents', 'agent'] as const) {
    assert.ok(routes.filter((route) => route.family === family).length >= 1, family)
  }
  assert.ok(routes.length >= 16, String(routes.length))
  figure(t, 'routes', routes.length)
})

test('each route of rates is 401 without a valid key, for every method', async (t) => {
  const wrong: Headers[] = [
    {},
    { 'x-api-key': '' },
    { 'x-api-key': `${keys.good.slice(0, -1)}${keys.good.endsWith('a') ? 'b' : 'a'}` },
    { 'x-api-key': keys.good.slice(0, -1) },
    { 'x-api-key': `${keys.good}a` },
    { 'x-api-key': keys.revoked },
    { 'x-api-key': hashOfSecret(keys.good) },
    { 'x-api-key': ['wrong', keys.good] },
    { 'x-api-key': tokens.good },
    { 'x-api-key': `Bearer ${tokens.good}` },
    bearer(tokens.good),
    bearer(keys.good),
    { cookie: `X-API-Key=${keys.good}` },
  ]
  figure(t, 'refused', await expectRejections(['rates'], wrong, () => [401, NO_KEY]))
})

test('each route of documents is 401 without a valid token, for every method', async (t) => {
  const unknown: Headers[] = [
    bearer(`${tokens.good.slice(0, -1)}${tokens.good.endsWith('a') ? 'b' : 'a'}`),
    bearer(tokens.good.slice(0, -1)),
    bearer(`${tokens.good}a`),
    bearer(tokens.revoked),
    bearer(tokens.expired),
    bearer(hashOfSecret(tokens.good)),
    bearer(keys.good),
  ]
  const bad: Headers[] = [
    {},
    { authorization: '' },
    { authorization: tokens.good },
    { authorization: `Basic ${Buffer.from(`a:${tokens.good}`).toString('base64')}` },
    { authorization: `Bearer ${tokens.good} ${tokens.good}` },
    { authorization: [`Bearer ${tokens.revoked}`, `Bearer ${tokens.good}`] },
    { authorization: [`Bearer ${tokens.good}`, `Bearer ${tokens.good}`] },
    { 'x-api-key': tokens.good },
    { 'x-api-key': keys.good },
  ]
  const families = ['documents', 'agent'] as const
  const rejections = await expectRejections(families, unknown, () => [401, NO_TOKEN])
  figure(t, 'refused', rejections + (await expectRejections(families, bad, () => [401, NO_HEADER])))
})

test('a token without the required action gets 403, for every method', async (t) => {
  let rejections = 0
  for (const { allow, token } of narrow) {
    const testedMethods = (route: Route) =>
      METHODS.filter((method) => requiredAction(route, method) !== allow)
    const wrong = [bearer(token)]
    rejections += await expectRejections(
      ['documents', 'agent'],
      wrong,
      (route, method) => [403, notAllowed(requiredAction(route, method))],
      testedMethods,
    )
  }
  figure(t, 'refused', rejections)
})

test('an unauthenticated request gets 401 before its body and parameters are read', async () => {
  for (const route of routes.filter(({ family }) => family !== 'open')) {
    const expected = { rates: NO_KEY, session: NO_SESSION }[route.family as string] ?? HINTED
    for (const [name, value] of [
      ['Content-Length', '99999999999'],
      ['Transfer-Encoding', 'gzip, chunked'],
      ['Expect', '100-continue\r\nContent-Length: 10'],
      ['Content-Encoding', 'br\r\nContent-Length: 0'],
    ]) {
      const head = `${route.method} ${targetPath(route, '1')}?limit=x&on=y&%zz HTTP/1.1\r\nHost: localhost\r\n`
      const answer = await exchange(url, `${head}${name}: ${value}\r\n\r\n`)
      assert.deepEqual([answer.status, answer.body], [401, expected], `${route.path} ${name}`)
    }
  }
})

test('each route answers the right credential, and another method is 405 with Allow', async () => {
  for (const route of routes) {
    const headers = rightCredential(route)
    const target = targetPath(route, route.method === 'DELETE' ? '999999' : String(documents.acme))
    const answer = await send(url + target, { method: route.method, headers })
    assert.ok(![401, 403, 405].includes(answer.status), `${route.path} ${answer.status} ${answer.body}`)
    const here = routes.filter(({ path }) => path === route.path)
    const right = here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const allow = right.join(', ')
    for (const method of METHODS.filter((one) => !right.includes(one))) {
      const other = await send(url + target, { method, headers })
      assert.deepEqual([other.status, other.headers.allow], [405, allow], `${method} ${route.path}`)
      assert.deepEqual(unusualHeaders(other.headers), ['allow'])
    }
  }
})

test('an unknown path is the same 404 for every credential', async () => {
  const all = [{}, { 'x-api-key': keys.good }, bearer(tokens.good), bearer(tokens.acme), bearer('wrong')]
  for (const path of [
    ...routes.map((route) => `${targetPath(route, '1')}/x/y/z`),
    '/metrics',
    '/api/v2',
    '/page',
  ]) {
    const answers = await Promise.all(
      all.map(async (headers) => {
        const { status, body, headers: got } = await send(url + path, { headers })
        return JSON.stringify([status, body, unusualHeaders(got)])
      }),
    )
    assert.match(answers[0] ?? '', /^\[404,/, path)
    assert.deepEqual(new Set(answers).size, 1, path)
  }
})

test('each route answers a token of one company about another company as about a missing one', async (t) => {
  let requests = 0
  for (const route of routes.filter(({ family }) => family === 'documents' || family === 'agent')) {
    if (!namesCompany(route)) continue
    for (const method of route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]) {
      const requestWithToken = (of: Party, token: string) => request(route, method, of, token)
      await renewOtra({ isFinished: /\/(retry|result)$/.test(route.path) }) // each request may change or delete it
      const [foreign, missing] = [
        await requestWithToken(OTRA(), tokens.acme),
        await requestWithToken(NOBODY, tokens.acme),
      ]
      assert.deepEqual(foreign, missing, `${method} ${route.path}`)
      assert.equal(foreign.status, 404, `${method} ${route.path}`)
      assert.equal(
        (await requestWithToken(OTRA(), tokens.otra)).status,
        200,
        `${method} ${route.path} is requested wrongly`,
      )
      const conditions: Headers[] = [
        { range: 'bytes=0-1' },
        { 'if-none-match': '*' },
        { range: 'bytes=99999-' },
      ]
      for (const headers of conditions) {
        const one = await request(route, method, OTRA(), tokens.acme, headers)
        assert.deepEqual(one, missing, `${method} ${route.path} ${JSON.stringify(headers)}`)
      }
      requests += 6
    }
  }
  figure(t, 'requests', requests)
})

test('lists without a company show a token of one company its own documents alone', async () => {
  for (const route of routes.filter(({ family, method }) => family === 'documents' && method === 'GET')) {
    const target = targetPath(route, String(documents.acme))
    const queries = ['limit=200', 'agent_id=3', 'after=0'].filter((query) =>
      route.queries.includes(query.replace(/=.*/, '')),
    )
    for (const query of ['', ...queries.map((one) => `?${one}`)]) {
      const { status, body } = await send(url + target + query, { headers: bearer(tokens.acme) })
      assert.equal(status, 200, target)
      assert.doesNotMatch(body, /otra|"company_id":2/)
    }
  }
})

test('a document of another company takes as long to reject as a missing one', async (t) => {
  const times = { theirs: [] as number[], nobodys: [] as number[] }
  for (let at = 0; at < scaled({ short: 30, long: 3000 }); at++) {
    const order = at % 2 === 0 ? (['theirs', 'nobodys'] as const) : (['nobodys', 'theirs'] as const)
    for (const which of order) {
      const id = which === 'theirs' ? documents.otra : 999
      const started = performance.now()
      const answer = await fetch(`${url}/api/v1/documents/${id}`, { headers: bearer(tokens.acme) })
      await answer.text()
      if (at >= 50) times[which].push(performance.now() - started)
    }
  }
  const share = advantage(times.theirs, times.nobodys)
  figure(t, 'how often the longer of two answers identifies the document', share.toFixed(3))
  if (LONG) assert.ok(Math.abs(share - 0.5) < 0.05, String(share))
})

type Party = { id: number; values: Record<string, unknown> }

let claimOfOtra = ''
const WORK = { limit: 1, lease_seconds: 60, wait: 0, outcome: 'done', note: 'nota', result: 1 }
const FILE = new File(['otra vez'], 'otra.txt', { type: 'text/plain' })
// `agent_ids` is in place of `agent_id`: test/api/documents/claims-of-several.test.ts.
const UPLOAD_VALUES = { documents: [pdf('otra vez')], file: FILE, agent_ids: undefined, ...WORK }

const OTRA = (): Party => ({
  id: documents.otra,
  values: { company_id: 2, agent_id: 3, owner_id: 2, code: 'OTRA', ...UPLOAD_VALUES, claim_id: claimOfOtra },
})
const NOBODY: Party = {
  id: 999_999,
  values: { company_id: 99, agent_id: 99, owner_id: 99, code: 'NADIE', ...UPLOAD_VALUES, claim_id: 'none' },
}

/** Uploads another document of OTRA, claims it, and may finish it. */
async function renewOtra({ isFinished }: { isFinished: boolean }): Promise<void> {
  const post = async <T>(path: string, body: unknown) => {
    const init = { method: 'POST', headers: bearer(tokens.otra), body: JSON.stringify(body) }
    return (await (await fetch(url + path, init)).json()) as T
  }
  const ids = { company_id: 2, agent_id: 3, owner_id: 2 }
  const document = pdf('de otra', 'secreto-otra.pdf')
  await post(CREATE, { ...ids, documents: [document] })
  type ClaimReply = { documents: { id: number; claim_id: string }[] }
  const claimReply = await post<ClaimReply>('/api/v1/documents/claim', { agent_id: 3, limit: 50 })
  const last = claimReply.documents.at(-1)
  documents.otra = last?.id ?? 0
  claimOfOtra = last?.claim_id ?? ''
  const outcome = { claim_id: claimOfOtra, outcome: 'failed', result: 'secreto-otra' }
  if (isFinished) await post(`/api/v1/documents/${documents.otra}/finish`, outcome)
}

/**
 * The action that a token must allow for a method of a path. An unknown method requires that of the first one.
 */
function requiredAction({ path, family }: Route, method: string): string {
  if (/\/(claim|finish|extend|release)$/.test(path)) return `${family}:CLAIM`
  if (path.endsWith('/retry')) return `${family}:RETRY`
  const here = routes.filter((one) => one.path === path)
  const operation = here.find((one) => one.method === (method === 'HEAD' ? 'GET' : method)) ?? here[0]
  return `${family}:${operation?.method}`
}

/** Requests data of a company from a route, by each of its parameters: path, query or body. */
async function request(route: Route, method: string, company: Party, token: string, more: Headers = {}) {
  const valueNamed = (name: string) => {
    if (!(name in company.values))
      throw new Error(`${route.path} has the parameter ${name}, which this test does not know`)
    return company.values[name]
  }
  const isForm = route.path === '/api/v1/documents' && method === 'POST' // its query belongs to uploads without a form
  const inQuery = isForm ? [] : route.queries.filter((name) => name.endsWith('_id'))
  const ids = inQuery.map((name) => `${name}=${valueNamed(name)}`)
  const id = route.path.startsWith('/api/v1/companies/') ? company.values.company_id : company.id
  const target = `${targetPath(route, String(id))}${ids.length > 0 ? `?${ids.join('&')}` : ''}`
  const fields = route.fields.map((name) => [name, valueNamed(name)] as const)
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value instanceof Blob ? value : String(value))
  const body = isForm ? form : JSON.stringify(Object.fromEntries(fields))
  const answer = await fetch(url + target, {
    method,
    headers: { ...bearer(token), ...(more as Record<string, string>) },
    ...(method === 'POST' && { body }),
  })
  return {
    status: answer.status,
    body: await answer.text(),
    unusual: unusualHeaders(Object.fromEntries(answer.headers)),
    length: answer.headers.get('content-length'),
  }
}

/**
 * Requests each route by each method with all wrong credentials, and expects one rejection. Returns the number of
 * requests.
 */
async function expectRejections(
  families: readonly Route['family'][],
  wrong: readonly Headers[],
  expected: (route: Route, method: string) => [status: number, body: string],
  testedMethods: (route: Route) => readonly string[] = () => METHODS,
): Promise<number> {
  let count = 0
  for (const route of routes.filter(({ family }) => families.includes(family))) {
    for (const method of testedMethods(route)) {
      const targets = [targetPath(route, '1'), `${targetPath(route, 'x%zz')}?limit=x&on=`]
      const each = wrong.flatMap((headers) => targets.map((target) => ({ headers, target })))
      const expectRejection = async ({ headers, target }: (typeof each)[number]) => {
        const answer = await send(url + target, { method, headers })
        const [status, body] = expected(route, method)
        const details = `${method} ${target} ${JSON.stringify(headers)}`
        // Beside the text of the contract, a hint may name the kind of credential, but no part of it.
        const bodyWithoutHint =
          status === 401 ? answer.body.replace(/,"hint":"[^"]*\(cb[kt]_…\)[^"]*"\}$/, '}') : answer.body
        assert.deepEqual([answer.status, bodyWithoutHint], [status, method === 'HEAD' ? '' : body], details)
        assert.deepEqual(unusualHeaders(answer.headers), status === 401 ? ['www-authenticate'] : [], details)
        const scheme = route.family === 'rates' ? 'ApiKey' : 'Bearer'
        assert.equal(answer.headers['www-authenticate'], status === 401 ? scheme : undefined, details)
        count++
      }
      await Promise.all(each.map(expectRejection))
    }
  }
  return count
}

/** Names of headers that not every answer has. */
function unusualHeaders(headers: Record<string, unknown>): string[] {
  return Object.keys(headers).filter((name) => !PLAIN.includes(name))
}

function toRoute(path: string, method: string, operation: Operation): Route {
  const [scheme] = Object.keys(operation.security?.[0] ?? {})
  const documents = path.startsWith('/api/v1/agent/') ? 'agent' : 'documents'
  const families: Record<string, Family> = { apiKey: 'rates', bearer: documents, session: 'session' }
  const family = scheme === undefined ? 'open' : families[scheme]
  assert.ok(family, `${path} has credentials that are not known here`)
  const queries = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  const [body] = Object.values(operation.requestBody?.content ?? {})
  const fields = Object.keys((body && description.resolveSchema(body.schema).properties) ?? {})
  return { path, method: method.toUpperCase() as Route['method'], family, queries, fields }
}

/** True if a request can name data of another company. The one list that cannot is tested separately. */
function namesCompany({ path, queries, fields }: Route): boolean {
  return path.includes('{') || [...queries, ...fields].some((name) => name.endsWith('_id'))
}

function targetPath({ path, family }: Route, id: string): string {
  return path.replace(/\{\w+\}/, family === 'rates' && /^\d+$/.test(id) ? '1' : id)
}

function rightCredential({ family }: Route): Record<string, string> {
  if (family === 'open') return {}
  if (family === 'session') return session
  return family === 'rates' ? { 'x-api-key': keys.good } : bearer(tokens.good)
}

async function insertSecrets(dataDir: string): Promise<void> {
  const db = openDatabase(dataDir)
  const key = (name: string, secret: string) =>
    insertApiKey(db, { name, hash: hashOfSecret(secret), createdAt: AT })
  await key('good', keys.good)
  await revokeApiKey(db, await key('revoked', keys.revoked), AT)
  const token = (name: string, secret: string, facts: Partial<Parameters<typeof insertToken>[1]> = {}) =>
    insertToken(db, {
      name,
      hash: hashOfSecret(secret),
      allow: ALLOWED,
      companyId: null,
      expiresAt: null,
      createdAt: AT,
      ...facts,
    })
  await token('good', tokens.good)
  await revokeToken(db, await token('revoked', tokens.revoked), AT)
  await token('expired', tokens.expired, { expiresAt: '2020-01-01' })
  await token('acme', tokens.acme, { companyId: 1 })
  await token('otra', tokens.otra, { companyId: 2 })
  for (const one of narrow) await token(one.allow, one.token, { allow: [one.allow] })
  await db.destroy()
}
