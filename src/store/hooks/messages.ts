// The queue of the hooks: a row a message and hook, until it has arrived or is given up.

import type { Db, Row } from '../tables.ts'

export type MessageRow = Row<'hook_messages'>
export type NewMessage = Omit<MessageRow, 'id' | 'tries'>

const ROWS_AT_ONCE = 50

export async function insertMessages(db: Db, messages: readonly NewMessage[]): Promise<void> {
  for (let at = 0; at < messages.length; at += ROWS_AT_ONCE) {
    await db
      .insertInto('hook_messages')
      .values(messages.slice(at, at + ROWS_AT_ONCE))
      .execute()
  }
}

/** Leaves the newest `most` messages of a hook, and returns how many were deleted. */
export async function deleteMessagesBeyond(db: Db, hookId: number, most: number): Promise<number> {
  const newest = await db
    .selectFrom('hook_messages')
    .select('id')
    .where('hook_id', '=', hookId)
    .orderBy('id', 'desc')
    .offset(most)
    .limit(1)
    .executeTakeFirst()
  if (!newest) return 0
  const { numDeletedRows } = await db
    .deleteFrom('hook_messages')
    .where('hook_id', '=', hookId)
    .where('id', '<=', newest.id)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/**
 * Messages of a hook whose time has come, the one that is due for longest first, without those of these ids. What would be
 * due after `latest` was planned by a clock that was wrong: it is due now.
 */
export async function selectDueMessages(
  db: Db,
  hookId: number,
  due: { now: string; latest: string; except: readonly number[]; limit: number },
): Promise<MessageRow[]> {
  let query = db.selectFrom('hook_messages').selectAll().where('hook_id', '=', hookId)
  if (due.except.length > 0) query = query.where('id', 'not in', due.except)
  query = query.orderBy('due_at')
  // One after the other, not with an OR: that would sort thousands of bodies each time.
  const come = await query.where('due_at', '<=', due.now).limit(due.limit).execute()
  if (come.length === due.limit) return come
  const wrong = query.where('due_at', '>', due.latest).limit(due.limit - come.length)
  return [...come, ...(await wrong.execute())]
}

/** When the next message of these hooks is due after an instant. */
export async function findNextDue(
  db: Db,
  hookIds: readonly number[],
  after: string,
): Promise<string | undefined> {
  let next: string | undefined
  for (const id of hookIds) {
    const row = await db
      .selectFrom('hook_messages')
      .select('due_at')
      .where('hook_id', '=', id)
      .where('due_at', '>', after)
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst()
    if (row && (next === undefined || row.due_at < next)) next = row.due_at
  }
  return next
}

/** Writes down that a try failed, and when the next is due. */
export async function updateMessageTried(db: Db, id: number, tries: number, dueAt: string): Promise<void> {
  await db.updateTable('hook_messages').set({ tries, due_at: dueAt }).where('id', '=', id).execute()
}

/** Lets all that waits for a hook be due now. */
export async function updateMessagesDue(db: Db, hookId: number, now: string): Promise<void> {
  await db.updateTable('hook_messages').set({ due_at: now }).where('hook_id', '=', hookId).execute()
}

export async function deleteMessage(db: Db, id: number): Promise<void> {
  await db.deleteFrom('hook_messages').where('id', '=', id).execute()
}

/** Returns how many there were. */
export async function deleteMessagesOf(db: Db, hookId: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('hook_messages')
    .where('hook_id', '=', hookId)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** How many wait for each hook for which any do. */
export async function countMessages(db: Db): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('hook_messages')
    .select((of) => ['hook_id', of.fn.countAll<number>().as('count')])
    .groupBy('hook_id')
    .execute()
  return new Map(rows.map(({ hook_id, count }) => [hook_id, count]))
}
