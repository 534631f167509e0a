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
    tax_ids?: string | null | undefined
    createdAt: string
  },
): Promise<CompanyRow> {
  return insertParty(db, 'companies', company)
}

export async function updateCompany(
  db: WriteDb,
  { id, name, code, tax_ids }: Pick<CompanyRow, 'id' | 'name' | 'code' | 'tax_ids'>,
): Promise<void> {
  await db.updateTable('companies').set({ name, code, tax_ids }).where('id', '=', id).execute()
}

/**
 * Updates a company and returns it; undefined when there is none of this id. `quota`: bytes; null: none. An undefined
 * value does not change.
 */
export function updateCompanySettings(
  db: WriteDb,
  id: number,
  { quota, tax_ids }: { quota?: number | null | undefined; tax_ids?: string | null | undefined },
): Promise<CompanyRow | undefined> {
  const values = { ...(quota !== undefined && { quota }), ...(tax_ids !== undefined && { tax_ids }) }
  return db.updateTable('companies').set(values).where('id', '=', id).returningAll().executeTakeFirst()
}

/** Returns the tax ids of companies that have any, by company. */
export async function selectTaxIds(db: ReadDb, ids: readonly number[]): Promise<Map<number, Set<string>>> {
  const rows = await db
    .selectFrom('companies')
    .select(['id', 'tax_ids'])
    .where('id', 'in', ids)
    .where('tax_ids', 'is not', null)
    .execute()
  return new Map(rows.map(({ id, tax_ids }) => [id, new Set(tax_ids?.split(','))]))
}
