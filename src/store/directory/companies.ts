import type { ReadDb, Row, WriteDb } from '../tables.ts'
import { type IdPage, insertParty } from './parties.ts'

export type CompanyRow = Row<'companies'>

/** Selects companies by id. `id`: only that one; `after`: only greater ids. */
export function selectCompanies(db: ReadDb, { id, after = 0, limit }: IdPage = {}): Promise<CompanyRow[]> {
  const query = db.selectFrom('companies').selectAll().where('id', '>', after).orderBy('id')
  const own = query.where((of) => of.and({ id }))
  return (limit === undefined ? own : own.limit(limit)).execute()
}

export function findCompany(db: ReadDb, id: number): Promise<CompanyRow | undefined> {
  return db.selectFrom('companies').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns the company of this id if its code is the same, with the same case. */
export function findCompanyByIdAndCode(
  db: ReadDb,
  id: number,
  code: string,
): Promise<CompanyRow | undefined> {
  const query = db.selectFrom('companies').selectAll().where('id', '=', id)
  return query.where('code', '=', code).executeTakeFirst()
}

export function findCompanyByCode(db: ReadDb, code: string): Promise<CompanyRow | undefined> {
  return db.selectFrom('companies').selectAll().where('code', '=', code).executeTakeFirst()
}

/** Adds a company, with the next free id if it has none. */
export function insertCompany(
  db: WriteDb,
  company: {
    id?: number | undefined
    name: string
    code: string
    quota?: number | null | undefined
    createdAt: string
  },
): Promise<CompanyRow> {
  return insertParty(db, 'companies', company)
}

export async function updateCompany(
  db: WriteDb,
  { id, name, code }: Pick<CompanyRow, 'id' | 'name' | 'code'>,
): Promise<void> {
  await db.updateTable('companies').set({ name, code }).where('id', '=', id).execute()
}

/** Updates a company and returns it; undefined when there is none of this id. `quota`: bytes; null: none. */
export function updateCompanyQuota(
  db: WriteDb,
  id: number,
  quota: number | null,
): Promise<CompanyRow | undefined> {
  return db.updateTable('companies').set({ quota }).where('id', '=', id).returningAll().executeTakeFirst()
}
