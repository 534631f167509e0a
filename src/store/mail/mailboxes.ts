// Mailboxes: folders on IMAP servers whose mails become documents. The row of a deleted one remains for its documents.

import type { Insertable } from 'kysely'
import { engineSql } from '../engine.ts'
import { invariantError } from '../invariant.ts'
import { hasRow } from '../rows.ts'
import type { PauseReason, ReadDb, Row, Tables, WriteDb } from '../tables.ts'
import { deleteLeftMails } from './left-mails.ts'

const LONGEST_PAUSE_MS = 31 * 60_000

/** `allow_from`: addresses and domains; none: every sender. `ignore_names`: patterns of files to leave out. */
export type MailboxRow = Omit<Row<'mailboxes'>, 'allow_from' | 'ignore_names' | 'by_tag' | 'deleted_at'> & {
  allow_from: string[]
  ignore_names: string[]
  by_tag: boolean
}

/** The settings of an operator. */
export type MailboxSettings = Pick<
  MailboxRow,
  | ('name' | 'host' | 'port' | 'security' | 'user_name' | 'password_file' | 'oauth_file')
  | ('folder' | 'done' | 'rejected' | 'company_id' | 'agent_id' | 'owner_id')
  | ('allow_from' | 'ignore_names' | 'by_tag' | 'largest')
>

/** The state of rounds. */
export type RoundState = Pick<
  MailboxRow,
  | ('last_round_at' | 'last_success_at' | 'failing_since' | 'failure' | 'failure_code' | 'failures')
  | ('reported_at' | 'next_round_at' | 'waiting')
>

/** Locks the list of mailboxes until the transaction ends. Other nodes that lock it wait. */
export async function lockMailboxes(trx: WriteDb): Promise<void> {
  await engineSql(trx).lockRows(trx.selectFrom('meta').select('id'), 'update', ['meta']).execute()
}

/** Selects the mailboxes, by id. */
export async function selectMailboxes(db: ReadDb): Promise<MailboxRow[]> {
  const query = db.selectFrom('mailboxes').selectAll().where('deleted_at', 'is', null)
  return (await query.orderBy('id').execute()).map(parseRow)
}

/** The latest instant of a next round. A later one is of a clock that was set back since. */
export function latestRound(now: Date): string {
  return new Date(now.getTime() + LONGEST_PAUSE_MS).toISOString()
}

/** Returns whether the round of a mailbox is due. */
export function hasDueMailbox(db: ReadDb, now: Date): Promise<boolean> {
  const active = db.selectFrom('mailboxes').select('id').where('deleted_at', 'is', null)
  return hasRow(
    active
      .where('paused_at', 'is', null)
      .where((of) =>
        of.or([
          of('next_round_at', 'is', null),
          of('next_round_at', '<=', now.toISOString()),
          of('next_round_at', '>', latestRound(now)),
        ]),
      ),
  )
}

/** Finds a mailbox. `lock`: its row does not change until the transaction ends. */
export async function findMailbox(
  db: ReadDb,
  id: number,
  { lock = false } = {},
): Promise<MailboxRow | undefined> {
  const query = db.selectFrom('mailboxes').selectAll().where('deleted_at', 'is', null).where('id', '=', id)
  const row = await (lock ? engineSql(db).lockRows(query, 'share', ['mailboxes']) : query).executeTakeFirst()
  return row && parseRow(row)
}

/** Returns whether a mailbox of another company than this one has the agent or owner. */
export function hasForeignMailbox(
  db: ReadDb,
  party: Partial<Pick<MailboxRow, 'agent_id' | 'owner_id'>>,
  companyId: number,
): Promise<boolean> {
  const query = db.selectFrom('mailboxes').select('id').where('deleted_at', 'is', null)
  return hasRow(query.where((of) => of.and(party)).where('company_id', '<>', companyId))
}

export async function insertMailbox(
  db: WriteDb,
  mailbox: MailboxSettings & Pick<MailboxRow, 'created_at'>,
): Promise<number> {
  const row = await db
    .insertInto('mailboxes')
    .values(storedValues(mailbox) as Insertable<Tables['mailboxes']>)
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Changes a mailbox, and returns whether it existed. */
export async function updateMailbox(
  db: WriteDb,
  id: number,
  change: Partial<MailboxSettings & RoundState> & {
    paused_at?: string | null
    pause_reason?: PauseReason | null
  },
): Promise<boolean> {
  const query = db.updateTable('mailboxes').set(storedValues(change)).where('id', '=', id)
  const { numUpdatedRows } = await query.where('deleted_at', 'is', null).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Adds to the numbers of mails, and of parts that were left out. */
export async function addMailCounts(
  db: WriteDb,
  id: number,
  { taken = 0, refused = 0, left_out = 0 }: Partial<Pick<MailboxRow, 'taken' | 'refused' | 'left_out'>>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('mailboxes')
    .set((of) => ({
      taken: of('taken', '+', taken),
      refused: of('refused', '+', refused),
      left_out: of('left_out', '+', left_out),
    }))
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows !== 1n) throw invariantError('Sum', `a mail is missing in mailbox ${id}`)
}

/** Deletes a mailbox and its mails, without its documents, inside a transaction. Returns whether it existed. */
export async function deleteMailbox(trx: WriteDb, id: number, at: string): Promise<boolean> {
  const query = trx.updateTable('mailboxes').set({ deleted_at: at }).where('id', '=', id)
  const { numUpdatedRows } = await query.where('deleted_at', 'is', null).executeTakeFirstOrThrow()
  await trx.deleteFrom('mail_messages').where('mailbox_id', '=', id).execute()
  await deleteLeftMails(trx, id)
  return numUpdatedRows > 0n
}

function parseRow({ by_tag, deleted_at: _, ...row }: Row<'mailboxes'>): MailboxRow {
  const [allow_from, ignore_names] = [row.allow_from, row.ignore_names].map((text) => text?.split(',') ?? [])
  return { ...row, allow_from: allow_from ?? [], ignore_names: ignore_names ?? [], by_tag: by_tag === 1 }
}

function storedValues({
  allow_from,
  ignore_names,
  by_tag,
  ...values
}: Partial<MailboxRow>): Partial<Row<'mailboxes'>> {
  return {
    ...values,
    ...(allow_from && { allow_from: allow_from.join(',') || null }),
    ...(ignore_names && { ignore_names: ignore_names.join(',') || null }),
    ...(by_tag !== undefined && { by_tag: Number(by_tag) }),
  }
}
