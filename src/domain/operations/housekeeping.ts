// Housekeeping of a server, after its start and every hour. Among several nodes the one with the lock runs it. The
// first run deletes nothing for its age, nor does an hour in which the clock was set. A clock may be years ahead.

import { setImmediate } from 'node:timers/promises'
import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { BlobStore } from '../../store/blobs/open-blobs.ts'
import { deleteOldEvents } from '../../store/documents/events.ts'
import { deleteOldAnswers } from '../../store/documents/idempotency.ts'
import { atomically, type Engine, type Lock } from '../../store/engine.ts'
import { deleteExcessDeliveries, deleteOldDeliveries } from '../../store/hooks/deliveries.ts'
import { selectHooks } from '../../store/hooks/hooks.ts'
import { deleteForgottenMail } from '../../store/mail/messages.ts'
import { settleChangeLogEnd } from '../../store/rates/change-log.ts'
import type { WriteDb } from '../../store/tables.ts'
import { countForOlderNodes } from '../documents/counts.ts'
import { foldNames } from '../documents/folded-names.ts'
import { collectGarbage, logGarbage } from '../documents/gc.ts'
import { answerCutoff } from '../documents/uploads/accept.ts'
import { renewOutdatedSums } from '../rates/rate-sums.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DELIVERY_DAYS = 30
const MAX_DELIVERIES = 10_000
const MAIL_DAYS = 400 // since a round last saw a mail
const ROWS_AT_ONCE = 500 // a few milliseconds
const CLOCK_STEP_MS = 15 * 60_000

export type Housekeeping = {
  /** Runs now, after any run in progress; deletes nothing for its age. */
  tidy(): void
  /** Resolves after the runs so far. */
  idle(): Promise<void>
  close(): Promise<void>
}

type Deps = Pick<Engine, 'db' | 'reads' | 'clock' | 'takeLock'> & {
  log: Log
  /** Days for which events are stored (decisions#actions). */
  keepEvents: number
  blobStore: Pick<BlobStore, 'blobs' | 'lineage'>
  /** Days for which a shared store retains blobs that no document needs. */
  keepRemovedDays: number
  /** Makes the ballast that a full disk took; undefined: there is none. */
  makeBallast?: (() => Promise<void>) | undefined
}

/**
 * Removes old events, old deliveries of hooks, expired answers of idempotency keys, and blobs that no document
 * needs. Makes the ballast. Forgets mails that left their folder long ago. Completes what earlier versions wrote: names
 * of documents, the end of the change log and the sums of rates.
 */
export function startHousekeeping(deps: Deps): Housekeeping {
  const { clock, log } = deps
  const clockLead = () => clock().getTime() - performance.now()
  let lead = clockLead()
  const stop = new AbortController()
  let running = Promise.resolve()
  let isAlone = !deps.blobStore.blobs.keepsRemoved // until a run has removed what a crash left
  const run = (keepsOld: boolean) => {
    running = running
      .then(async () => {
        await tidyUp(deps, { keepsOld, isAlone }, stop.signal)
        isAlone = false
      })
      .catch((error: unknown) =>
        log.warn('housekeeping failed: tried again in an hour', { reason: errorReason(error) }),
      )
  }
  const tidy = () => run(true)
  tidy()
  const timer = setInterval(() => {
    const before = lead
    lead = clockLead()
    run(Math.abs(lead - before) > CLOCK_STEP_MS)
  }, HOUR_MS)
  return {
    tidy,
    idle: () => running,
    async close() {
      clearInterval(timer)
      stop.abort()
      await running
    },
  }
}

type Manner = { keepsOld: boolean; isAlone: boolean }

async function tidyUp(deps: Deps, { keepsOld, isAlone }: Manner, signal: AbortSignal): Promise<void> {
  const { db, reads, clock, log, keepRemovedDays, blobStore } = deps
  const { blobs } = blobStore
  if (signal.aborted) return
  const lock = await deps.takeLock('janitor')
  if (!lock) return // another node runs it
  try {
    if (!keepsOld) await deleteOldRows(deps, lock, signal)
    await countForOlderNodes(db, clock)
    await atomically(db, settleChangeLogEnd, lock)
    await renewOutdatedSums(db, log, lock)
    await foldNames({ db, reads }, lock, signal)
    await blobStore.lineage?.check() // another database may have documents in the store
    const fault = await blobStore.lineage?.settleLineage()
    if (fault !== undefined) throw new AppError('failed', fault) // the database is a former primary or a copy
    const garbage = { db, clock, blobs, keepRemovedDays, keepsOld, isAlone }
    logGarbage(await collectGarbage(garbage, lock, signal), log, isAlone)
    await deps.makeBallast?.()
  } finally {
    await lock.release()
  }
}

/** Deletes old events, answers, deliveries and mails. */
async function deleteOldRows(deps: Deps, lock: Lock, signal: AbortSignal): Promise<void> {
  const { db, clock, log, keepEvents } = deps
  const before = new Date(clock().getTime() - keepEvents * DAY_MS).toISOString()
  const events = await deleteInPortions((trx) => deleteOldEvents(trx, before, ROWS_AT_ONCE), db, lock, signal)
  if (events > 0) log.info('old events removed', { events, before })
  const oldestAnswer = answerCutoff(clock())
  await deleteInPortions((trx) => deleteOldAnswers(trx, oldestAnswer, ROWS_AT_ONCE), db, lock, signal)
  await deleteDeliveries(deps, lock, signal)
  const lastSeen = new Date(clock().getTime() - MAIL_DAYS * DAY_MS).toISOString()
  await deleteInPortions((trx) => deleteForgottenMail(trx, lastSeen, ROWS_AT_ONCE), db, lock, signal)
}

/** Deletes the deliveries of hooks that are too old, or too many. */
async function deleteDeliveries({ db, clock }: Deps, lock: Lock, signal: AbortSignal): Promise<void> {
  const before = new Date(clock().getTime() - DELIVERY_DAYS * DAY_MS).toISOString()
  await deleteInPortions((trx) => deleteOldDeliveries(trx, before, ROWS_AT_ONCE), db, lock, signal)
  for (const { id } of await selectHooks(db)) {
    const bounds = { most: MAX_DELIVERIES, limit: ROWS_AT_ONCE }
    await deleteInPortions((trx) => deleteExcessDeliveries(trx, id, bounds), db, lock, signal)
  }
}

/** Repeats a deletion of at most ROWS_AT_ONCE rows until no more match. Returns the number of rows. */
async function deleteInPortions(
  remove: (trx: WriteDb) => Promise<number>,
  db: WriteDb,
  lock: Lock,
  signal: AbortSignal,
): Promise<number> {
  let all = 0
  while (!signal.aborted && !lock.lost.aborted) {
    const count = await atomically(db, remove, lock)
    all += count
    if (count < ROWS_AT_ONCE) break
    await setImmediate() // yields to other requests
  }
  return all
}
