// Sender of mails to the mailbox of the soak. Each attachment becomes a document exactly once: check.ts compares a mail
// as an upload without an answer. Here each delivered mail must have its documents.

import { randomBytes } from 'node:crypto'
import { createMail } from '../../documents/mails.ts'
import type { Dovecot } from '../../mail/dovecot.ts'
import { hashBytes, type Uploads } from '../documents.ts'
import { count, fault, rest, type Soak } from '../world.ts'

/** Delivers mails until the soak is over, and adds the names of their first documents to `mails`. */
export async function sendMails(
  soak: Soak,
  uploads: Uploads,
  { dovecot, mails }: { dovecot: Dovecot; mails: Set<string> },
): Promise<void> {
  const { random } = soak
  for (let turn = 0; !soak.isOver; turn++) {
    const contents = Array.from({ length: random.int(1, 3) }, () => randomBytes(random.int(1, 20_000)))
    const names = contents.map((_, at) => `mail-${turn}-${at}.bin`)
    const upload = { names, hashes: contents.map(hashBytes), ids: undefined, isOfCompany2: false }
    uploads.set(names[0] ?? '', { ...upload, deleted: 'no' })
    const parts = contents.map((content, at) => ({
      ...{ type: 'application/octet-stream', disposition: `attachment; filename="${names[at]}"`, content },
    }))
    await dovecot.deliver(createMail(parts, { 'Message-ID': `<soak-${turn}@a>`, Subject: `Envío ${turn}` }))
    mails.add(names[0] ?? '')
    count(soak, 'mails delivered')
    await rest(soak, 200, 1500)
  }
}

/** Checks that each delivered mail has become documents. */
export function checkMails(soak: Soak, mails: ReadonlySet<string>, rows: readonly { name: string }[]): void {
  const names = new Set(rows.map(({ name }) => name))
  const missing = [...mails].filter((first) => !names.has(first))
  if (missing.length > 0) fault(soak, `mails without documents: ${missing.slice(0, 20)}`)
  count(soak, 'mails with documents', mails.size - missing.length)
}
