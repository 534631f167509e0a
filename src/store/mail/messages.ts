// Mails whose parts became documents. A row prevents that the same parts of the same mail become documents again.

import type { WriteDb } from '../tables.ts'

/** Deletes at most `limit` mails that no round has seen since an instant, and returns their number. */
export async function deleteForgottenMail(db: WriteDb, before: string, limit: number): Promise<number> {
  const keys = db.selectFrom('mail_messages').select('key').where('last_seen_at', '<', before).limit(limit)
  const query = db.deleteFrom('mail_messages').where('key', 'in', keys)
  return Number((await query.executeTakeFirstOrThrow()).numDeletedRows)
}
