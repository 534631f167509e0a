// Soak of one box. Clients of all faces work at once against models. For a while the disk is slow, and the bank away.
// CAMBISTA_SOAK_SECONDS sets the duration.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createRandom } from '../support/rates/random-bank.ts'
import { readMemoryHigh } from '../support/soak/box/box.ts'
import { sampleMemory } from '../support/soak/box/memory.ts'
import { measureHealth, type PauseTimes } from '../support/soak/box/pauses.ts'
import { openSurroundings } from '../support/soak/box/surroundings.ts'
import { checkAll } from '../support/soak/check.ts'
import { soakDay, startClients } from '../support/soak/clients.ts'
import { createBookkeeping } from '../support/soak/rates.ts'
import { createSoak, fault } from '../support/soak/world.ts'
import { until } from '../support/terminal.ts'
import { figure, LONG, SEED, scaled } from './scale.ts'

const SECONDS = Number(process.env.CAMBISTA_SOAK_SECONDS ?? scaled({ short: 12, long: 7200 }))
const COUNTS = { uploaders: 3, workers: 3, ratesReaders: 2 }
const PACE = SECONDS < 60 ? 3 : 10
const DRAINED_WITHIN_MS = 300_000
const LONGEST_PAUSE_MS = 100
const MOST_GROWTH = 5 // percent in the last hour
const FLAT_AFTER_SECONDS = 3600

test(`the box loses nothing and gives no wrong answer in ${SECONDS} s of all faces`, async (t) => {
  figure(t, 'seed', SEED)
  let url = ''
  const soak = createSoak(createRandom(SEED), () => [url])
  soak.pace = PACE
  soak.isHealthy = true
  const books = createBookkeeping(soakDay())
  const ground = await openSurroundings(t, books)
  const { box, db, key } = ground
  const server = await box.serve(...ground.flags)
  url = server.url

  const memory = sampleMemory(server.pid)
  const health = measureHealth(t, url)
  const clients = startClients(soak, {
    books,
    key,
    sync: (...words) => box.program('sync', ...words),
    counts: COUNTS,
  })
  const { sending, reading, working } = clients
  const report = (error: unknown) => {
    soak.isOver = true
    clients.drain()
    fault(soak, error instanceof Error ? `${error.stack}` : String(error))
  }
  for (const client of [...sending, ...reading, ...working]) client.catch(report)
  await wait(SECONDS * 1000)
  const pauses = await health.next()
  soak.isOver = true
  await Promise.allSettled(sending)

  soak.isSettled = true
  await Promise.allSettled(reading)
  const isOpen = () =>
    db
      .selectFrom('documents')
      .select('id')
      .where('agent_id', '=', 1)
      .where('state', 'in', ['new', 'claimed'])
      .limit(1)
      .execute()
  await until(async () => clients.isDrained() || (await isOpen()).length === 0, DRAINED_WITHIN_MS)
  clients.drain()
  await Promise.allSettled(working)
  const { growth, ...sizes } = memory.stop()
  await checkAll(soak, db, clients)
  assert.equal(server.hasEnded(), false)
  await server.stop()

  for (const [what, times] of [...soak.counts].sort()) figure(t, what, times)
  for (const [name, size] of Object.entries(sizes)) figure(t, `memory, ${name}, MB`, size.toFixed(1))
  figure(t, 'memory, growth in the last half, %', growth.toFixed(1))
  showPauses('pauses of /healthz, ms', pauses)
  assert.deepEqual(soak.faults, [])
  assert.ok(sizes.peak * 1e6 < readMemoryHigh(), `${sizes.peak} MB`)
  if (!LONG) return
  assert.ok(pauses.excess <= LONGEST_PAUSE_MS, `${pauses.excess} ms`)
  if (SECONDS >= FLAT_AFTER_SECONDS) assert.ok(Math.abs(growth) <= MOST_GROWTH, `${growth} %`)

  function showPauses(name: string, { probes, slow, failed, ...times }: PauseTimes): void {
    const parts = Object.entries(times).map(([part, ms]) => `${part} ${ms.toFixed(0)}`)
    figure(t, name, `${parts.join(', ')}; ${slow} of ${probes} over 100, ${failed} failed`)
  }
})
