// The rows that name objects, as a database of several nodes has them, in one of SQLite.

import { sql } from 'kysely'
import type { ObjectRows } from '../../../src/store/blobs/bucket/bucket.ts'
import type { KeptContent } from '../../../src/store/contents.ts'
import { findLostContent } from '../../../src/store/lost-contents.ts'
import type { Db } from '../../../src/store/tables.ts'

export type BucketRows = ObjectRows & {
  /** Objects that no content has any more. */
  removed(): Promise<string[]>
}

export async function openBucketRows(db: Db): Promise<BucketRows> {
  await sql`create table contents (sha256 text primary key, object text unique, size integer not null)`.execute(
    db,
  )
  await sql`create table removed_objects (object text primary key)`.execute(db)
  const objectOf = async (on: Db, sha256: string) => {
    const found = sql<{ object: string }>`select object from contents where sha256 = ${sha256}`
    return (await found.execute(on)).rows[0]?.object
  }
  const forget = async (trx: Db, sha256: string, object: string) => {
    await sql`delete from contents where sha256 = ${sha256}`.execute(trx)
    await sql`insert into removed_objects values (${object})`.execute(trx)
  }
  return {
    objectOf: (sha256) => objectOf(db, sha256),
    async claim(trx, contents: Iterable<KeptContent>) {
      for (const { sha256, size, object } of contents) {
        const kept = await objectOf(trx, sha256)
        if (kept !== undefined && (await findLostContent(trx, sha256))) await forget(trx, sha256, kept)
        else if (kept !== undefined) {
          await sql`insert into removed_objects values (${object})`.execute(trx)
          continue
        }
        await sql`insert into contents values (${sha256}, ${object}, ${size})`.execute(trx)
      }
    },
    async release(trx, sha256) {
      const object = await objectOf(trx, sha256)
      if (object === undefined) return false
      await forget(trx, sha256, object)
      return true
    },
    async removed() {
      return (await sql<{ object: string }>`select object from removed_objects`.execute(db)).rows.map(
        ({ object }) => object,
      )
    },
  }
}
