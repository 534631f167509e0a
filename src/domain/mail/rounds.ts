// The rounds of all mailboxes that are due. A failed round delays the next one of its mailbox.

import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'
import { atomically, type Engine, type Lock } from '../../store/engine.ts'
import { type MailboxRow, selectMailboxes } from '../../store/mail/mailboxes.ts'
import type { WriteDb } from '../../store/tables.ts'
import { queueEvent } from '../hooks/queued-events.ts'
import type { MailConnection } from './imap.ts'
import { dueMailboxes, recordRound, recordRoundFailure, requireSameMailbox } from './mailbox-changes.ts'
import { createRoundRunner, type KnownMails } from './round.ts'
import { isLoginRefused, RoundFailure } from './round-failure.ts'
import type { MailStorage } from './store-mail.ts'

export type MailDeps = Pick<Engine, 'reads' | 'takeLock'> &
  Pick<MailConnection, 'outgoing'> & {
    log: Log
    storage: MailStorage
    knownMails: KnownMails
  }

export type MailRounds = {
  /** Runs the rounds that are due, if no other node runs rounds now. */
  runDue(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

const ROUNDS_AT_ONCE = 2 // each may have a mail of the largest size in memory
const SECRET_RETRY_MS = 60_000
const UNRECORDED_RETRY_MS = 60_000
const REFUSED_RETRY_MS = 1_800_000

export function createMailRounds(deps: MailDeps): MailRounds {
  const { reads, takeLock, log, storage, knownMails, outgoing } = deps
  const runner = createRoundRunner({ ...storage, reads, log, knownMails, outgoing })
  const pauses = new Map<number, number>() // by mailbox, until when this node runs no round of it
  const unreadable = new Set<number>() // mailboxes whose secret this node could not read the last time
  const findDue = async () => {
    const due = dueMailboxes(await selectMailboxes(reads), storage.clock())
    return due.filter(({ id }) => (pauses.get(id) ?? 0) <= performance.now())
  }
  const pause = (id: number, ms: number) => pauses.set(id, performance.now() + ms)
  const runOne = async (mailbox: MailboxRow, lock: Lock, signal: AbortSignal) => {
    const { id } = mailbox
    try {
      const { waiting } = await runner.run(mailbox, lock, signal)
      unreadable.delete(id)
      await recordSuccess(deps, mailbox, waiting, lock)
    } catch (error) {
      if (signal.aborted || isOperatorChange(error)) return // paused, changed or deleted
      const isLeft = error instanceof RoundFailure && error.code === 'secret' && lock.outlivesHolderMs > 0
      if (isLeft && !unreadable.has(id)) {
        unreadable.add(id)
        pause(id, SECRET_RETRY_MS)
        log.warn('mailbox left to other nodes', { mailbox: id, reason: error.message })
        return
      }
      // A server must not get a wrong password again and again while the database cannot record the failure.
      pause(id, isLoginRefused(error) ? REFUSED_RETRY_MS : UNRECORDED_RETRY_MS)
      await recordFailure(deps, mailbox, error, lock)
      pauses.delete(id)
    }
  }
  return {
    async runDue(closed) {
      if ((await findDue()).length === 0) return
      const lock = await takeLock('mail')
      if (!lock) return // another node has it
      const signal = AbortSignal.any([closed, lock.lost])
      const turns = createSemaphore(ROUNDS_AT_ONCE)
      try {
        const rounds = (await findDue()).map(async (mailbox) => {
          using _turn = await turns.acquire()
          if (!signal.aborted) await runOne(mailbox, lock, signal)
        })
        // The lock is released after the last round, also when one could not be recorded.
        const failure = (await Promise.allSettled(rounds)).find(({ status }) => status === 'rejected')
        if (failure?.status === 'rejected' && !isOperatorChange(failure.reason)) throw failure.reason
      } finally {
        await lock.release()
      }
    },
    close: runner.close,
  }
}

function isOperatorChange(error: unknown): boolean {
  return error instanceof AppError && error.code === 'conflict'
}

async function recordSuccess(
  { storage: { db, clock }, log }: MailDeps,
  mailbox: MailboxRow,
  waiting: number,
  lock: Lock,
): Promise<void> {
  const { id } = mailbox
  const storeRound = async (trx: WriteDb) => {
    await requireSameMailbox(trx, mailbox)
    return recordRound(trx, id, { now: clock(), waiting })
  }
  const failureStart = await atomically(db, storeRound, lock)
  if (failureStart !== null) log.info('mailbox works again', { mailbox: id, failing_since: failureStart })
}

async function recordFailure(
  { storage: { db, clock, wakeHooks }, log }: MailDeps,
  mailbox: MailboxRow,
  error: unknown,
  lock: Lock,
): Promise<void> {
  const { id } = mailbox
  const failure = describeFailure(error)
  const isRefused = isLoginRefused(error)
  const code = error instanceof RoundFailure ? error.code : 'other'
  const now = clock()
  const { next_round_at: planned } = mailbox
  const { failures, nextRound, reportNow } = await atomically(
    db,
    async (trx) => {
      await requireSameMailbox(trx, mailbox)
      const failedRound = await recordRoundFailure(trx, id, { now, failure, code, isRefused, planned })
      if (failedRound.reportNow)
        await queueEvent(trx, 'mail.failed', now.toISOString(), { mailbox_id: id, failure })
      return failedRound
    },
    lock,
  )
  if (reportNow) wakeHooks()
  if (!(error instanceof RoundFailure || error instanceof AppError))
    log.error('a round ended with a defect', { mailbox: id, cause: describeDefect(error) })
  log[reportNow ? 'warn' : 'debug']('mailbox fails', {
    mailbox: id,
    reason: failure,
    failures,
    next: nextRound,
  })
}

/** A sentence without words of strangers: an unknown error may quote some. */
function describeFailure(error: unknown): string {
  if (error instanceof RoundFailure) return error.message
  return error instanceof AppError ? errorReason(error) : 'the round failed: see the log of the server'
}

/** The kind of an error and its stack, without its message, which may quote strangers. */
function describeDefect(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  return [error.name, ...frames].join('\n')
}
