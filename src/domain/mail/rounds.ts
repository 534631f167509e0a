// The rounds of all mailboxes that are due. A failed round delays the next one of its mailbox.

import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'
import { atomically, type Engine, type Lock } from '../../store/engine.ts'
import { type MailboxRow, selectMailboxes } from '../../store/mail/mailboxes.ts'
import { queueEvent } from '../hooks/events.ts'
import { dueMailboxes, recordRound, recordRoundFailure } from './mailboxes.ts'
import { createRoundRunner } from './round.ts'
import { isLoginRefused, RoundFailure } from './round-failure.ts'
import type { MailStorage } from './store-mail.ts'

export type MailDeps = Pick<Engine, 'reads' | 'takeLock'> & { log: Log; storage: MailStorage }

export type MailRounds = {
  /** Runs the rounds that are due, if no other node runs rounds now. */
  runDue(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

const ROUNDS_AT_ONCE = 2 // each may have a mail of the largest size in memory
const LEAVE_MS = 60_000

export function createMailRounds(deps: MailDeps): MailRounds {
  const { reads, takeLock, log, storage } = deps
  const runner = createRoundRunner({ ...storage, reads, log })
  const unreadable = new Map<number, number>() // until when other nodes may try a mailbox whose secret this one lacks
  const findDue = async () => {
    const due = dueMailboxes(await selectMailboxes(reads), storage.clock())
    return due.filter(({ id }) => (unreadable.get(id) ?? 0) <= performance.now())
  }
  const runOne = async (mailbox: MailboxRow, lock: Lock, signal: AbortSignal) => {
    try {
      const { waiting } = await runner.run(mailbox, lock, signal)
      await recordSuccess(deps, mailbox, waiting, lock)
    } catch (error) {
      if (signal.aborted || (error instanceof AppError && error.code === 'conflict')) return // paused, or deleted
      if (error instanceof RoundFailure && error.code === 'secret' && lock.outlivesHolderMs > 0) {
        unreadable.set(mailbox.id, performance.now() + LEAVE_MS)
        log.warn('mailbox left to other nodes', { mailbox: mailbox.id, reason: error.message })
      } else await recordFailure(deps, mailbox, error, lock)
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
        await Promise.all(rounds)
      } finally {
        await lock.release()
      }
    },
    close: runner.close,
  }
}

async function recordSuccess(
  { storage: { db, clock }, log }: MailDeps,
  { id }: MailboxRow,
  waiting: number,
  lock: Lock,
): Promise<void> {
  const failureStart = await atomically(db, (trx) => recordRound(trx, id, { now: clock(), waiting }), lock)
  if (failureStart !== null) log.info('mailbox works again', { mailbox: id, failing_since: failureStart })
}

async function recordFailure(
  { storage: { db, clock, wakeHooks }, log }: MailDeps,
  { id }: MailboxRow,
  error: unknown,
  lock: Lock,
): Promise<void> {
  const failure = describeFailure(error)
  const isRefused = isLoginRefused(error)
  const code = error instanceof RoundFailure ? error.code : 'other'
  const now = clock()
  const { failures, nextRound, reportNow } = await atomically(
    db,
    async (trx) => {
      const record = await recordRoundFailure(trx, id, { now, failure, code, isRefused })
      if (record.reportNow)
        await queueEvent(trx, 'mail.failed', now.toISOString(), { mailbox_id: id, failure })
      return record
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
