// Secrets that are valid once: links that sign a browser in, tickets of the page, and links for a document. Rows have
// hashes alone: a copy of the database opens nothing.

import { atomically } from '../engine.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

type OneTimeTable = 'login_links' | 'page_tickets' | 'upload_links'

/** Adds a row, and deletes rows that have ended. */
export function insertOneTime<Name extends OneTimeTable>(
  db: WriteDb,
  table: Name,
  row: Row<Name>,
  now: string,
): Promise<void> {
  return atomically(db, async (trx) => {
    await trx
      .deleteFrom(table as OneTimeTable)
      .where('ends_at', '<=', now)
      .execute()
    await trx
      .insertInto(table)
      .values(row as never)
      .execute()
  })
}

/** Finds the row of a hash, if it has not ended. */
export async function findOneTime<Name extends OneTimeTable>(
  db: ReadDb,
  table: Name,
  hash: string,
  now: string,
): Promise<Row<Name> | undefined> {
  const query = db.selectFrom(table as OneTimeTable).selectAll()
  const row = await query.where('hash', '=', hash).where('ends_at', '>', now).executeTakeFirst()
  return row as Row<Name> | undefined
}

/** Deletes a row and returns it if it has not ended. If two requests use it at once, only one gets it. */
export async function takeOneTime<Name extends OneTimeTable>(
  db: WriteDb,
  table: Name,
  hash: string,
  now: string,
): Promise<Row<Name> | undefined> {
  const query = db.deleteFrom(table as OneTimeTable).where('hash', '=', hash)
  return (await query.where('ends_at', '>', now).returningAll().executeTakeFirst()) as Row<Name> | undefined
}
