import { dialectOf } from '../engine.ts'
import type { Db, Row } from '../tables.ts'

/** `company_id` is null for an owner that may own documents of any company. */
export type OwnerRow = Row<'owners'>

/** Owners by id: all, or those of one company. */
export function selectOwners(db: Db, companyId?: number): Promise<OwnerRow[]> {
  const query = db.selectFrom('owners').selectAll().orderBy('id')
  return (companyId === undefined ? query : query.where('company_id', '=', companyId)).execute()
}

/** Owners by id that may own documents of a company, those of no company among them: of greater ids than `after`. */
export function selectOwnersForAfter(
  db: Db,
  companyId: number,
  { after, limit }: { after: number; limit: number },
): Promise<OwnerRow[]> {
  return db
    .selectFrom('owners')
    .selectAll()
    .where((of) => of.or([of('company_id', '=', companyId), of('company_id', 'is', null)]))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
}

export function findOwner(db: Db, id: number): Promise<OwnerRow | undefined> {
  return db.selectFrom('owners').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Adds an owner, under the next free id if it brings none. */
export async function insertOwner(
  db: Db,
  owner: { id?: number | undefined; name: string; company_id: number | null; createdAt: string },
): Promise<OwnerRow> {
  const { createdAt: created_at, ...rest } = owner
  const row = await db
    .insertInto('owners')
    .values({ ...rest, created_at })
    .returningAll()
    .executeTakeFirstOrThrow()
  if (rest.id !== undefined) await dialectOf(db).moveIds(db, 'owners', row.id)
  return row
}

export async function updateOwner(
  db: Db,
  { id, name, company_id }: Omit<OwnerRow, 'created_at'>,
): Promise<void> {
  await db.updateTable('owners').set({ name, company_id }).where('id', '=', id).execute()
}
