// The rows of contents by the names that the store of contents has them under, a page at a time and in the order of a
// listing, so that the two can be compared without having either of them in memory.

import type { Content } from '../../contents.ts'
import type { Db } from '../../tables.ts'
import { ask } from '../ask.ts'

export type NamedContent = Content & { name: string }

const PAGE = 1000

/** Of all contents, by name. They are all objects, or all files whose name is their SHA-256. */
export async function* selectNamedContents(db: Db): AsyncGenerator<NamedContent> {
  for (const [name, which] of [
    ['sha256', 'is null'],
    ['object', 'is not null'],
  ]) {
    for (let after = ''; ; ) {
      const { rows } = await ask<NamedContent>(
        db,
        `select ${name} as name, sha256, size from contents where object ${which} and ${name} > $1
         order by ${name} limit ${PAGE}`,
        [after],
      )
      yield* rows
      const last = rows.at(-1)
      if (!last) break
      after = last.name
    }
  }
}

/** The contents that documents need and that have no row: none, but where somebody wrote by hand. */
export async function selectContentsWithoutRow(db: Db): Promise<Content[]> {
  const { rows } = await ask<Content>(
    db,
    `select sha256, max(size) as size from attachments a
     where not exists (select 1 from contents c where c.sha256 = a.sha256) group by sha256 order by sha256`,
  )
  return rows
}

/** Which of these names a row has. */
export async function selectKnownNames(db: Db, names: readonly string[]): Promise<Set<string>> {
  const { rows } = await ask<{ name: string }>(
    db,
    `select name from unnest($1::text[]) as given (name)
     where exists (select 1 from contents where object = name or (object is null and sha256 = name))
       or exists (select 1 from removed_objects where object = name)`,
    [names],
  )
  return new Set(rows.map(({ name }) => name))
}

/** Which of these contents have a row. */
export async function selectSentAmong(db: Db, hashes: readonly string[]): Promise<Set<string>> {
  const { rows } = await ask<Pick<Content, 'sha256'>>(
    db,
    'select sha256 from contents where sha256 = any($1)',
    [hashes],
  )
  return new Set(rows.map(({ sha256 }) => sha256))
}
