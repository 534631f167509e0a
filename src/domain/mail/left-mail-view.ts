// Mails that were refused, or of which parts were left out, as clients see them. The texts are of strangers.

import type { OtherParts, RefusedMail } from '../../formats/mail/mail.ts'
import { type LeftMailRow, selectLeftMails } from '../../store/mail/left-mails.ts'
import { selectMailboxes } from '../../store/mail/mailboxes.ts'
import type { ReadDb } from '../../store/tables.ts'
import { type Access, accessFilter } from '../documents/access.ts'

export type LeftMail = {
  mailbox_id: number
  at: string
  from: string | null
  subject: string | null
  /** Code of a refusal; null: the mail became documents. */
  reason: string | null
  parts: OtherParts['left']
}

const MOST_PARTS = 100 // in a row

/** Lists the mails of the mailboxes of an access, the last one first. @throws AppError `not-found` for another company */
export async function listLeftMails(
  db: ReadDb,
  access: Access,
  request: { companyId: number | undefined },
): Promise<LeftMail[]> {
  const { companyId, agentId } = accessFilter(access, request)
  const mailboxes = (await selectMailboxes(db)).filter(
    ({ company_id, agent_id }) =>
      company_id === (companyId ?? company_id) && agent_id === (agentId ?? agent_id),
  )
  const ids = mailboxes.map(({ id }) => id)
  return (await selectLeftMails(db, ids)).map(toLeftMail)
}

export function toLeftMail({ mailbox_id, at, from_text, subject, reason, parts }: LeftMailRow): LeftMail {
  const code = reason?.replace(/[ .]/g, '_') ?? null
  return { mailbox_id, at, from: from_text, subject, reason: code, parts: JSON.parse(parts) }
}

/** Returns the texts and the parts of a mail for its row. */
export function leftMailTexts({
  fromText,
  subject,
  left,
}: Pick<RefusedMail, 'fromText' | 'subject' | 'left'>): Pick<LeftMailRow, 'from_text' | 'subject' | 'parts'> {
  const parts = JSON.stringify(left.slice(0, MOST_PARTS))
  return { from_text: fromText || null, subject: subject || null, parts }
}
