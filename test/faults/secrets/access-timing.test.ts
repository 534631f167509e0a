// Whether the time that a refusal takes tells how much of a key was right. In this process, without a network to
// hide it, and against a control: two lots of keys of which nothing is right.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashOfSecret, makeSecret } from '../../../src/domain/secrets.ts'
import { openKeyring } from '../../../src/http/api/auth.ts'
import { insertApiKey } from '../../../src/store/api-keys.ts'
import { insertToken } from '../../../src/store/tokens.ts'
import { fixedClock, temporaryDatabase } from '../../support/temporary.ts'
import { figure, LONG, scaled } from '../scale.ts'
import { advantageOf } from './statistics.ts'

const CHECKS = 20 // one takes less than the clock can tell
const CREATED = '2026-03-01T00:00:00.000Z'

test('a refusal takes as long for a key that begins rightly as for any other', async (t) => {
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
  what: string,
  prefix: 'cbk_' | 'cbt_',
  right: string,
  check: (secret: string) => void,
): void {
  const nothing = () => makeSecret(prefix)
  const almost = () => right.slice(0, -6) + makeSecret(prefix).slice(-6)
  const lots = [nothing, nothing, almost].map((make) => ({ make, times: [] as number[] }))
  const rounds = scaled({ short: 500, long: 20_000 })
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < lots.length; at++) {
      const lot = lots[(at + round) % lots.length]
      if (!lot) continue
      const secrets = Array.from({ length: CHECKS }, lot.make)
      const started = process.hrtime.bigint()
      for (const secret of secrets) refused(check, secret)
      const took = Number(process.hrtime.bigint() - started)
      if (round >= rounds / 10) lot.times.push(took) // not while the engine still compiles
    }
  }
  const [one, other, begun] = lots.map(({ times }) => times) as [number[], number[], number[]]
  const control = advantageOf(one, other)
  const told = advantageOf(one, begun)
  figure(
    t,
    `${what}: how often the longer refusal tells which it was, and the control`,
    `${told.toFixed(3)}, ${control.toFixed(3)}`,
  )
  if (LONG) assert.ok(Math.abs(told - 0.5) < 0.03 + Math.abs(control - 0.5), `${told}, control ${control}`)
}

function refused(check: (secret: string) => void, secret: string): void {
  try {
    check(secret)
  } catch {
    return
  }
  assert.fail('it was let in')
}
