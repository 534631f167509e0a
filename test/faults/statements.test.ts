// Statements beside a sync that corrects values, while the clock moves rarely. Each must match later, and name the
// correction where the result is another one (decisions#statements). CAMBISTA_SEED=17 node --test repeats a run as far
// as timing allows it.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { addDays } from '../../src/values/dates.ts'
import { type MemoryApp, startMemoryApp } from '../support/rates/memory-app.ts'
import { EUR, JPY } from '../support/rates/memory-bank.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { figure, scaled } from './scale.ts'

const STATEMENTS = scaled({ short: 60, long: 1000 })
const ROUNDS = scaled({ short: 6, long: 60 }) // syncs beside them
const FIRST_DAY = '2026-03-01'
const LAST_DAY = '2026-03-24'

type Statement = {
  statement: string
  sha256: string
  as_of: string
  matches?: boolean
  now?: { result: unknown; corrections: { was: unknown; is: unknown; at: string }[] }
}

test(`${STATEMENTS} statements beside a sync that writes all match after it`, async (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const app = await startMemoryApp(t, { now: `${LAST_DAY}T18:00:00Z`, backfillFrom: FIRST_DAY })
  let round = 0
  const value = (middle: number) => (day: string) =>
    day <= LAST_DAY && (Number(day.slice(-2)) + round) % 3 > 0
      ? (middle + round / 1000).toFixed(5)
      : undefined
  for (const [code, middle] of [
    ['317', 487],
    ['318', 492],
    [EUR, 1.2],
    [JPY, 119],
  ] as const) {
    app.memory.publish[code] = value(middle)
  }
  await app.sync()
  const statements: { query: string; answer: Statement }[] = []
  let isDone = false
  const write = async () => {
    for (; !isDone; round += 1) {
      if (random.chance(0.2)) app.clock.now = new Date(app.clock.now.getTime() + random.int(0, 2))
      await app.sync({ from: FIRST_DAY, to: LAST_DAY })
    }
  }
  const read = async () => {
    while (statements.length < STATEMENTS || round < ROUNDS) {
      await delay(random.int(0, 40))
      const [from, to] = random.item([
        ['EUR', 'CRC'],
        ['CRC', 'JPY'],
        ['USD', 'CRC'],
        ['EUR', 'USD'],
      ] as const)
      const on = addDays(FIRST_DAY, random.int(3, 24))
      const amount = `${random.int(1, 99_999)}.${random.int(1, 99)}`
      const query = `amount=${amount}&from=${from}&to=${to}&type=${random.item(['compra', 'venta', 'both'])}&on=${on}`
      statements.push({ query, answer: await fetchStatement(app, query) })
    }
  }
  const writing = write()
  await Promise.all([read(), read(), read()])
  isDone = true
  await writing
  const counts = {
    instants: new Set(statements.map(({ answer }) => answer.as_of)).size,
    changed: 0,
    rounds: round,
  }
  for (const { query, answer } of statements) {
    const path = `${query}&as_of=${answer.as_of}&sha256=${answer.sha256}`
    const again = await fetchStatement(app, path)
    assert.equal(again.statement, answer.statement, path)
    assert.equal(again.matches, true, path)
    assert.equal(createHash('sha256').update(answer.statement).digest('hex'), answer.sha256)
    const present = await fetchStatement(app, query)
    const results = (text: string) => text.match(/^result=.*$/gm)
    const isChanged = String(results(present.statement)) !== String(results(answer.statement))
    assert.equal(again.now !== undefined, isChanged, path)
    if (!again.now) continue
    counts.changed += 1
    assert.ok(again.now.corrections.length > 0, path)
    for (const { was, is, at } of again.now.corrections) {
      assert.notEqual(was, is, path)
      assert.ok(at > answer.as_of, `${path}: ${at}`)
    }
  }
  for (const [name, count] of Object.entries(counts)) {
    figure(t, name, count)
    assert.ok(count > 2, `${count} ${name}`)
  }
})

/** A request is 503 while one commit follows another. */
async function fetchStatement(app: MemoryApp, query: string): Promise<Statement> {
  for (;;) {
    const response = await app.get(`/api/v1/convert/statement?${query}`)
    const body = await response.text()
    if (response.status === 200) return JSON.parse(body)
    assert.equal(response.status, 503, `${query}: ${body}`)
    await delay(20)
  }
}
