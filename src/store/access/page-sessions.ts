// Sessions of the page. Rows have hashes alone: a copy of the database opens nothing.

import { atomically } from '../engine.ts'
import { prepared } from '../prepared.ts'
import type { ReadDb, Row, SessionEnd, WriteDb } from '../tables.ts'

export type PageSessionRow = Row<'page_sessions'>

/** A session with the ids of its key and token, by current or former secrets. */
export type ListedSession = Omit<PageSessionRow, 'page' | 'key' | 'token'> & {
  key_id: number | null
  token_id: number | null
}

/** Last instants of expired sessions of a kind. */
type Expired = Pick<PageSessionRow, 'remember' | 'opened_at' | 'used_at'>

const selectSession = prepared<ReadDb, { id: string }, PageSessionRow>(['id'], (db, { id }) =>
  db.selectFrom('page_sessions').selectAll().where('id', '=', id),
)

/**
 * Adds a session. Ends expired ones, and deletes those that ended at `forgotten` or earlier. Beyond `most` sessions it
 * deletes those that ended, then the longest unused.
 */
export function insertPageSession(
  db: WriteDb,
  session: PageSessionRow,
  { expired, forgotten, most }: { expired: readonly Expired[]; forgotten: string; most: number },
): Promise<void> {
  return atomically(db, async (trx) => {
    const end = (reason: SessionEnd, { remember }: Expired) =>
      endSessions(trx, reason, session.opened_at).where('remember', '=', remember)
    for (const limits of expired) {
      await end('idle', limits).where('used_at', '<=', limits.used_at).execute()
      await end('age', limits).where('opened_at', '<=', limits.opened_at).execute()
    }
    await trx.deleteFrom('page_sessions').where('ended_at', '<=', forgotten).execute()
    const rows = await trx
      .selectFrom('page_sessions')
      .select('id')
      .orderBy('ended_at', (order) => order.desc().nullsFirst())
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

/** Finds a session by the hash of the page's half alone, open or not. */
export function findPageSessionByPage(db: ReadDb, page: string): Promise<PageSessionRow | undefined> {
  return db.selectFrom('page_sessions').selectAll().where('page', '=', page).executeTakeFirst()
}

/** Selects sessions that were not ended, also expired ones. The last used one is first. */
export function selectOpenPageSessions(db: ReadDb, now: string): Promise<ListedSession[]> {
  return db
    .selectFrom('page_sessions as session')
    .leftJoin('api_keys', 'api_keys.hash', 'session.key')
    .leftJoin('tokens', 'tokens.hash', 'session.token')
    .leftJoin('former_secrets as former_key', (join) =>
      join.onRef('former_key.hash', '=', 'session.key').on('former_key.ends_at', '>', now),
    )
    .leftJoin('former_secrets as former_token', (join) =>
      join.onRef('former_token.hash', '=', 'session.token').on('former_token.ends_at', '>', now),
    )
    .select([
      ...(['session.id', 'session.opened_at', 'session.used_at', 'session.person'] as const),
      ...(['session.remember', 'session.ended_at', 'session.end_reason'] as const),
    ])
    .select((of) => [
      of.fn.coalesce('api_keys.id', 'former_key.key_id').as('key_id'),
      of.fn.coalesce('tokens.id', 'former_token.token_id').as('token_id'),
    ])
    .where('session.ended_at', 'is', null)
    .orderBy('session.used_at', 'desc')
    .orderBy('session.id')
    .execute()
}

export async function updatePageSession(
  db: WriteDb,
  id: string,
  values: Partial<Pick<PageSessionRow, 'key' | 'token' | 'used_at' | 'remember'>>,
): Promise<void> {
  await db.updateTable('page_sessions').set(values).where('id', '=', id).execute()
}

export async function deletePageSession(db: WriteDb, id: string): Promise<void> {
  await db.deleteFrom('page_sessions').where('id', '=', id).execute()
}

/**
 * Ends the other sessions of a session's person. Without a person: those that have no person either, and the same key or
 * token.
 */
export async function endOtherSessions(
  db: WriteDb,
  { id, person, key, token }: Pick<PageSessionRow, 'id' | 'person' | 'key' | 'token'>,
  now: string,
): Promise<void> {
  const others = endSessions(db, 'closed', now).where('id', '!=', id)
  if (person !== null) return void (await others.where('person', '=', person).execute())
  await others
    .where('person', 'is', null)
    .where((of) => of.or([of('key', '=', key), of('token', '=', token)]))
    .execute()
}

/** Ends the open sessions whose ids begin with a text, and returns their number. */
export async function endSessionsByPrefix(db: WriteDb, prefix: string, now: string): Promise<number> {
  const sessions = endSessions(db, 'closed', now).where('id', '>=', prefix).where('id', '<', `${prefix}g`)
  return (await sessions.returning('id').execute()).length
}

/** Ends the open sessions of a person, and returns their number. */
export async function endSessionsOfPerson(db: WriteDb, person: string, now: string): Promise<number> {
  return (await endSessions(db, 'closed', now).where('person', '=', person).returning('id').execute()).length
}

function endSessions(db: WriteDb, reason: SessionEnd, now: string) {
  return db
    .updateTable('page_sessions')
    .set({ ended_at: now, end_reason: reason, key: null, token: null })
    .where('ended_at', 'is', null)
}
