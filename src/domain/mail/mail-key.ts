import { createHash } from 'node:crypto'

/**
 * Returns the key under which a mail is stored once, as hexadecimal digits of SHA-256. The same documents under another
 * Message-ID have another key, and so have other documents under a forged one. `agent`: id of an
 * agent of the mail, with --by-tag; `own`: agent of the mailbox, whichever it is.
 */
export function mailKey(
  mailboxId: number,
  messageId: string | null,
  partHashes: readonly string[],
  agent?: number | 'own',
): string {
  const parts = [...partHashes].sort()
  return createHash('sha256')
    .update(JSON.stringify([mailboxId, messageId, parts, ...(agent === undefined ? [] : [agent])]))
    .digest('hex')
}
