// The moments at which a key or token begins and ends to be good, seen by a client that keeps its connection
// (decisions 1.6): nothing is remembered of an answer that was right before.

import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { after, before, type TestContext, test } from 'node:test'
import { rotateKey, rotateToken } from '../../../src/domain/rotation.ts'
import { hashOfSecret, makeSecret } from '../../../src/domain/secrets.ts'
import { findApiKey, insertApiKey, revokeApiKey } from '../../../src/store/api-keys.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import type { Db } from '../../../src/store/tables.ts'
import { findToken, insertToken, revokeToken } from '../../../src/store/tokens.ts'
import { openApp, withinASecond } from '../../api/support.ts'
import { AT, fillDirectory } from '../../support/directory.ts'

const HOUR = 3_600_000
const app = await openApp()
await fillDirectory(app)
let db: Db // as a command has it open
before(() => {
  db = openDatabase(app.dataDir)
})
after(() => db.destroy())

type Kind = 'key' | 'token'
type Made = { id: number; secret: string }
const KINDS = ['key', 'token'] as const

async function make(kind: Kind, name: string, expiresAt: string | null = null): Promise<Made> {
  const secret = makeSecret(kind === 'key' ? 'cbk_' : 'cbt_')
  const facts = { name, hash: hashOfSecret(secret), createdAt: AT }
  const allow = ['documents:GET']
  const id =
    kind === 'key'
      ? await insertApiKey(db, { ...facts, expiresAt: expiresAt ?? undefined })
      : await insertToken(db, { ...facts, allow, companyId: null, expiresAt })
  return { id, secret }
}

/** Gives it this secret instead, as the command does. */
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

/** A client with one connection; each answer but the first must come over it. */
function connect(t: Pick<TestContext, 'after'>, kind: Kind): (secret: string) => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  let asked = 0
  const path = kind === 'key' ? '/api/v1/providers' : '/api/v1/documents'
  return (secret) =>
    new Promise((resolve, reject) => {
      const headers = kind === 'key' ? { 'x-api-key': secret } : { authorization: `Bearer ${secret}` }
      const outgoing = request(app.app.url + path, { agent, headers }, (response) => {
        response.resume().on('end', () => {
          assert.equal(outgoing.reusedSocket, asked++ > 0)
          resolve(response.statusCode ?? 0)
        })
      })
      outgoing.on('error', reject).end()
    })
}

let made = 0
for (const kind of KINDS) {
  const secretOf = () => makeSecret(kind === 'key' ? 'cbk_' : 'cbt_')
  const nameOf = () => `${kind} number ${made++}`

  test(`a ${kind} expires on a connection that stays open`, async (t) => {
    const ask = connect(t, kind)
    const begin = app.clock.now
    t.after(() => {
      app.clock.now = begin
    })
    const { id, secret } = await make(kind, nameOf(), '2026-03-24')
    assert.equal(await ask(secret), 200)
    app.clock.now = new Date('2026-03-25T05:59:59.999Z')
    assert.equal(await ask(secret), 200)
    app.clock.now = new Date('2026-03-25T06:00:00.000Z')
    assert.equal(await ask(secret), 401)
    const next = secretOf()
    await rotate(kind, id, next, HOUR, '2026-03-25')
    assert.deepEqual([await ask(next), await ask(secret)], [200, 401])
  })

  test(`an overlap of a ${kind} ends on a connection that stays open`, async (t) => {
    const ask = connect(t, kind)
    const begin = app.clock.now
    t.after(() => {
      app.clock.now = begin
    })
    const [{ id, secret }, next] = [await make(kind, nameOf()), secretOf()]
    assert.equal(await ask(secret), 200)
    await rotate(kind, id, next, HOUR)
    assert.deepEqual([await ask(next), await ask(secret)], [200, 200])
    app.clock.now = new Date(begin.getTime() + HOUR - 1)
    assert.equal(await ask(secret), 200)
    app.clock.now = new Date(begin.getTime() + HOUR)
    assert.deepEqual([await ask(secret), await ask(next)], [401, 200])
  })

  test(`a ${kind}'s next secret is good at once, though it was refused a moment ago`, async (t) => {
    const ask = connect(t, kind)
    const { id } = await make(kind, nameOf())
    for (let times = 0; times < 5; times++) {
      const next = secretOf()
      assert.equal(await ask(next), 401)
      await rotate(kind, id, next, HOUR)
      assert.equal(await ask(next), 200)
    }
  })

  // Nothing unknown is asked here, which would make the server look: it must see by itself.
  test(`without overlap a ${kind}'s former secrets end within a second, all of them`, async (t) => {
    const ask = connect(t, kind)
    const [{ id, secret }, second, third] = [await make(kind, nameOf()), secretOf(), secretOf()]
    await rotate(kind, id, second, HOUR)
    assert.deepEqual([await ask(secret), await ask(second)], [200, 200])
    await rotate(kind, id, third, 0)
    await withinASecond(async () => (await ask(second)) === 401, 'the one before is refused')
    assert.deepEqual([await ask(secret), await ask(third)], [401, 200])
  })

  test(`a revoked ${kind} takes its former secrets with it, and leaves its namesakes`, async (t) => {
    const ask = connect(t, kind)
    const other = kind === 'key' ? 'token' : 'key'
    const askOther = connect(t, other)
    const name = nameOf()
    const [{ id, secret }, next, namesake] = [await make(kind, name), secretOf(), await make(other, name)]
    await rotate(kind, id, next, HOUR)
    assert.deepEqual([await ask(next), await ask(secret), await askOther(namesake.secret)], [200, 200, 200])
    await revoke(kind, id)
    await withinASecond(async () => (await ask(secret)) === 401, 'the former secret is refused')
    const again = await make(kind, name)
    assert.equal(await ask(again.secret), 200)
    assert.deepEqual([await ask(next), await ask(secret), await askOther(namesake.secret)], [401, 401, 200])
  })
}
