// The tables `contents` and `removed_objects`: the blobs of a store, and the names that it may remove. Uploads lock
// rows in the order of their SHA-256, which prevents deadlocks.

import { AppError } from '../../runtime/errors.ts'
import { splitBatches } from '../batches.ts'
import { engineSql } from '../engine.ts'
import { preparedInsert } from '../prepared.ts'
import { hasRow } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'
import { type BlobInfo, type StoredName, selectReferencedHashes, type UploadedBlob } from './blob-info.ts'
import { deleteLostBlobs } from './lost-blobs.ts'
import { selectOrphanNames } from './orphans.ts'

/** A blob with its name in the store. */
export type NamedBlob = BlobInfo & { name: StoredName }

export const ROWS_AT_ONCE = 200 // a millisecond or two
const PAGE = 1000
const TRIES = 5
const LISTED_MS = 20 * 3_600_000

const insertRows = preparedInsert((db, rows: readonly Row<'contents'>[]) =>
  db
    .insertInto('contents')
    .values(rows)
    .onConflict((on) => on.column('sha256').doNothing())
    .returning('sha256'),
)

const replaceRows = preparedInsert((db, rows: readonly Row<'contents'>[]) =>
  db
    .insertInto('contents')
    .values(rows)
    .onConflict((on) =>
      on
        .column('sha256')
        .doUpdateSet((of) => ({ object: of.ref('excluded.object'), size: of.ref('excluded.size') })),
    ),
)

/** Returns the object of a blob; null: a file named by its hash; undefined: no such blob. */
export async function findObject(db: ReadDb, sha256: string): Promise<string | null | undefined> {
  const query = db.selectFrom('contents').select('object').where('sha256', '=', sha256)
  return (await query.executeTakeFirst())?.object
}

/** Returns whether any blob is of this kind. */
export function hasBlobs(db: ReadDb, kind: 'objects' | 'files'): Promise<boolean> {
  const query = db.selectFrom('contents').select('sha256').limit(1)
  return hasRow(query.where('object', kind === 'objects' ? 'is not' : 'is', null))
}

/**
 * Inserts or locks the rows of at most ROWS_AT_ONCE blobs in the transaction of an upload. No deletion removes them
 * before the commit. If a blob already has an object, the upload's object replaces it, and the old one is recorded as
 * removed.
 * @throws AppError `busy` after five concurrent deletions of the same blobs
 */
export async function insertReferences(
  trx: WriteDb,
  blobs: readonly UploadedBlob[],
  at: string,
): Promise<void> {
  let rest = blobs
  for (let tries = 0; tries < TRIES; tries++) {
    const inserted = await insertBlobRows(trx, rest, at)
    rest = rest.filter(({ sha256 }) => !inserted.has(sha256))
    if (rest.length === 0) return
    const locked = await lockReferences(trx, rest, at)
    rest = rest.filter(({ sha256 }) => !locked.has(sha256)) // a deletion of the others was committed in between
    if (rest.length === 0) return
  }
  throw new AppError('busy', 'The same content is being deleted: try again in a moment')
}

/** Locks the rows of blobs, first in a transaction that drops references: no upload adds one until its end. */
export async function lockBlobRows(trx: WriteDb, hashes: Iterable<string>): Promise<void> {
  for (const some of splitBatches([...hashes].sort(), ROWS_AT_ONCE)) {
    const query = trx.selectFrom('contents').select('sha256').where('sha256', 'in', some).orderBy('sha256')
    await engineSql(trx).lockRows(query, 'update', ['contents']).execute()
  }
}

/**
 * Deletes the rows of unreferenced blobs, in a transaction that has locked them. Records their names in the store as
 * removed, and returns their SHA-256.
 */
export async function dropReferences(trx: WriteDb, hashes: Iterable<string>, at: string): Promise<string[]> {
  const dropped: string[] = []
  for (const some of splitBatches(hashes, ROWS_AT_ONCE)) {
    const references = trx.selectFrom('attachments').select('sha256').where('sha256', 'in', some)
    const rows = await trx
      .deleteFrom('contents')
      .where('sha256', 'in', some)
      .where('sha256', 'not in', references)
      .returning(['sha256', 'object'])
      .execute()
    const names = rows.map(({ sha256, object }) => object ?? sha256)
    await insertRemoved(trx, names, at)
    dropped.push(...rows.map(({ sha256 }) => sha256))
  }
  await deleteLostBlobs(trx, dropped)
  return dropped
}

