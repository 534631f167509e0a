// Sessions of the page. Rows have hashes alone: a copy of the database opens nothing.

import { atomically } from '../engine.ts'
import { prepared } from '../prepared.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

export type PageSessionRow = Row<'page_sessions'>

const selectSession = prepared<ReadDb, { id: string }, PageSessionRow>(['id'], (db, { id }) =>
  db.selectFrom('page_sessions').selectAll().where('id', '=', id),
)

/**
 * Adds a session. Deletes sessions that were opened or last used at the instants of `over` or earlier. Beyond `most`
 * sessions it deletes the longest unused.
 */
export function insertPageSession(
  db: WriteDb,
  session: PageSessionRow,
  { over, most }: { over: Pick<PageSessionRow, 'opened_at' | 'used_at'>; most: number },
): Promise<void> {
  return atomically(db, async (trx) => {
    await trx.deleteFrom('page_sessions').where('used_at', '<=', over.used_at).execute()
    await trx.deleteFrom('page_sessions').where('opened_at', '<=', over.opened_at).execute()
    const rows = await trx
      .selectFrom('page_sessions')
      .select('id')
      .orderBy('used_at', 'desc')
      .orderBy('id')
      .limit(most)
      .offset(most - 1)
      .execute()
    const ids = rows.map(({ id }) => id).sort() // locks rows in the same order on all nodes
    if (ids.length > 0) await trx.deleteFrom('page_sessions').where('id', 'in', ids).execute()
    await trx.insertInto('page_sessions').values(session).execute()
  })
}

export async function findPageSession(db: ReadDb, id: string): Promise<PageSessionRow | undefined> {
  const [row] = await selectSession(db, { id })
  return row
}

export async function updatePageSession(
  db: WriteDb,
  id: string,
  values: Partial<Pick<PageSessionRow, 'key' | 'token' | 'used_at'>>,
): Promise<void> {
  await db.updateTable('page_sessions').set(values).where('id', '=', id).execute()
}

export async function deletePageSession(db: WriteDb, id: string): Promise<void> {
  await db.deleteFrom('page_sessions').where('id', '=', id).execute()
}
