// Links that sign a browser in once. Only the SHA-256 of the code in a link is kept.

import type { Db, Row } from '../tables.ts'

export type LoginLinkRow = Row<'login_links'>

/** Adds a link, and removes those that have ended. */
export async function insertLoginLink(db: Db, link: LoginLinkRow, now: string): Promise<void> {
  await db.deleteFrom('login_links').where('ends_at', '<=', now).execute()
  await db.insertInto('login_links').values(link).execute()
}

/** The link of this hash, if it has not ended. */
export function findLoginLink(db: Db, hash: string, now: string): Promise<LoginLinkRow | undefined> {
  return db
    .selectFrom('login_links')
    .selectAll()
    .where('hash', '=', hash)
    .where('ends_at', '>', now)
    .executeTakeFirst()
}

/** Removes a link that has not ended, and returns whether it was there: of two that use it at once one has it. */
export async function deleteLoginLink(db: Db, hash: string, now: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('login_links')
    .where('hash', '=', hash)
    .where('ends_at', '>', now)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
