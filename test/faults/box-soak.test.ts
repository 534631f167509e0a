// Soak of one box. Clients of all faces work at once against models. For a while the disk is slow, and the bank away.
// CAMBISTA_SOAK_SECONDS sets the duration.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { updateMailbox } from '../../src/store/mail/mailboxes.ts'
import { createRandom } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'
import { checkRestore } from '../support/soak/box/backups.ts'
import { readMemoryHigh } from '../support/soak/box/box.ts'
import { loseBank, slowDisk } from '../support/soak/box/disturbances.ts'
import { checkCounts, type Faces, startFaces, untilEachWorks } from '../support/soak/box/faces.ts'
import { checkLog } from '../support/soak/box/log.ts'
import { limitMemory, sampleMemory } from '../support/soak/box/memory.ts'
import { measureHealth, mergePauses, type PauseTimes } from '../support/soak/box/pauses.ts'
import { openSurroundings, type Surroundings } from '../support/soak/box/surroundings.ts'
import { checkAll } from '../support/soak/check.ts'
import { soakDay } from '../support/soak/clients.ts'
import { type Bookkeeping, createBookkeeping } from '../support/soak/rates.ts'
import { createSoak, fault, type Soak } from '../support/soak/world.ts'
import { until } from '../support/terminal.ts'
import { figure, LONG, scaled } from './scale.ts'

const SECONDS = Number(process.env.CAMBISTA_SOAK_SECONDS ?? scaled({ short: 10, long: 7200 }))
const TENTH_MS = SECONDS * 100
const START_MS = Math.min(60_000, TENTH_MS)
const BACKUP_EVERY_MS = Math.min(600_000, TENTH_MS)
const PACE = SECONDS < 60 ? 3 : 10
const DRAINED_WITHIN_MS = 300_000
const LONGEST_PAUSE_MS = 100
const MOST_GROWTH = 5 // percent in the last hour
const TIMED_FROM_SECONDS = 3600 // a shorter run has figures only

test(`the box loses nothing and gives no wrong answer in ${SECONDS} s of all faces`, async (t) => {
  figure(t, 'seed', SEED)
  let url = ''
  const soak = createSoak(createRandom(SEED), () => [url])
  Object.assign(soak, { pace: PACE, isHealthy: true })
  const books = createBookkeeping(soakDay())
  const ground = await openSurroundings(t, books)
  const { box, db } = ground
  const server = await box.serve(...ground.flags)
  url = server.url

  const readLimitHits = LONG ? limitMemory(t, server.pid, readMemoryHigh()) : undefined
  const memory = sampleMemory(server.pid)
  const health = measureHealth(t, server, box.home)
  const faces = startFaces(t, soak, ground, { books, backupEveryMs: BACKUP_EVERY_MS })
  for (const client of [...faces.sending, ...faces.reading, ...faces.working])
    client.catch((error: unknown) => {
      fault(soak, error instanceof Error ? `${error.stack}` : String(error))
      soak.isOver = true
      faces.drain()
    })
  await wait(START_MS)
  const start = await health.next()
  await wait(4 * TENTH_MS - START_MS)
  const before = await health.next()
  await slowDisk(soak, server.pid, TENTH_MS)
  const slow = await health.next()
  await wait(TENTH_MS)
  const away = { from: Date.now(), to: 0 }
  await loseBank(soak, ground, TENTH_MS)
  away.to = Date.now()
  await wait(3 * TENTH_MS)
  await untilEachWorks(soak)
  const pauses = mergePauses(before, await health.next())
  health.stop()
  const { growth, ...sizes } = memory.stop()
  figure(t, 'how often the limit of memory was reached', readLimitHits?.() ?? 'no limit on this machine')
  soak.isOver = true
  await Promise.allSettled(faces.sending)
  await settle(soak, ground, { faces, books })

  await checkAll(soak, db, faces)
  await faces.check()
  await checkRestore(soak, box, db)
  assert.equal(server.hasEnded(), false)
  await server.stop()
  checkLog(soak, server.issues, away)
  checkCounts(soak)

  for (const [what, times] of [...soak.counts].sort()) figure(t, what, times)
  for (const [name, size] of Object.entries(sizes)) figure(t, `memory, ${name}, MB`, size.toFixed(1))
  figure(t, 'memory, growth in the last half, %', growth.toFixed(1))
  showPauses(t, 'pauses of /healthz at the start, ms', start)
  showPauses(t, 'pauses of /healthz, ms', pauses)
  showPauses(t, 'pauses of /healthz on the slow disk, ms', slow)
  assert.deepEqual(soak.faults, [])
  assert.ok(sizes.peak * 1e6 < readMemoryHigh(), `${sizes.peak} MB`)
  if (!LONG || SECONDS < TIMED_FROM_SECONDS) return
  assert.ok(pauses.excess <= LONGEST_PAUSE_MS, `${pauses.excess} ms`)
  assert.ok(Math.abs(growth) <= MOST_GROWTH, `${growth} %`)
})

type Work = { faces: Faces; books: Bookkeeping }

/** Waits until all that was begun is done: documents, mails, messages of hooks, and the values of the bank. */
async function settle(soak: Soak, { box, db, dovecot }: Surroundings, { faces, books }: Work): Promise<void> {
  await updateMailbox(db, 1, { next_round_at: null })
  await until(() => dovecot.count('INBOX') === 0, DRAINED_WITHIN_MS)
  soak.isSettled = true
  await Promise.allSettled(faces.reading)
  const isOpen = () =>
    db
      .selectFrom('documents')
      .select('id')
      .where('agent_id', '=', 1)
      .where('state', 'in', ['new', 'claimed'])
      .limit(1)
      .execute()
  await until(async () => faces.isDrained() || (await isOpen()).length === 0, DRAINED_WITHIN_MS)
  faces.drain()
  await Promise.allSettled(faces.working)
  const queued = () => db.selectFrom('hook_messages').select('id').limit(1).execute()
  await until(async () => {
    await box.command('hook', 'test', '1') // messages that were refused become due
    return (await queued()).length === 0
  }, DRAINED_WITHIN_MS)
  books.version += 1
  const words = ['sync', '--from', books.day, '--to', books.day]
  // The captured values of the Banco de Guatemala end in March. Its days of now are holes: the command ends with 3.
  const ends: unknown[] = [0, 3]
  await until(async () => ends.includes(await box.program(...words).waitForExit()), DRAINED_WITHIN_MS)
}

function showPauses(
  t: TestContext,
  name: string,
  { probes, slow, failed, moments, ...times }: PauseTimes,
): void {
  const parts = Object.entries(times).map(([part, ms]) => `${part} ${ms.toFixed(0)}`)
  figure(t, name, `${parts.join(', ')}; ${slow} of ${probes} over 100, ${failed} failed`)
  for (const moment of moments) figure(t, 'excess', moment)
}
