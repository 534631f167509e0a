// A key or token is valid as soon as its command has printed it. Wrong ones cannot load the database
// (decisions#key-first).

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { hashOfSecret, makeSecret } from '../../src/domain/access/secrets.ts'
import { openKeyring } from '../../src/http/access/auth.ts'
import { insertApiKey, revokeApiKey } from '../../src/store/access/api-keys.ts'
import { insertToken, revokeToken } from '../../src/store/access/tokens.ts'
import type { WriteDb } from '../../src/store/tables.ts'
import { AT, CREATE, fillDirectory } from '../support/directory.ts'
import { fixedClock, openTestDatabase, temporaryDatabase } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { openApp, send } from './support.ts'

const app = await openApp()
await fillDirectory(app)
let db: WriteDb // as a command has it open
before((t) => {
  db = openTestDatabase(app.dataDir)
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

test('each of many new keys is valid at once', async () => {
  for (let at = 0; at < 30; at += 1) {
    const key = await newKey()
    const { status, body } = await withKey(key)
    assert.equal(status, 200, body)
    assert.equal((await withKey(key)).status, 200)
  }
})

test('a new token is valid at once, for its permissions and until it expires', async () => {
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

test('a key that was rejected is accepted once it exists', async () => {
  const key = makeSecret('cbk_')
  assert.equal((await withKey(key)).status, 401)
  await insertApiKey(db, { name: key, hash: hashOfSecret(key), createdAt: AT })
  assert.equal((await withKey(key)).status, 200)
})

test('a revoked key or token is not found again', async () => {
  const key = makeSecret('cbk_')
  // Both are revoked in one transaction. A cache renewed between two would accept one for a quarter of a
  // second.
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

test('new keys are valid at once during a flood of wrong ones', async () => {
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

test('a request during a look-up is answered like any other: rejected before the rest, and with its body', async () => {
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

/** A keyring, with the number of its database queries. */
async function openCountedKeyring(db: WriteDb) {
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

test('wrong secrets cause at most 20 look-ups a second in all', async (t) => {
  const { keyring, counted } = await openCountedKeyring(temporaryDatabase(t))
  const ask = async (at: number) => {
    const secret = makeSecret('cbk_')
    await keyring.withLookUp(() =>
      at % 2 ? keyring.checkKey(secret) : keyring.checkToken(`Bearer ${secret}`),
    )
  }
  const began = performance.now()
  let requests = 0
  while (counted.queries < 20 * 3) {
    const lookups = Array.from({ length: 20 }, (_, at) => ask(at))
    requests += lookups.length
    for (const { status } of await Promise.allSettled(lookups)) assert.equal(status, 'rejected')
  }
  const seconds = (performance.now() - began) / 1000
  const lookUps = counted.queries / 3 // keys, tokens and former secrets
  assert.ok(lookUps >= 20 && lookUps <= 20 * seconds + 1, `${lookUps} in ${seconds} s`)
  assert.ok(requests > lookUps)
})

test('a known secret, and an absent one, cause no look-up', async (t) => {
  const own = temporaryDatabase(t)
  const [key, token] = [makeSecret('cbk_'), makeSecret('cbt_')]
  await insertApiKey(own, { name: 'a', hash: hashOfSecret(key), createdAt: AT })
  const facts = { name: 'b', allow: ['agent:POST'], companyId: null, createdAt: AT }
  await insertToken(own, { ...facts, hash: hashOfSecret(token), expiresAt: '2026-03-23' })
  const { keyring, counted } = await openCountedKeyring(own)
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

test('the later of two overlapping reads of the keys wins, whichever ends last', async (t) => {
  const db = temporaryDatabase(t)
  const key = makeSecret('cbk_')
  const late = Promise.withResolvers<void>()
  let results = 0
  const isDelayed = (at: number) => at === 6 // the last query of the first read after the one at opening
  const delayedDb = db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      results += 1
      if (isDelayed(results)) await late.promise
      return result
    },
  })
  const id = await insertApiKey(db, { name: 'a', hash: hashOfSecret(key), createdAt: AT })
  const keyring = await openKeyring({ db: delayedDb, reads: delayedDb }, fixedClock().read)
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

test('a failing database is an error of its own, not a wrong key', async (t) => {
  const own = temporaryDatabase(t)
  const keyring = await openKeyring({ db: own, reads: own }, fixedClock().read)
  await own.schema.alterTable('api_keys').renameTo('gone').execute()
  await assert.rejects(
    async () => keyring.withLookUp(() => keyring.checkKey('cbk_x')),
    /no such table|does not exist/,
  )
})
