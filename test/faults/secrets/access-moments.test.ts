// The moments at which a key or token becomes valid and expires, for a client with one connection
// (decisions#key-first). Earlier acceptance must not be cached too long.

import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { after, before, type TestContext, test } from 'node:test'
import { rotateKey, rotateToken } from '../../../src/domain/access/rotation.ts'
import { hashOfSecret, makeSecret } from '../../../src/domain/access/secrets.ts'
import { findApiKey, insertApiKey, revokeApiKey } from '../../../src/store/access/api-keys.ts'
import { findToken, insertToken, revokeToken } from '../../../src/store/access/tokens.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { openApp } from '../../api/support.ts'
import { AT, fillDirectory } from '../../support/directory.ts'
import { until } from '../../support/terminal.ts'

const HOUR = 3_600_000
const app = await openApp()
await fillDirectory(app)
let db: WriteDb // opened as a command opens it
before(() => {
  db = openDatabase(app.dataDir)
})
after(() => db.destroy())

type Kind = 'key' | 'token'
type CreatedSecret = { id: number; secret: string }
const KINDS = ['key', 'token'] as const

async function createCredential(
  kind: Kind,
  name: string,
  expiresAt: string | null = null,
): Promise<CreatedSecret> {
  const secret = makeSecret(kind === 'key' ? 'cbk_' : 'cbt_')
  const facts = { name, hash: hashOfSecret(secret), createdAt: AT }
  const allow = ['documents:GET']
  const id =
    kind === 'key'
      ? await insertApiKey(db, { ...facts, expiresAt: expiresAt ?? undefined })
      : await insertToken(db, { ...facts, allow, companyId: null, expiresAt })
  return { id, secret }
}

/** Replaces its secret, as the command does. */
async function rotate(kind: Kind, id: number, next: string, overlapMs: number, expiresAt?: string) {
  const rotation = { hash: hashOfSecret(next), overlapMs, expiresAt, now: app.clock.read() }
  const [key, token] = [await findApiKey(db, id), await findToken(db, id)]
  await db.transaction().execute(async (trx) => {
    if (kind === 'key' && key) await rotateKey(trx, key, rotation)
    if (kind === 'token' && token) await rotateToken(trx, token, rotation)
  })
}

function revoke(kind: Kind, id: number): Promise<unknown> {
  const at = app.clock.read().toISOString()
  return kind === 'key' ? revokeApiKey(db, id, at) : revokeToken(db, id, at)
}

/** A client with one connection; each answer after the first must reuse it. */
function connect(t: Pick<TestContext, 'after'>, kind: Kind): (secret: string) => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  let requests = 0
  const path = kind === 'key' ? '/api/v1/providers' : '/api/v1/documents'
  return (secret) =>
    new Promise((resolve, reject) => {
      const headers = kind === 'key' ? { 'x-api-key': secret } : { authorization: `Bearer ${secret}` }
      const outgoing = request(app.app.url + path, { agent, headers }, (response) => {
        response.resume().on('end', () => {
          assert.equal(outgoing.reusedSocket, requests++ > 0)
          resolve(response.statusCode ?? 0)
        })
      })
      outgoing.on('error', reject).end()
    })
}

let count = 0
for (const kind of KINDS) {
  const newSecret = () => makeSecret(kind === 'key' ? 'cbk_' : 'cbt_')
  const newName = () => `${kind} number ${count++}`

  test(`a ${kind} expires on a connection that stays open`, async (t) => {
    const requestStatus = connect(t, kind)
    const begin = app.clock.now
    t.after(() => {
      app.clock.now = begin
    })
    const { id, secret } = await createCredential(kind, newName(), '2026-03-24')
    assert.equal(await requestStatus(secret), 200)
    app.clock.now = new Date('2026-03-25T05:59:59.999Z')
    assert.equal(await requestStatus(secret), 200)
    app.clock.now = new Date('2026-03-25T06:00:00.000Z')
    assert.equal(await requestStatus(secret), 401)
    const next = newSecret()
    await rotate(kind, id, next, HOUR, '2026-03-25')
    assert.deepEqual([await requestStatus(next), await requestStatus(secret)], [200, 401])
  })

  test(`an overlap of a ${kind} ends on a connection that stays open`, async (t) => {
    const requestStatus = connect(t, kind)
    const begin = app.clock.now
    t.after(() => {
      app.clock.now = begin
    })
    const [{ id, secret }, next] = [await createCredential(kind, newName()), newSecret()]
    assert.equal(await requestStatus(secret), 200)
    await rotate(kind, id, next, HOUR)
    assert.deepEqual([await requestStatus(next), await requestStatus(secret)], [200, 200])
    app.clock.now = new Date(begin.getTime() + HOUR - 1)
    assert.equal(await requestStatus(secret), 200)
    app.clock.now = new Date(begin.getTime() + HOUR)
    assert.deepEqual([await requestStatus(secret), await requestStatus(next)], [401, 200])
  })

  test(`a ${kind}'s next secret is accepted at once, even after a rejection`, async (t) => {
    const requestStatus = connect(t, kind)
    const { id } = await createCredential(kind, newName())
    for (let times = 0; times < 5; times++) {
      const next = newSecret()
      assert.equal(await requestStatus(next), 401)
      await rotate(kind, id, next, HOUR)
      assert.equal(await requestStatus(next), 200)
    }
  })

  // No unknown secret is sent here, since it would make the server reload: the server must notice by itself.
  test(`without overlap a ${kind}'s former secrets end within a second, all of them`, async (t) => {
    const requestStatus = connect(t, kind)
    const [{ id, secret }, second, third] = [
      await createCredential(kind, newName()),
      newSecret(),
      newSecret(),
    ]
    await rotate(kind, id, second, HOUR)
    assert.deepEqual([await requestStatus(secret), await requestStatus(second)], [200, 200])
    await rotate(kind, id, third, 0)
    await until(async () => (await requestStatus(second)) === 401)
    assert.deepEqual([await requestStatus(secret), await requestStatus(third)], [401, 200])
  })

  test(`revoking a ${kind} ends its former secrets, and not its namesakes`, async (t) => {
    const requestStatus = connect(t, kind)
    const other = kind === 'key' ? 'token' : 'key'
    const requestOtherStatus = connect(t, other)
    const name = newName()
    const [{ id, secret }, next, namesake] = [
      await createCredential(kind, name),
      newSecret(),
      await createCredential(other, name),
    ]
    await rotate(kind, id, next, HOUR)
    assert.deepEqual(
      [await requestStatus(next), await requestStatus(secret), await requestOtherStatus(namesake.secret)],
      [200, 200, 200],
    )
    await revoke(kind, id)
    await until(async () => (await requestStatus(secret)) === 401)
    const again = await createCredential(kind, name)
    assert.equal(await requestStatus(again.secret), 200)
    assert.deepEqual(
      [await requestStatus(next), await requestStatus(secret), await requestOtherStatus(namesake.secret)],
      [401, 401, 200],
    )
  })
}
