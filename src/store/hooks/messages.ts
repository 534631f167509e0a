// Queue of the hooks: a row for each message and hook, until it is delivered or given up.

import type { ReadDb, Row, WriteDb } from '../tables.ts'

export type MessageRow = Row<'hook_messages'>

/**
 * Selects the due messages of a hook, earliest first, without the ids of `except`. Messages after `latest` were planned
 * by a wrong clock: they are due now.
 */
export async function selectDueMessages(
  db: ReadDb,
  hookId: number,
  filter: { now: string; latest: string; except: readonly number[]; limit: number },
): Promise<MessageRow[]> {
  let query = db.selectFrom('hook_messages').selectAll().where('hook_id', '=', hookId)
  if (filter.except.length > 0) query = query.where('id', 'not in', filter.except)
  query = query.orderBy('due_at')
  // Two queries instead of an OR, which would sort thousands of bodies each time.
  const due = await query.where('due_at', '<=', filter.now).limit(filter.limit).execute()
  if (due.length === filter.limit) return due
  const wrong = query.where('due_at', '>', filter.latest).limit(filter.limit - due.length)
  return [...due, ...(await wrong.execute())]
}

/** Returns the first due time of these hooks after an instant. */
export async function findNextDue(
  db: ReadDb,
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

/** Records a failed attempt, and the due time of the next one. Returns whether the message is queued. */
export async function updateMessageAttempt(
  db: WriteDb,
  id: number,
  tries: number,
  dueAt: string,
): Promise<boolean> {
  const query = db.updateTable('hook_messages').set({ tries, due_at: dueAt }).where('id', '=', id)
  return (await query.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Makes all queued messages of a hook due now. */
export async function updateMessagesDue(db: WriteDb, hookId: number, now: string): Promise<void> {
  await db.updateTable('hook_messages').set({ due_at: now }).where('hook_id', '=', hookId).execute()
}

/** Counts the queued messages of each hook that has any. */
export async function countMessages(db: ReadDb): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('hook_messages')
    .select((of) => ['hook_id', of.fn.countAll<number>().as('count')])
    .groupBy('hook_id')
    .execute()
  return new Map(rows.map(({ hook_id, count }) => [hook_id, count]))
}
