// Messages of hooks that ended: delivered, or given up. Their bodies are stored, so that each can be sent again.

import type { SelectQueryBuilder } from 'kysely'
import { hasRow, insertBatches } from '../rows.ts'
import type { ReadDb, Row, Tables, WriteDb } from '../tables.ts'
import type { MessageRow } from './messages.ts'

export type DeliveryRow = Row<'hook_deliveries'>

export type DeliveryFilter = { hookId?: number | undefined; failedOnly: boolean }

/** End of messages. `status`: of the last answer; null: none. `failure`: null: delivered. `tries`: further tries. */
export type MessageEnd = { at: string; status: number | null; failure: string | null; tries: 0 | 1 }

const COPIED = ['hook_id', 'message_id', 'type', 'body'] as const

/**
 * Moves messages of a hook from the queue to the deliveries, inside the transaction that ends them. Moves one message,
 * the messages up to the id `newest`, or all. Returns their number.
 */
export async function endMessages(
  db: WriteDb,
  { hookId, id, newest }: { hookId: number; id?: number; newest?: number },
  { at, status, failure, tries }: MessageEnd,
): Promise<number> {
  let query = db.deleteFrom('hook_messages').where('hook_id', '=', hookId)
  if (id !== undefined) query = query.where('id', '=', id)
  if (newest !== undefined) query = query.where('id', '<=', newest)
  // Deleted first: another node may end some of them at the same time, or add one.
  const messages = await query.returning([...COPIED, 'id', 'created_at', 'tries']).execute()
  const deliveries = messages
    .sort((one, other) => one.id - other.id)
    .map(({ id: _, ...message }) => ({
      ...message,
      ...{ tries: message.tries + tries, ended_at: at, status, failure },
    }))
  await insertBatches(db, 'hook_deliveries', deliveries)
  return deliveries.length
}

/**
 * Records that a message arrived after its end as given up, when the attempt was under way at that end. Returns whether
 * it had ended so.
 */
export async function confirmDelivery(
  db: WriteDb,
  { hook_id, message_id, created_at }: MessageRow,
  { at, status }: Pick<MessageEnd, 'at' | 'status'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('hook_deliveries')
    .set((of) => ({ status, failure: null, ended_at: at, tries: of('tries', '+', 1) }))
    .where('hook_id', '=', hook_id)
    .where('message_id', '=', message_id)
    .where('created_at', '=', created_at)
    .where('failure', 'is not', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Ends all but the newest `most` messages of a hook, and returns their number. */
export async function endOldestMessages(
  db: WriteDb,
  hookId: number,
  most: number,
  end: MessageEnd,
): Promise<number> {
  const last = await db
    .selectFrom('hook_messages')
    .select('id')
    .where('hook_id', '=', hookId)
    .orderBy('id', 'desc')
    .offset(most)
    .limit(1)
    .executeTakeFirst()
  return last ? endMessages(db, { hookId, newest: last.id }, end) : 0
}

/** Selects deliveries, newest first. `before`: only those with smaller ids. */
export function selectDeliveries(
  db: ReadDb,
  filter: DeliveryFilter,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<DeliveryRow[]> {
  const query = filterDeliveries(db, filter).selectAll().orderBy('id', 'desc').limit(limit)
  return (before === undefined ? query : query.where('id', '<', before)).execute()
}

export function hasDelivery(db: ReadDb, id: number): Promise<boolean> {
  return hasRow(db.selectFrom('hook_deliveries').select('id').where('id', '=', id))
}

/**
 * Queues messages again, once each: the delivery of an id, or those that ended at an instant or later. Leaves out
 * waiting messages. Returns the hook of each queued message.
 */
export async function requeueDeliveries(
  db: WriteDb,
  { id, since, ...filter }: DeliveryFilter & { id?: number | undefined; since?: string | undefined },
  now: string,
): Promise<number[]> {
  let query = filterDeliveries(db, filter)
  if (id !== undefined) query = query.where('id', '=', id)
  if (since !== undefined) query = query.where('ended_at', '>=', since)
  const messages = query
    .distinct()
    .select((of) => [
      ...COPIED,
      of.cast<string>(of.val(now), 'text').as('created_at'),
      of.cast<string>(of.val(now), 'text').as('due_at'),
    ])
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom('hook_messages')
            .select('hook_messages.id')
            .whereRef('hook_messages.hook_id', '=', 'hook_deliveries.hook_id')
            .whereRef('hook_messages.message_id', '=', 'hook_deliveries.message_id'),
        ),
      ),
    )
  const rows = await db
    .insertInto('hook_messages')
    .columns([...COPIED, 'created_at', 'due_at'])
    .expression(messages)
    .returning('hook_id')
    .execute()
  return rows.map(({ hook_id }) => hook_id)
}

/** Deletes at most `limit` deliveries that ended before an instant, and returns their number. */
export function deleteOldDeliveries(db: WriteDb, before: string, limit: number): Promise<number> {
  return deleteDeliveries(db, (of) => of.where('ended_at', '<', before).limit(limit))
}

/** Deletes at most `limit` deliveries of a hook, the oldest beyond the newest `most`. Returns their number. */
export function deleteExcessDeliveries(
  db: WriteDb,
  hookId: number,
  { most, limit }: { most: number; limit: number },
): Promise<number> {
  return deleteDeliveries(db, (of) =>
    of.where('hook_id', '=', hookId).orderBy('id', 'desc').offset(most).limit(limit),
  )
}

type Ids = SelectQueryBuilder<Tables, 'hook_deliveries', { id: number }>

async function deleteDeliveries(db: WriteDb, choose: (ids: Ids) => Ids): Promise<number> {
  const ids = choose(db.selectFrom('hook_deliveries').select('id'))
  const query = db.deleteFrom('hook_deliveries').where('id', 'in', ids)
  return Number((await query.executeTakeFirstOrThrow()).numDeletedRows)
}

function filterDeliveries(db: ReadDb, { hookId, failedOnly }: DeliveryFilter) {
  let query = db.selectFrom('hook_deliveries')
  if (hookId !== undefined) query = query.where('hook_id', '=', hookId)
  if (failedOnly) query = query.where('failure', 'is not', null)
  return query
}
