// Use of keys: requests of 30 days, and the eight newest networks.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createKeyUse } from '../../../src/http/access/key-use.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import { addKeyUse, type KeyUse, selectKeyUse } from '../../../src/store/access/key-use.ts'
import { atomically } from '../../../src/store/engine.ts'
import { addDays } from '../../../src/values/dates.ts'
import { AT } from '../../support/directory.ts'
import { acceptRows, fixedClock, refuseRows, temporaryDatabase } from '../../support/temporary.ts'

const DAY = '2026-03-24'
const NETWORK = '192.0.2.0/24'

async function openKeys(t: TestContext, count = 1) {
  const db = temporaryDatabase(t)
  for (let id = 1; id <= count; id += 1)
    await insertApiKey(db, { name: `k${id}`, hash: `${id}`, createdAt: AT })
  const add = (uses: KeyUse[], at = `${DAY}T12:00:00.000Z`) =>
    atomically(db, (trx) => addKeyUse(trx, uses, { at, day: at.slice(0, 10) }))
  return { db, add }
}

test('requests are summed over 30 days, and older days are deleted', async (t) => {
  const { db, add } = await openKeys(t, 2)
  const use = (requests: number) => [{ keyId: 1, requests, networks: [] }]
  for (let age = 40; age >= 0; age -= 1) await add(use(age + 1), `${addDays(DAY, -age)}T12:00:00.000Z`)
  await add(use(1000))
  const sum = 1000 + (30 * 31) / 2
  assert.deepEqual(await selectKeyUse(db, DAY), new Map([[1, { requests: sum, networks: [] }]]))
  assert.deepEqual((await selectKeyUse(db, addDays(DAY, 10))).get(1)?.requests, 1000 + (20 * 21) / 2)
  assert.equal((await db.selectFrom('key_use').select('day').execute()).length, 30)
})

test('a key has its eight newest networks, newest first', async (t) => {
  const { db, add } = await openKeys(t)
  for (let at = 10; at < 22; at += 1) {
    const networks = at === 15 ? ['net 10', 'net 15'] : [`net ${at}`]
    await add([{ keyId: 1, requests: 1, networks }], `${DAY}T${at}:00:00.000Z`)
  }
  const networks = (await selectKeyUse(db, DAY)).get(1)?.networks ?? []
  const expected = [21, 20, 19, 18, 17, 16].map((at) => `net ${at}`)
  assert.deepEqual(networks.map(({ network }) => network).slice(0, 6), expected)
  assert.deepEqual(new Set(networks.map(({ network }) => network).slice(6)), new Set(['net 10', 'net 15']))
  assert.deepEqual(networks.at(-1)?.last_used_at, `${DAY}T15:00:00.000Z`)
})

test('servers that store the same keys at once lose no request', async (t) => {
  const { db, add } = await openKeys(t, 5)
  const uses = (server: number) =>
    [1, 2, 3, 4, 5].map((keyId) => ({ keyId, requests: keyId, networks: [`net ${server}`, 'shared'] }))
  await Promise.all(Array.from({ length: 20 }, (_, server) => add(uses(server))))
  const sums = [...(await selectKeyUse(db, DAY))].map(([id, { requests, networks }]) => [
    id,
    requests,
    networks.length,
  ])
  assert.deepEqual(
    sums.sort(([one = 0], [other = 0]) => one - other),
    [1, 2, 3, 4, 5].map((id) => [id, 20 * id, 8]),
  )
})

test('requests that could not be stored are counted in the next minute', async (t) => {
  const { db } = await openKeys(t)
  const counter = createKeyUse(db, fixedClock().read)
  counter.count(1, NETWORK)
  await refuseRows(db, 'key_use')
  await assert.rejects(counter.store())
  counter.count(1, '2001:db8::/48')
  await acceptRows(db, 'key_use')
  await counter.store()
  await counter.store()
  const last_used_at = fixedClock().now.toISOString()
  const networks = [NETWORK, '2001:db8::/48'].map((network) => ({ network, last_used_at }))
  assert.deepEqual(await selectKeyUse(db, DAY), new Map([[1, { requests: 2, networks }]]))
})

test('a key that a restored database lacks does not stop the others', async (t) => {
  const { db } = await openKeys(t)
  const counter = createKeyUse(db, fixedClock().read)
  counter.count(9, NETWORK)
  counter.count(1, NETWORK)
  await counter.store()
  assert.deepEqual([...(await selectKeyUse(db, DAY)).keys()], [1])
})

test('a minute of many networks has the newest eight', async (t) => {
  const { db } = await openKeys(t)
  const counter = createKeyUse(db, fixedClock().read)
  counter.count(1, 'net 2995')
  for (let at = 0; at < 3000; at += 1) counter.count(1, `net ${at}`)
  counter.count(1, 'net 2990')
  await counter.store()
  const use = (await selectKeyUse(db, DAY)).get(1)
  assert.equal(use?.requests, 3002)
  assert.deepEqual(
    use?.networks.map(({ network }) => network),
    [2990, 2993, 2994, 2995, 2996, 2997, 2998, 2999].map((at) => `net ${at}`),
  )
})
