// An app with a mailbox on a private dovecot. A round runs when the test moves the clock.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Insertable } from 'kysely'
import { findMailbox, type MailboxRow } from '../../../src/store/mail/mailboxes.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { asOtherProcess } from '../../api/support.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../app.ts'
import { fillDirectory, read } from '../directory.ts'
import { until } from '../terminal.ts'
import { type Dovecot, PASSWORD, USER } from './dovecot.ts'
import { insertTestMailbox, writeSecret } from './mailboxes.ts'

/** A document as `/api/v1/documents` has it. */
export type MailDocument = {
  id: number
  name: string
  mimetype: string
  size: number
  agent_id: number
  created_by: string
  invoice?: Record<string, unknown>
  mail?: Record<string, unknown>
}

export type MailApp = TestApp & {
  mailboxId: number
  /** Moves the clock by `minutes`, at least 30, and waits until a round has ended. Returns the mailbox. */
  runRound(minutes?: number): Promise<MailboxRow>
  /** Documents by id, at most 100. */
  documents(): Promise<MailDocument[]>
  changeMailbox(change: Partial<Insertable<Tables['mailboxes']>>): Promise<void>
}

const LONGEST_RETRY_MINUTES = 30
const MINUTE_MS = 60_000

/** Starts an app with the directory of `fillDirectory` and a mailbox of company 1 and agent 1. */
export async function startMailApp(
  t: TestContext,
  dovecot: Dovecot,
  change: Partial<Insertable<Tables['mailboxes']>> = {},
  options: TestAppOptions = {},
): Promise<MailApp> {
  const app = await startTestApp(t, { mailReadMs: 20, ...options })
  await fillDirectory(app)
  const { clock } = app
  const inMinutes = (minutes: number) => new Date(clock.now.getTime() + minutes * MINUTE_MS)
  const values = {
    ...{ ...mailboxPlace(dovecot), company_id: 1, agent_id: 1, owner_id: 1 },
    ...{ password_file: writeSecret(t, PASSWORD), ...change },
    next_round_at: inMinutes(LONGEST_RETRY_MINUTES).toISOString(),
  }
  const mailboxId = await asOtherProcess(app, (db) => insertTestMailbox(db, values))
  return {
    ...app,
    mailboxId,
    async runRound(minutes = LONGEST_RETRY_MINUTES) {
      clock.now = inMinutes(minutes)
      const at = clock.now.toISOString()
      return asOtherProcess(app, async (db) => {
        let mailbox: MailboxRow | undefined
        await until(async () => {
          mailbox = await findMailbox(db, mailboxId)
          return mailbox?.last_round_at === at
        })
        assert.ok(mailbox)
        return mailbox
      })
    },
    async documents() {
      const response = await read(app, '/api/v1/documents?limit=100')
      const { documents, has_more } = (await response.json()) as {
        documents: MailDocument[]
        has_more: boolean
      }
      assert.equal(has_more, false, String(response.status))
      return documents
    },
    changeMailbox: (values) =>
      asOtherProcess(app, async (db) => {
        await db.updateTable('mailboxes').set(values).where('id', '=', mailboxId).execute()
      }),
  }
}

/** Settings of a mailbox on this server, without encryption. */
export function mailboxPlace({ ports }: Dovecot) {
  return { host: '127.0.0.1', port: ports.plain, security: 'none', user_name: USER } as const
}
