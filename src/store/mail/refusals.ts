// Refused mails of a mailbox, without senders and subjects.

import type { ReadDb, Row, WriteDb } from '../tables.ts'

export type MailRefusal = Row<'mail_refusals'>

const MOST = 20 // rows of a mailbox

/** Selects the refused mails of a mailbox, the last one first. */
export function selectRefusals(db: ReadDb, mailboxId: number): Promise<MailRefusal[]> {
  return newestRefusals(db, mailboxId).selectAll().limit(MOST).execute()
}

/**
 * Inserts a refused mail, and deletes all but the last 20 of its mailbox, inside a transaction. Returns false for one
 * that is recorded already, because it could not be moved.
 */
export async function insertRefusal(trx: WriteDb, refusal: MailRefusal): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await trx
    .insertInto('mail_refusals')
    .values(refusal)
    .onConflict((on) => on.columns(['mailbox_id', 'uidvalidity', 'uid']).doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) return false
  const all = await newestRefusals(trx, refusal.mailbox_id).select(['uidvalidity', 'uid']).execute()
  for (const { uidvalidity, uid } of all.slice(MOST)) {
    const query = trx.deleteFrom('mail_refusals').where('mailbox_id', '=', refusal.mailbox_id)
    await query.where((of) => of.and({ uidvalidity, uid })).execute()
  }
  return true
}

/** Deletes the refused mails of a mailbox. */
export async function deleteRefusals(db: WriteDb, mailboxId: number): Promise<void> {
  await db.deleteFrom('mail_refusals').where('mailbox_id', '=', mailboxId).execute()
}

function newestRefusals(db: ReadDb, mailboxId: number) {
  const query = db.selectFrom('mail_refusals').where('mailbox_id', '=', mailboxId)
  return query.orderBy('at', 'desc').orderBy('uidvalidity', 'desc').orderBy('uid', 'desc')
}
