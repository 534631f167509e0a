// Mails of a mailbox that were refused, or of which parts were left out. Their texts are of strangers.

import type { ReadDb, Row, WriteDb } from '../tables.ts'

/** `parts`: JSON. `reason` is null for a mail that became documents. */
export type LeftMailRow = Row<'mail_left'>

const MOST = 20 // rows of a mailbox

/** Selects the rows of some mailboxes, the last one first. */
export function selectLeftMails(db: ReadDb, mailboxIds: readonly number[]): Promise<LeftMailRow[]> {
  if (mailboxIds.length === 0) return Promise.resolve([])
  return newestFirst(db, mailboxIds).selectAll().execute()
}

/**
 * Inserts a mail, and deletes all but the last 20 of its mailbox, inside a transaction. Returns false for one that is
 * recorded with this reason already, because it could not be moved. Renews the row of another reason.
 */
export async function insertLeftMail(trx: WriteDb, mail: LeftMailRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await trx
    .insertInto('mail_left')
    .values(mail)
    .onConflict((on) => {
      const renewal = on.columns(['mailbox_id', 'uidvalidity', 'uid']).doUpdateSet(mail)
      return mail.reason === null
        ? renewal
        : renewal.where('mail_left.reason', 'is distinct from', mail.reason)
    })
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) return false
  const all = await newestFirst(trx, [mail.mailbox_id]).select(['uidvalidity', 'uid']).execute()
  for (const { uidvalidity, uid } of all.slice(MOST)) {
    const query = trx.deleteFrom('mail_left').where('mailbox_id', '=', mail.mailbox_id)
    await query.where((of) => of.and({ uidvalidity, uid })).execute()
  }
  return true
}

/** Deletes the rows of a mailbox. */
export async function deleteLeftMails(db: WriteDb, mailboxId: number): Promise<void> {
  await db.deleteFrom('mail_left').where('mailbox_id', '=', mailboxId).execute()
}

function newestFirst(db: ReadDb, mailboxIds: readonly number[]) {
  const query = db.selectFrom('mail_left').where('mailbox_id', 'in', mailboxIds)
  return query.orderBy('at', 'desc').orderBy('uidvalidity', 'desc').orderBy('uid', 'desc')
}
