import type { ReadDb, Row, WriteDb } from '../tables.ts'
import { insertParty } from './parties.ts'

/** `company_id` is null for an owner that may own documents of any company. */
export type OwnerRow = Row<'owners'>

/** Owners by id: all, or those of one company. */
export function selectOwners(db: ReadDb, companyId?: number): Promise<OwnerRow[]> {
  const query = db.selectFrom('owners').selectAll().orderBy('id')
  return (companyId === undefined ? query : query.where('company_id', '=', companyId)).execute()
}

/** Selects owners by id that may own documents of a company, also those without one. `after`: only greater ids. */
export function selectOwnerPage(
  db: ReadDb,
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

export function findOwner(db: ReadDb, id: number): Promise<OwnerRow | undefined> {
  return db.selectFrom('owners').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Adds an owner, with the next free id if it has none. */
export function insertOwner(
  db: WriteDb,
  owner: { id?: number | undefined; name: string; company_id: number | null; createdAt: string },
): Promise<OwnerRow> {
  return insertParty(db, 'owners', owner)
}

export async function updateOwner(
  db: WriteDb,
  { id, name, company_id }: Omit<OwnerRow, 'created_at'>,
): Promise<void> {
  await db.updateTable('owners').set({ name, company_id }).where('id', '=', id).execute()
}
