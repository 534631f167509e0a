// A key or a token is good from the moment its command has printed it, and wrong ones cannot load the database
// (decisions 1.6).

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { hashOfSecret, makeSecret } from '../../src/domain/secrets.ts'
import { openKeyring } from '../../src/http/api/auth.ts'
import { insertApiKey, revokeApiKey } from '../../src/store/api-keys.ts'
import type { Db } from '../../src/store/tables.ts'
import { insertToken, revokeToken } from '../../src/store/tokens.ts'
import { AT, CREATE, fillDirectory } from '../support/directory.ts'
import { fixedClock, openDatabaseOf, temporaryDatabase } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { openApp, send } from './support.ts'

const app = await openApp()
await fillDirectory(app)
let db: Db // as a command has it open
before((t) => {
  db = openDatabaseOf(app.dataDir)
  if ('after' in t) t.after(() => db.destroy())
})

const PROVIDERS = '/api/v1/providers'
const DOCUMENTS = '/api/v1/documents'

async function newKey(): Promise<string> {
  const key = makeSecret('cbk_')
  await insertApiKey(db, { name: key, hash: hashOfSecret(key), createdAt: AT })
  return key
}

async function newToken(facts: Partial<Parameters<typeof insertToken>[1]> = {}): Promise<string> {
  const token = makeSecret('cbt_')
  const usual = { allow: ['documents:GET'], companyId: null, expiresAt: null, createdAt: AT }
  await insertToken(db, { name: token, hash: hashOfSecret(token), ...usual, ...facts })
  return token
}

const withKey = (key: string, path: string = PROVIDERS) =>
  send(app.app.url + path, { headers: { 'X-API-Key': key } })
const withToken = (token: string, path = DOCUMENTS, method = 'GET') =>
  send(app.app.url + path, { method, headers: { Authorization: `Bearer ${token}` } })

test('a key is good at once, each of many', async () => {
  for (let at = 0; at < 30; at += 1) {
    const key = await newKey()
    const { status, body } = await withKey(key)
    assert.equal(status, 200, body)
    assert.equal((await withKey(key)).status, 200)
  }
})

test('a token is good at once, for what it allows and until it expires', async () => {
  assert.equal((await withToken(await newToken())).status, 200)
  const narrow = await withToken(await newToken(), CREATE, 'POST')
  assert.deepEqual(
    [narrow.status, JSON.parse(narrow.body).message],
    [403, 'Token not allowed for this endpoint'],
  )
  assert.equal((await withToken(await newToken({ expiresAt: '2026-03-24' }))).status, 200)
  const expired = await withToken(await newToken({ expiresAt: '2026-03-23' }))
  assert.deepEqual([expired.status, JSON.parse(expired.body).message], [401, 'Invalid or expired token'])
  const bound = await newToken({ companyId: 2 })
  assert.equal((await withToken(bound, `${DOCUMENTS}?company_id=1`)).status, 404)
})

test('a key that was refused is let in once it is there', async () => {
  const key = makeSecret('cbk_')
  assert.equal((await withKey(key)).status, 401)
  await insertApiKey(db, { name: key, hash: hashOfSecret(key), createdAt: AT })
  assert.equal((await withKey(key)).status, 200)
})

test('what was revoked is not found again', async () => {
  const key = makeSecret('cbk_')
  // At once: memory that is renewed between the two has it for a quarter of a second more.
  await db.transaction().execute(async (trx) => {
    await revokeApiKey(
      trx,
      await insertApiKey(trx, { name: key, hash: hashOfSecret(key), createdAt: AT }),
      AT,
    )
  })
  assert.equal((await withKey(key)).status, 401)
  const token = makeSecret('cbt_')
  const facts = { name: token, allow: ['documents:GET'], companyId: null, expiresAt: null, createdAt: AT }
  await db.transaction().execute(async (trx) => {
    await revokeToken(trx, await insertToken(trx, { ...facts, hash: hashOfSecret(token) }), AT)
  })
  assert.equal((await withToken(token)).status, 401)
})

test('new keys are good at once beside a flood of wrong ones', async () => {
  let flooding = true
  let refused = 0
  const flood = Array.from({ length: 40 }, async () => {
    while (flooding) {
      const { status } = await withKey(makeSecret('cbk_'))
      assert.equal(status, 401)
      refused += 1
    }
  })
  for (let at = 0; at < 20; at += 1) {
    const { status, body } = await withKey(await newKey())
    assert.equal(status, 200, body)
  }
  flooding = false
  await Promise.all(flood)
  assert.ok(refused >= 40, String(refused))
})

