import { createHash } from 'node:crypto'

/**
 * Returns the key under which a mail is stored once, as hexadecimal digits of SHA-256. The same documents under another
 * Message-ID have another key, and so have other documents under a forged one.
 */
export function mailKey(mailboxId: number, messageId: string | null, partHashes: readonly string[]): string {
  const parts = [...partHashes].sort()
  return createHash('sha256')
    .update(JSON.stringify([mailboxId, messageId, parts]))
    .digest('hex')
}
