// The tables `contents` and `removed_objects`, by the database's clock. Rows are locked in the order of their SHA-256, so that
// two uploads of the same contents do not wait for each other.

import { AppError } from '../../errors.ts'
import type { ContentRows, KeptContent } from '../contents.ts'
import { selectLostAmong } from '../lost-contents.ts'
import type { Db } from '../tables.ts'
import { ask } from './ask.ts'

type Marked = { mark: string | null }

const AT_ONCE = 1000
const TRIES = 5
const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`
const NOW = `to_char(clock_timestamp() at time zone 'UTC', ${ISO})`

/** An instant so long ago, such as `12 hours`, as the rows have them. */
const ago = (interval: string) => `to_char((clock_timestamp() - ${interval}) at time zone 'UTC', ${ISO})`

const LISTED = ago(`interval '20 hours'`)

// Of a list of names as `given (name)`.
const OWNED = `select 1 from contents where object = given.name or (object is null and sha256 = given.name)`
// The name of a file is that of its content, which documents may name though a row of it is missing.
const UNNAMED = `not exists (select 1 from attachments where sha256 = given.name)`
const FREE = `not exists (${OWNED}) and ${UNNAMED}`

export function contentRows(db: Db): ContentRows {
  return {
    async objectOf(sha256) {
      const { rows } = await ask<{ object: string | null }>(
        db,
        'select object from contents where sha256 = $1',
        [sha256],
      )
      return rows[0]?.object
    },
    async has(kind) {
      const which = kind === 'objects' ? 'is not null' : 'is null'
      return (await ask(db, `select 1 from contents where object ${which} limit 1`)).rows.length > 0
    },
    async claim(trx, contents) {
      const sorted = [...contents].sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
      for (let at = 0; at < sorted.length; at += AT_ONCE) await claimSome(trx, sorted.slice(at, at + AT_ONCE))
    },
    async release(trx, sha256) {
      const { rows } = await ask<{ name: string }>(
        trx,
        `delete from contents where sha256 = $1 and not exists (select 1 from attachments where sha256 = $1)
         returning coalesce(object, sha256) as name`,
        [sha256],
      )
      await remove(
        trx,
        rows.map(({ name }) => name),
      )
      return rows.length > 0
    },
    async unknownAmong(names) {
      const { rows } = await ask<{ name: string }>(
        db,
        `select name from unnest($1::text[]) as given (name) where ${FREE}
         and not exists (select 1 from removed_objects where object = given.name)`,
        [names],
      )
      return rows.map(({ name }) => name)
    },
    remove,
    async due(days, after, limit) {
      const { rows } = await ask<{ object: string }>(
        db,
        `select object from removed_objects where removed_at <= ${ago(`$1 * interval '1 day'`)} and object > $2
         order by object limit $3`,
        [days, after, limit],
      )
      return rows.map(({ object }) => object)
    },
    async freeAmong(trx, names) {
      const { rows } = await ask<{ name: string }>(
        trx,
        `select name from unnest($1::text[]) as given (name) where ${FREE}`,
        [names],
      )
      return rows.map(({ name }) => name)
    },
    async unlinkFree(trx, sha256, unlink) {
      const { numAffectedRows } = await ask(
        trx,
        `insert into contents (sha256, size, created_at) values ($1, 0, ${NOW}) on conflict do nothing`,
        [sha256],
      )
      if (numAffectedRows === 0n) return false
      const { rows: free } = await ask(
        trx,
        `select name from (select $1::text as name) as given where ${UNNAMED}`,
        [sha256],
      )
      if (free.length > 0) await unlink()
      await ask(trx, 'delete from contents where sha256 = $1', [sha256])
      return free.length > 0
    },
    async forget(trx, names) {
      await ask(trx, 'delete from removed_objects where object = any($1)', [names])
    },
    async mark(among) {
      const { rows } = await ask<Marked>(among, 'select contents_mark as mark from meta')
      return rows[0]?.mark ?? undefined
    },
    async setMark(trx, make) {
      const { rows } = await ask<Marked>(trx, 'select contents_mark as mark from meta for update')
      const known = rows[0]?.mark
      if (known) return known
      const mark = await make()
      await ask(trx, 'update meta set contents_mark = $1', [mark])
      return mark
    },
    async isListingDue() {
      const { rows } = await ask(
        db,
        `select 1 from meta where contents_listed_at is null or contents_listed_at < ${LISTED}`,
      )
      return rows.length > 0
    },
    async noteListing(trx) {
      await ask(trx, `update meta set contents_listed_at = ${NOW}`)
    },
  }
}

async function claimSome(trx: Db, contents: readonly KeptContent[]): Promise<void> {
  let rest = contents
  for (let tries = 0; tries < TRIES; tries++) {
    const made = await insertContents(trx, rest)
    rest = rest.filter(({ sha256 }) => !made.has(sha256))
    if (rest.length === 0) return
    const found = await lockContents(trx, rest)
    rest = rest.filter(({ sha256 }) => !found.has(sha256)) // of which a deletion was committed in between
    if (rest.length === 0) return
  }
  throw new AppError('busy', 'The same content is being deleted: try again in a moment')
}

async function insertContents(trx: Db, contents: readonly KeptContent[]): Promise<Set<string>> {
  const sent = contents.map(({ sha256, size, object }) => [sha256, object ?? null, size])
  const { rows } = await ask<{ sha256: string }>(
    trx,
    `insert into contents (sha256, object, size, created_at)
     select value ->> 0, value ->> 1, (value ->> 2)::bigint, ${NOW}
     from json_array_elements($1::json) as kept (value)
     order by value ->> 0
     on conflict (sha256) do nothing returning sha256`,
    [JSON.stringify(sent)],
  )
  return new Set(rows.map(({ sha256 }) => sha256))
}

/** Locks the rows that there are, and settles which object each of their contents has. */
async function lockContents(trx: Db, contents: readonly KeptContent[]): Promise<Set<string>> {
  const hashes = contents.map(({ sha256 }) => sha256)
  const isHealing = (await selectLostAmong(trx, hashes)).length > 0
  const { rows } = await ask<{ sha256: string; object: string | null }>(
    trx,
    `select sha256, object from contents where sha256 = any($1) order by sha256
     for ${isHealing ? 'update' : 'key share'}`,
    [hashes],
  )
  const objects = new Map(rows.map(({ sha256, object }) => [sha256, object]))
  const lost = new Set(isHealing ? await selectLostAmong(trx, hashes) : []) // another upload may have healed some
  const removed: string[] = []
  for (const { sha256, size, object } of contents) {
    const before = objects.get(sha256)
    if (before === undefined || object === undefined || before === object) continue
    if (before !== null && !lost.has(sha256)) {
      removed.push(object)
      continue
    }
    await ask(trx, 'update contents set object = $2, size = $3 where sha256 = $1', [sha256, object, size])
    if (before !== null) removed.push(before)
  }
  await remove(trx, removed)
  return new Set(objects.keys())
}

async function remove(trx: Db, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await ask(
    trx,
    `insert into removed_objects (object, removed_at)
     select name, ${NOW} from unnest($1::text[]) as given (name) where not exists (${OWNED})
     on conflict (object) do update set removed_at = excluded.removed_at`,
    [names],
  )
}