test('the request that is looked up is answered as any other: refused before the rest, and with its body', async () => {
  const wrong = await withKey(makeSecret('cbk_'), '/api/v1/rates?on=never&x=1')
  assert.equal(wrong.status, 401)
  const right = await withKey(await newKey(), '/api/v1/rates?on=never')
  assert.equal(right.status, 422)
  const token = await newToken({ allow: ['agent:POST'] })
  const response = await fetch(`${app.app.url}/api/v1/agent/get_by_company`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ company_id: 1, code: 'ACME' }),
  })
  assert.equal(response.status, 200, await response.text())
})

/** A keyring, and how often it has asked the database. */
async function countedKeyring(db: Db) {
  const counted = { queries: 0 }
  const counting = db.withPlugin({
    transformQuery({ node }) {
      counted.queries += 1
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const keyring = await openKeyring({ db: counting, reads: counting }, fixedClock().read)
  counted.queries = 0
  return { keyring, counted }
}

test('wrong secrets are looked up at most 20 times a second, all together', async (t) => {
  const { keyring, counted } = await countedKeyring(temporaryDatabase(t))
  const ask = async (at: number) => {
    const secret = makeSecret('cbk_')
    await keyring.withLookUp(() =>
      at % 2 ? keyring.checkKey(secret) : keyring.checkToken(`Bearer ${secret}`),
    )
  }
  const began = performance.now()
  let asked = 0
  while (counted.queries < 20 * 3 && performance.now() - began < 60_000) {
    const some = Array.from({ length: 20 }, (_, at) => ask(at))
    asked += some.length
    for (const { status } of await Promise.allSettled(some)) assert.equal(status, 'rejected')
  }
  const seconds = (performance.now() - began) / 1000
  const lookUps = counted.queries / 3 // of keys, of tokens, of former secrets
  assert.ok(lookUps >= 20 && lookUps <= 20 * seconds + 1, `${lookUps} in ${seconds} s`)
  assert.ok(asked > lookUps)
})

test('nothing is looked up for a secret that is known, or for none', async (t) => {
  const own = temporaryDatabase(t)
  const [key, token] = [makeSecret('cbk_'), makeSecret('cbt_')]
  await insertApiKey(own, { name: 'a', hash: hashOfSecret(key), createdAt: AT })
  const facts = { name: 'b', allow: ['agent:POST'], companyId: null, createdAt: AT }
  await insertToken(own, { ...facts, hash: hashOfSecret(token), expiresAt: '2026-03-23' })
  const { keyring, counted } = await countedKeyring(own)
  assert.equal(
    keyring.withLookUp(() => keyring.checkKey(key).name),
    'a',
  )
  for (const none of [null, '', 'x'.repeat(10_000)]) {
    assert.throws(() => keyring.withLookUp(() => keyring.checkKey(none)), /Missing or invalid API key/)
  }
  for (const header of [null, 'Basic abc', 'Bearer', `Bearer ${token}`, `Bearer ${'x'.repeat(10_000)}`]) {
    const check = () => keyring.checkToken(header)
    assert.throws(() => keyring.withLookUp(check), /Authorization|token/)
  }
  assert.equal(counted.queries, 0)
})

test('of two looks at keys the one that began last counts, whichever ends last', async (t) => {
  const db = temporaryDatabase(t)
  const key = makeSecret('cbk_')
  const late = Promise.withResolvers<void>()
  let results = 0
  const isHeld = (at: number) => at === 6 // the last query of the first look after that of the opening
  const held = db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      results += 1
      if (isHeld(results)) await late.promise
      return result
    },
  })
  const id = await insertApiKey(db, { name: 'a', hash: hashOfSecret(key), createdAt: AT })
  const keyring = await openKeyring({ db: held, reads: held }, fixedClock().read)
  assert.equal(results, 3)
  const first = keyring.refresh()
  await until(() => results === 6)
  await revokeApiKey(db, id, AT)
  await keyring.refresh()
  assert.throws(() => keyring.checkKey(key))
  late.resolve()
  await first
  assert.throws(() => keyring.checkKey(key))
})

test('a database that does not answer is no reason to call a key wrong', async (t) => {
  const own = temporaryDatabase(t)
  const keyring = await openKeyring({ db: own, reads: own }, fixedClock().read)
  await own.schema.alterTable('api_keys').renameTo('gone').execute()
  await assert.rejects(
    async () => keyring.withLookUp(() => keyring.checkKey('cbk_x')),
    /no such table|does not exist/,
  )
})
