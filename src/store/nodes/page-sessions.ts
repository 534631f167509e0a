// Sessions and tickets of the page, where any of several nodes may get the next request of a browser. Only hashes are kept.

import { atomically } from '../engine.ts'
import type { Db } from '../tables.ts'
import { ofNodes, type RowOfNodes } from './tables.ts'

export type PageSessionRow = RowOfNodes<'page_sessions'>
export type PageTicketRow = RowOfNodes<'page_tickets'>

/** Before these instants a session was opened, or used for the last time, that is over. */
export type OverBefore = { openedAt: string; usedAt: string }

/** Adds a session, and removes those that are over; of more than `most` those that were not used for longest. */
export function insertPageSession(
  db: Db,
  session: PageSessionRow,
  { over, most }: { over: OverBefore; most: number },
): Promise<void> {
  return atomically(db, async (one) => {
    const trx = ofNodes(one)
    await trx.deleteFrom('page_sessions').where('used_at', '<=', over.usedAt).execute()
    await trx.deleteFrom('page_sessions').where('opened_at', '<=', over.openedAt).execute()
    const rows = await trx
      .selectFrom('page_sessions')
      .select('id')
      .orderBy('used_at', 'desc')
      .orderBy('id')
      .offset(most - 1)
      .execute()
    const ids = rows.map(({ id }) => id).sort()
    if (ids.length > 0) await trx.deleteFrom('page_sessions').where('id', 'in', ids).execute()
    await trx.insertInto('page_sessions').values(session).execute()
  })
}

export function findPageSession(db: Db, id: string, over: OverBefore): Promise<PageSessionRow | undefined> {
  return ofNodes(db)
    .selectFrom('page_sessions')
    .selectAll()
    .where('id', '=', id)
    .where('used_at', '>', over.usedAt)
    .where('opened_at', '>', over.openedAt)
    .executeTakeFirst()
}

export async function updatePageSession(
  db: Db,
  id: string,
  values: Partial<Pick<PageSessionRow, 'key' | 'token' | 'used_at'>>,
): Promise<void> {
  await ofNodes(db).updateTable('page_sessions').set(values).where('id', '=', id).execute()
}

export async function deletePageSession(db: Db, id: string): Promise<void> {
  await ofNodes(db).deleteFrom('page_sessions').where('id', '=', id).execute()
}

/** Adds a ticket, and removes those that have ended by `now`. */
export async function insertPageTicket(db: Db, ticket: PageTicketRow, now: string): Promise<void> {
  await ofNodes(db).deleteFrom('page_tickets').where('ends_at', '<=', now).execute()
  await ofNodes(db).insertInto('page_tickets').values(ticket).execute()
}

export function findPageTicket(db: Db, hash: string, now: string): Promise<PageTicketRow | undefined> {
  return ofNodes(db)
    .selectFrom('page_tickets')
    .selectAll()
    .where('hash', '=', hash)
    .where('ends_at', '>', now)
    .executeTakeFirst()
}

/** Removes a ticket and returns it if it has not ended: of two requests that use it at once one has it. */
export function takePageTicket(db: Db, hash: string, now: string): Promise<PageTicketRow | undefined> {
  return ofNodes(db)
    .deleteFrom('page_tickets')
    .where('hash', '=', hash)
    .where('ends_at', '>', now)
    .returningAll()
    .executeTakeFirst()
}