/** Returns the names that belong to no blob and are not recorded as removed. */
export async function selectUnknownNames(db: ReadDb, names: readonly StoredName[]): Promise<StoredName[]> {
  const free = await selectFreeNames(db, names)
  const removals = await selectRemovalTimes(db, free)
  return free.filter((name) => !removals.has(name))
}

/** Returns when names were recorded as removed. */
export async function selectRemovalTimes(
  db: ReadDb,
  names: readonly StoredName[],
): Promise<ReadonlyMap<StoredName, string>> {
  const rows = await db.selectFrom('removed_objects').selectAll().where('object', 'in', names).execute()
  return new Map(rows.map(({ object, removed_at }) => [object, removed_at]))
}

/** Returns the names that belong to no blob. Documents can reference a file although its row is missing. */
export async function selectFreeNames(db: ReadDb, names: readonly StoredName[]): Promise<StoredName[]> {
  const owners = (await selectUsedNames(db, names)).union(await selectReferencedHashes(db, names))
  return names.filter((name) => !owners.has(name))
}

/** Records names as removed since an instant, except those of existing blobs and of lost documents. */
export async function insertRemoved(trx: WriteDb, names: readonly StoredName[], at: string): Promise<void> {
  if (names.length === 0) return
  const retained = (await selectUsedNames(trx, names)).union(await selectOrphanNames(trx, names))
  const objects = names.filter((name) => !retained.has(name))
  if (objects.length === 0) return
  await trx
    .insertInto('removed_objects')
    .values(objects.map((object) => ({ object, removed_at: at })))
    .onConflict((on) =>
      on.column('object').doUpdateSet((of) => ({ removed_at: of.ref('excluded.removed_at') })),
    )
    .execute()
}

/** Selects names that were recorded as removed up to an instant, by name. `after`: only greater names. */
export async function selectRemoved(
  db: ReadDb,
  { upTo, after, limit }: { upTo: string; after: StoredName; limit: number },
): Promise<StoredName[]> {
  const rows = await db
    .selectFrom('removed_objects')
    .select('object')
    .where('removed_at', '<=', upTo)
    .where('object', '>', after)
    .orderBy('object')
    .limit(limit)
    .execute()
  return rows.map(({ object }) => object)
}

/** Deletes the records of names that were removed, or that belong to a blob again. */
export async function deleteRemoved(trx: WriteDb, names: readonly StoredName[]): Promise<void> {
  if (names.length > 0) await trx.deleteFrom('removed_objects').where('object', 'in', names).execute()
}

/**
 * Calls `take`, in a transaction, for each of these files that belongs to no blob. Uploads of the same blobs wait for
 * the end of the transaction, and then find no files.
 */
export async function takeFreeFiles(
  trx: WriteDb,
  hashes: readonly string[],
  at: string,
  take: (sha256: string) => Promise<void>,
): Promise<void> {
  const ordered = hashes.toSorted().map((sha256) => ({ sha256, size: 0 }))
  const locks = [...(await insertBlobRows(trx, ordered, at))]
  const names = await selectReferencedHashes(trx, locks)
  for (const sha256 of locks) if (!names.has(sha256)) await take(sha256)
  await trx.deleteFrom('contents').where('sha256', 'in', locks).execute()
}

/** Returns the store id of this database; undefined: no store has been used yet. */
export async function findStoreId(db: ReadDb): Promise<string | undefined> {
  const row = await db.selectFrom('meta').select('contents_mark').executeTakeFirst()
  return row?.contents_mark ?? undefined
}

/** Returns the store id, or stores a new one of `make`. Other nodes wait for the end of the transaction. */
export async function ensureStoreId(trx: WriteDb, make: () => Promise<string>): Promise<string> {
  const query = trx.selectFrom('meta').select('contents_mark')
  const row = await engineSql(trx).lockRows(query, 'update', ['meta']).executeTakeFirst()
  if (row?.contents_mark) return row.contents_mark
  const storeId = await make()
  await trx.updateTable('meta').set({ contents_mark: storeId }).execute()
  return storeId
}

