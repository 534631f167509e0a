// Mails whose parts became documents. A row prevents that the same parts of the same mail become documents again. A mail
// of `--by-tag` has several rows: one with the key of 1.0.0, and those of its agents. The rows of a mail change together.

import { splitBatches } from '../batches.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

export type MailMessage = Row<'mail_messages'>

/** Position of a mail. `uid` is its number in the folder, as long as the folder has this `uidvalidity`. */
export type MailPosition = Pick<MailMessage, 'mailbox_id' | 'uidvalidity' | 'uid'>

const AT_ONCE = 500

/** Selects the mails of these keys. A key without one: its parts are no documents yet. */
export function selectMailsByKey(db: ReadDb, keys: readonly string[]): Promise<MailMessage[]> {
  return db.selectFrom('mail_messages').selectAll().where('key', 'in', keys).execute()
}

/** Selects the keys of the known mails among those of a folder, by uid. */
export async function selectMailMessages(
  db: ReadDb,
  { mailbox_id, uidvalidity }: Omit<MailPosition, 'uid'>,
  uids: Iterable<number>,
): Promise<Map<number, string[]>> {
  const messages = new Map<number, string[]>()
  for (const some of splitBatches(uids, AT_ONCE)) {
    const query = db.selectFrom('mail_messages').select(['uid', 'key']).where('uid', 'in', some)
    const own = query.where((of) => of.and({ mailbox_id, uidvalidity }))
    for (const { uid, key } of await own.execute()) messages.getOrInsertComputed(uid, () => []).push(key)
  }
  return messages
}

/**
 * Inserts a mail in the transaction of its documents. Returns false if the key exists: the caller then rolls back.
 * `at`: instant of the round. `taken_uid`: 0 for a mail whose agents have rows.
 */
export async function insertMailMessage(
  trx: WriteDb,
  { at, ...row }: MailPosition & Partial<Pick<MailMessage, 'taken_uid'>> & { key: string; at: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await trx
    .insertInto('mail_messages')
    .values({ taken_uid: row.uid, ...row, taken_at: at, last_seen_at: at })
    .onConflict((on) => on.column('key').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** Records that a round found a known mail in its folder, perhaps under another number. */
export async function updateMailSeen(
  db: WriteDb,
  keys: readonly string[],
  { at, uidvalidity, uid }: Omit<MailPosition, 'mailbox_id'> & { at: string },
): Promise<void> {
  const change = { uidvalidity, uid, last_seen_at: at, moved_at: null }
  await db.updateTable('mail_messages').set(change).where('key', 'in', keys).execute()
}

/** Forgets where the mails of a mailbox are. Their keys remain. */
export async function clearMailPositions(db: WriteDb, mailboxId: number): Promise<void> {
  await db.updateTable('mail_messages').set({ uidvalidity: 0 }).where('mailbox_id', '=', mailboxId).execute()
}

/** Records that a mail has left its folder. */
export async function updateMailMoved(db: WriteDb, keys: readonly string[], at: string): Promise<void> {
  const change = { moved_at: at, move_failures: 0, last_seen_at: at }
  await db.updateTable('mail_messages').set(change).where('key', 'in', keys).execute()
}

/** Counts a failed move, and returns the number of failures in a row; 0: the mail is forgotten. */
export async function addMoveFailure(db: WriteDb, keys: readonly string[]): Promise<number> {
  const rows = await db
    .updateTable('mail_messages')
    .set((of) => ({ move_failures: of('move_failures', '+', 1) }))
    .where('key', 'in', keys)
    .returning('move_failures')
    .execute()
  return Math.max(0, ...rows.map(({ move_failures }) => move_failures))
}

/**
 * Deletes the mail of a mailbox that was taken, or was last seen, with this number, inside a transaction. A folder may
 * have renewed its numbers: then the mail that was taken last is deleted. Returns a row; undefined: there is none.
 */
export async function deleteMailMessage(
  db: WriteDb,
  mailboxId: number,
  uid: number,
): Promise<MailMessage | undefined> {
  const newest = await db
    .selectFrom('mail_messages')
    .selectAll()
    .where('mailbox_id', '=', mailboxId)
    .where((of) => of.or([of('taken_uid', '=', uid), of('uid', '=', uid)]))
    .orderBy('taken_at', 'desc')
    .orderBy('key')
    .executeTakeFirst()
  if (!newest) return undefined
  const rows = db.deleteFrom('mail_messages').where('mailbox_id', '=', mailboxId)
  const { uidvalidity, taken_at } = newest
  await rows.where((of) => of.and({ uidvalidity, uid: newest.uid, taken_at })).execute()
  return newest
}

/** Deletes at most `limit` mails that no round has seen since an instant, and returns their number. */
export async function deleteForgottenMail(db: WriteDb, before: string, limit: number): Promise<number> {
  const keys = db.selectFrom('mail_messages').select('key').where('last_seen_at', '<', before).limit(limit)
  const query = db.deleteFrom('mail_messages').where('key', 'in', keys)
  return Number((await query.executeTakeFirstOrThrow()).numDeletedRows)
}
