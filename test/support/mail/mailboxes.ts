// Rows of mailboxes, for tests of what surrounds them.

import type { Insertable } from 'kysely'
import type { Tables, WriteDb } from '../../../src/store/tables.ts'
import { AGENT, COMPANY, OWNER } from '../company.ts'

/** Inserts a mailbox of the test company, which `makeDirectory` has created, and returns its id. */
export async function insertTestMailbox(
  db: WriteDb,
  change: Partial<Insertable<Tables['mailboxes']>> = {},
): Promise<number> {
  const row = await db
    .insertInto('mailboxes')
    .values({
      name: 'facturas',
      host: 'imap.example.com',
      port: 993,
      security: 'tls',
      user_name: 'facturas@example.com',
      password_file: '/secrets/facturas',
      folder: 'INBOX',
      done: 'Procesados',
      rejected: 'Rechazados',
      company_id: COMPANY,
      agent_id: AGENT,
      owner_id: OWNER,
      largest: 40 * 2 ** 20,
      created_at: '2026-03-24T12:00:00.000Z',
      ...change,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}
