// Contents that are known to be lost: rows name them, and no file of theirs is there. Usually there are none.

import { setImmediate } from 'node:timers/promises'
import { dialectOf } from './engine.ts'
import { portionsOf } from './portions.ts'
import type { Db, Row } from './tables.ts'

/** `fault`: what was wrong with it, in words; `since`: when that became known. */
export type LostContent = Row<'lost_contents'>

const AT_ONCE = 500

/** By SHA-256; none in a database of a schema that knows of no lost contents. */
export async function selectLostContents(db: Db): Promise<LostContent[]> {
  if (!(await dialectOf(db).hasTable(db, 'lost_contents'))) return []
  return db.selectFrom('lost_contents').selectAll().orderBy('sha256').execute()
}

export async function findLostContent(db: Db, sha256: string): Promise<LostContent | undefined> {
  return db.selectFrom('lost_contents').selectAll().where('sha256', '=', sha256).executeTakeFirst()
}

/** Which of these contents are known to be lost. They may be hundreds of thousands: others have their turn. */
export async function selectLostAmong(db: Db, contents: Iterable<string>): Promise<string[]> {
  const any = await db.selectFrom('lost_contents').select('sha256').limit(1).executeTakeFirst()
  if (!any) return [] // one look for an upload of any number
  const lost = new Set<string>()
  for (const some of portionsOf(contents, AT_ONCE)) {
    const rows = await db.selectFrom('lost_contents').select('sha256').where('sha256', 'in', some).execute()
    for (const { sha256 } of rows) lost.add(sha256)
    if (some.length === AT_ONCE) await setImmediate()
  }
  return [...lost]
}

/** Notes that contents are lost; of what is known to be so nothing changes. */
export async function insertLostContents(db: Db, contents: readonly LostContent[]): Promise<void> {
  for (let at = 0; at < contents.length; at += AT_ONCE) {
    await db
      .insertInto('lost_contents')
      .values(contents.slice(at, at + AT_ONCE))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}

/** Forgets that contents were lost: they are there again, or no row names them any more. */
export async function deleteLostContents(db: Db, contents: readonly string[]): Promise<void> {
  for (const some of portionsOf(contents, AT_ONCE)) {
    await db.deleteFrom('lost_contents').where('sha256', 'in', some).execute()
  }
}
