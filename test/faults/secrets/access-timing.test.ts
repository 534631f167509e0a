// The time of a rejection must not depend on how much of a key was right. Measured in this process, without a network
// to hide it. The control is two groups of keys that are wrong throughout.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashOfSecret, makeSecret } from '../../../src/domain/access/secrets.ts'
import { openKeyring } from '../../../src/http/access/auth.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import { insertToken } from '../../../src/store/access/tokens.ts'
import { fixedClock, temporaryDatabase } from '../../support/temporary.ts'
import { figure, LONG, scaled } from '../scale.ts'
import { advantage } from './statistics.ts'

const CHECKS = 20 // a single check is shorter than the resolution of the clock
const CREATED = '2026-03-01T00:00:00.000Z'

test('a rejection takes equally long for an almost right key and any other', async (t) => {
  const key = makeSecret('cbk_')
  const token = makeSecret('cbt_')
  const db = temporaryDatabase(t)
  await insertApiKey(db, { name: 'one', hash: hashOfSecret(key), createdAt: CREATED })
  const facts = { name: 'one', allow: ['agent:POST'], companyId: null, expiresAt: null, createdAt: CREATED }
  await insertToken(db, { ...facts, hash: hashOfSecret(token) })
  const keyring = await openKeyring({ db, reads: db }, fixedClock().read)
  keyring.checkKey(key)
  const checkToken = (secret: string) => keyring.checkToken(`Bearer ${secret}`)
  assert.equal(checkToken(token).id, 1)
  compare(t, 'key', 'cbk_', key, (secret) => keyring.checkKey(secret))
  compare(t, 'token', 'cbt_', token, checkToken)
})

function compare(
  t: TestContext,
  credential: string,
  prefix: 'cbk_' | 'cbt_',
  right: string,
  check: (secret: string) => void,
): void {
  const wrongSecret = () => makeSecret(prefix)
  const almostRightSecret = () => right.slice(0, -6) + makeSecret(prefix).slice(-6)
  const groups = [wrongSecret, wrongSecret, almostRightSecret].map((make) => ({
    make,
    times: [] as number[],
  }))
  const rounds = scaled({ short: 500, long: 20_000 })
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < groups.length; at++) {
      const group = groups[(at + round) % groups.length]
      if (!group) continue
      const secrets = Array.from({ length: CHECKS }, group.make)
      const started = process.hrtime.bigint()
      for (const secret of secrets) reject(check, secret)
      const elapsed = Number(process.hrtime.bigint() - started)
      if (round >= rounds / 10) group.times.push(elapsed) // not during compilation by the engine
    }
  }
  const [one, other, almostRight] = groups.map(({ times }) => times) as [number[], number[], number[]]
  const control = advantage(one, other)
  const share = advantage(one, almostRight)
  figure(
    t,
    `${credential}: how often the longer rejection identifies the key, and the control`,
    `${share.toFixed(3)}, ${control.toFixed(3)}`,
  )
  if (LONG) assert.ok(Math.abs(share - 0.5) < 0.03 + Math.abs(control - 0.5), `${share}, control ${control}`)
}

function reject(check: (secret: string) => void, secret: string): void {
  try {
    check(secret)
  } catch {
    return
  }
  assert.fail('the secret was accepted')
}
