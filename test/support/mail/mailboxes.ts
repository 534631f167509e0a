// Rows of mailboxes, for tests of what surrounds them.

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Insertable } from 'kysely'
import type { Tables, WriteDb } from '../../../src/store/tables.ts'
import { AGENT, COMPANY, OWNER } from '../company.ts'
import { temporaryDirectory } from '../temporary.ts'

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

/** Writes a file of a secret that no other user can read, and returns its path. */
export function writeSecret(t: TestContext, content: string): string {
  const path = join(temporaryDirectory(t), 'secret')
  writeFileSync(path, `${content}\n`)
  chmodSync(path, 0o600)
  return path
}
