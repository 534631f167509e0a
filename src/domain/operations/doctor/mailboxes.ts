// Reports mailboxes that fail, have an unreadable secret or an inactive agent, and those that are paused.

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { errorReason } from '../../../runtime/errors.ts'
import { findAgent } from '../../../store/directory/agents.ts'
import type { InspectedDatabase } from '../../../store/engine.ts'
import { type MailboxRow, selectMailboxes } from '../../../store/mail/mailboxes.ts'
import { SCHEMA_VERSION } from '../../../store/migrations.ts'
import type { Report } from './examination.ts'

export async function examineMailboxes(
  { db, schema }: Pick<InspectedDatabase, 'db' | 'schema'>,
  report: Report,
): Promise<void> {
  if (schema < SCHEMA_VERSION) return
  for (const mailbox of await selectMailboxes(db)) {
    const { id, failure, failing_since, paused_at, pause_reason } = mailbox
    const finding = (message: string) => report.finding('mail', message, { about: 'mailbox-test', id })
    const secretFault = await findSecretFault(mailbox)
    const agent = await findAgent(db, mailbox.agent_id)
    if (paused_at !== null) {
      const why = pause_reason === 'restore' ? ', by a restore' : ''
      report.note(`mailbox ${id} is paused since ${paused_at}${why}`)
    } else if (secretFault !== undefined)
      finding(`the secret of mailbox ${id} cannot be read: ${secretFault}`)
    else if (failing_since !== null) finding(`mailbox ${id} fails since ${failing_since} (${failure})`)
    if (!agent?.active) finding(`the agent ${mailbox.agent_id} of mailbox ${id} is inactive`)
  }
}

async function findSecretFault({ password_file, oauth_file }: MailboxRow): Promise<string | undefined> {
  try {
    await access(password_file ?? oauth_file ?? '', constants.R_OK)
    return undefined
  } catch (error) {
    return errorReason(error)
  }
}
