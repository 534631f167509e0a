// The task of a server that takes mails. Commands change the rows of mailboxes, so the rows are read every few seconds.
// The first round loads everything else, with the client of IMAP.

import { setTimeout as wait } from 'node:timers/promises'
import { errorReason } from '../../runtime/errors.ts'
import { hasDueMailbox } from '../../store/mail/mailboxes.ts'
import type { MailDeps, MailRounds } from './rounds.ts'

const READ_MS = 5000

/** `close` ends the rounds in progress. */
export function startMailTask(deps: MailDeps, readMs = READ_MS): { close(): Promise<void> } {
  const stop = new AbortController()
  let rounds: MailRounds | undefined
  const runDue = async () => {
    if (!(await hasDueMailbox(deps.reads, deps.storage.clock()))) return
    if (!rounds) {
      const { createMailRounds } = await import('./rounds.ts')
      rounds = createMailRounds(deps)
    }
    await rounds.runDue(stop.signal)
  }
  const runUntilClosed = async () => {
    while (!stop.signal.aborted) {
      await runDue().catch((error: unknown) => {
        if (!stop.signal.aborted)
          deps.log.warn('mailboxes cannot be read now', { reason: errorReason(error) })
      })
      await wait(readMs, undefined, { signal: stop.signal }).catch(() => {}) // closed
    }
    await rounds?.close()
  }
  const loop = runUntilClosed()
  return {
    async close() {
      stop.abort()
      await loop
    },
  }
}
