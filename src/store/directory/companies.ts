import { dialectOf } from '../engine.ts'
import type { Db, Row } from '../tables.ts'

export type CompanyRow = Row<'companies'>

/** Every company, by id. */
export function selectCompanies(db: Db): Promise<CompanyRow[]> {
  return db.selectFrom('companies').selectAll().orderBy('id').execute()
}

/** Companies by id: those of greater ids than `after`, or, of these, the one of this id. */
export function selectCompaniesAfter(
  db: Db,
  { after, limit, id }: { after: number; limit: number; id?: number | undefined },
): Promise<CompanyRow[]> {
  const query = db.selectFrom('companies').selectAll().where('id', '>', after).orderBy('id').limit(limit)
  return (id === undefined ? query : query.where('id', '=', id)).execute()
}

export function findCompany(db: Db, id: number): Promise<CompanyRow | undefined> {
  return db.selectFrom('companies').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The company of this id, if its code is this one, letter by letter. */
export function findCompanyByCode(db: Db, id: number, code: string): Promise<CompanyRow | undefined> {
  return db
    .selectFrom('companies')
    .selectAll()
    .where('id', '=', id)
    .where('code', '=', code)
    .executeTakeFirst()
}

export function findCompanyOfCode(db: Db, code: string): Promise<CompanyRow | undefined> {
  return db.selectFrom('companies').selectAll().where('code', '=', code).executeTakeFirst()
}

/** Adds a company, under the next free id if it brings none. */
export async function insertCompany(
  db: Db,
  company: {
    id?: number | undefined
    name: string
    code: string
    quota?: number | null | undefined
    createdAt: string
  },
): Promise<CompanyRow> {
  const { createdAt: created_at, ...rest } = company
  const row = await db
    .insertInto('companies')
    .values({ ...rest, created_at })
    .returningAll()
    .executeTakeFirstOrThrow()
  if (rest.id !== undefined) await dialectOf(db).moveIds(db, 'companies', row.id)
  return row
}

export async function updateCompany(
  db: Db,
  { id, name, code }: Pick<CompanyRow, 'id' | 'name' | 'code'>,
): Promise<void> {
  await db.updateTable('companies').set({ name, code }).where('id', '=', id).execute()
}

/** Returns the company as it is now, or undefined when there is none of this id. `quota`: bytes, null: none. */
export function updateCompanyQuota(
  db: Db,
  id: number,
  quota: number | null,
): Promise<CompanyRow | undefined> {
  return db.updateTable('companies').set({ quota }).where('id', '=', id).returningAll().executeTakeFirst()
}