export async function updateStoreId(db: WriteDb, storeId: string): Promise<void> {
  await db.updateTable('meta').set({ contents_mark: storeId }).execute()
}

/** Returns whether the last comparison of the store with its rows was over 20 hours ago. */
export async function isListingDue(db: ReadDb, now: Date): Promise<boolean> {
  const row = await db.selectFrom('meta').select('contents_listed_at').executeTakeFirst()
  const listed = row?.contents_listed_at ?? ''
  return listed < new Date(now.getTime() - LISTED_MS).toISOString()
}

export async function updateListedAt(trx: WriteDb, now: Date): Promise<void> {
  await trx.updateTable('meta').set({ contents_listed_at: now.toISOString() }).execute()
}

/** Yields blobs by name, in the order of a listing, read in pages. */
export async function* selectNamedBlobs(db: ReadDb): AsyncGenerator<NamedBlob> {
  for (const name of ['sha256', 'object'] as const) {
    for (let after = ''; ; ) {
      const page = await db
        .selectFrom('contents')
        .select((of) => [of.ref(name).$castTo<string>().as('name'), 'sha256', 'size'])
        .where('object', name === 'object' ? 'is not' : 'is', null)
        .where(name, '>', after)
        .orderBy(name)
        .limit(PAGE)
        .execute()
      yield* page
      const last = page.at(-1)
      if (!last) break
      after = last.name
    }
  }
}

/** Selects referenced blobs without a row; there are none, except after manual changes of the database. */
export function selectBlobsWithoutRow(db: ReadDb): Promise<BlobInfo[]> {
  return db
    .selectFrom('attachments')
    .select((of) => ['sha256', of.fn.max<number>('size').as('size')])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('contents')
            .select('contents.sha256')
            .whereRef('contents.sha256', '=', 'attachments.sha256'),
        ),
      ),
    )
    .groupBy('sha256')
    .orderBy('sha256')
    .execute()
}

/** Returns those of the hashes that have a row. */
export async function selectHashesWithRow(db: ReadDb, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await db.selectFrom('contents').select('sha256').where('sha256', 'in', hashes).execute()
  return new Set(rows.map(({ sha256 }) => sha256))
}

async function insertBlobRows(
  trx: WriteDb,
  blobs: readonly UploadedBlob[],
  created_at: string,
): Promise<Set<string>> {
  const rows = await insertRows(trx, blobRows(blobs, created_at))
  return new Set(rows.map(({ sha256 }) => sha256))
}

/**
 * Locks the existing rows. An uploaded object replaces the stored one, which may be missing or altered. Equal files have
 * one name, so that their uploads need not wait for each other.
 */
async function lockReferences(
  trx: WriteDb,
  blobs: readonly UploadedBlob[],
  at: string,
): Promise<Set<string>> {
  const hashes = blobs.map(({ sha256 }) => sha256)
  const uploads = blobs.filter(({ object }) => object !== undefined)
  const query = trx
    .selectFrom('contents')
    .select(['sha256', 'object'])
    .where('sha256', 'in', hashes)
    .orderBy('sha256')
  const locked = engineSql(trx).lockRows(query, uploads.length > 0 ? 'update' : 'share', ['contents'])
  const objects = new Map((await locked.execute()).map(({ sha256, object }) => [sha256, object]))
  const replacements = uploads.filter(({ sha256 }) => objects.has(sha256))
  await replaceRows(trx, blobRows(replacements, at))
  const before = [...objects.values()].filter((object) => object !== null)
  await insertRemoved(trx, before, at)
  return new Set(objects.keys())
}

function blobRows(blobs: readonly UploadedBlob[], created_at: string): Row<'contents'>[] {
  return blobs.map(({ sha256, size, object = null }) => ({ sha256, size, object, created_at }))
}

async function selectUsedNames(db: ReadDb, names: readonly StoredName[]): Promise<Set<StoredName>> {
  const rows = await db
    .selectFrom('contents')
    .select(['sha256', 'object'])
    .where((of) =>
      of.or([of('object', 'in', names), of.and([of('object', 'is', null), of('sha256', 'in', names)])]),
    )
    .execute()
  return new Set(rows.map(({ sha256, object }) => object ?? sha256))
}
