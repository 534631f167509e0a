// Reports mailboxes that fail or are paused, those of an inactive agent, and secrets that are unreadable or open.

import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { errorReason } from '../../../runtime/errors.ts'
import { openModeFault } from '../../../runtime/open-mode.ts'
import { findAgent } from '../../../store/directory/agents.ts'
import { selectMailboxes } from '../../../store/mail/mailboxes.ts'
import type { CheckContext } from './examination.ts'

export async function examineMailboxes({ db, report }: CheckContext): Promise<void> {
  for (const mailbox of await selectMailboxes(db)) {
    const { id, failure, failing_since, paused_at, pause_reason } = mailbox
    const finding = (message: string) => report.finding('mail', message, { about: 'mailbox-test', id })
    const file = mailbox.password_file ?? mailbox.oauth_file ?? ''
    const secretFault = await findSecretFault(file)
    const modeFault = openModeFault((await stat(file).catch(() => undefined))?.mode ?? 0) // a missing file has none
    const agent = await findAgent(db, mailbox.agent_id)
    if (paused_at !== null) {
      const why = pause_reason === 'restore' ? ', by a restore' : ''
      report.note(`mailbox ${id} is paused since ${paused_at}${why}`)
    } else if (secretFault !== undefined)
      finding(`the secret of mailbox ${id} cannot be read: ${secretFault}`)
    else if (failing_since !== null) finding(`mailbox ${id} fails since ${failing_since} (${failure})`)
    if (modeFault !== undefined)
      report.finding('mail', `the secret of mailbox ${id} ${modeFault}: chmod 600 ${file}`)
    if (!agent?.active) finding(`the agent ${mailbox.agent_id} of mailbox ${id} is inactive`)
  }
}

async function findSecretFault(file: string): Promise<string | undefined> {
  try {
    await access(file, constants.R_OK)
    return undefined
  } catch (error) {
    return errorReason(error)
  }
}
