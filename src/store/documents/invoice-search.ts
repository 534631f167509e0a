// Search of documents by facts of their invoices. Indices have the rows of a company's clave and issuer in the order of
// ids. No index has those of kinds and days in that order.

import type { IsoDate } from '../../values/dates.ts'
import type { ReadDb } from '../tables.ts'

/** Facts that a document has; at least one. */
export type InvoiceFilter = {
  clave?: string | undefined
  /** Without leading zeros. */
  issuerId?: string | undefined
  kind?: string | undefined
  /** First and last day of the invoice. */
  issuedFrom?: IsoDate | undefined
  issuedTo?: IsoDate | undefined
}

/** Least and greatest id. `none`: no document; undefined: no limits. */
export type IdLimits = { least: number; greatest: number } | 'none' | undefined

/** Returns whether an index has the invoices of a company in the order of ids. */
export function isInvoiceIndexed({ clave, issuerId }: InvoiceFilter): boolean {
  return clave !== undefined || issuerId !== undefined
}

/** Selects the invoices of a clave or else of an issuer. An index has them by company. */
export function selectIndexed(db: ReadDb, { clave, issuerId }: InvoiceFilter) {
  const query = db.selectFrom('invoices')
  if (clave !== undefined) return query.where('invoices.clave', '=', clave)
  return query.where('invoices.issuer_id', '=', issuerId ?? '')
}

/** Returns the ids of the companies with invoices of a clave or an issuer. */
export async function selectInvoiceCompanies(db: ReadDb, filter: InvoiceFilter): Promise<number[]> {
  const { clave, issuerId = '' } = filter
  const rows = await db
    .selectFrom('companies')
    .select('companies.id')
    .where((of) => {
      const own = of
        .selectFrom('invoices')
        .select('invoices.document_id')
        .whereRef('invoices.company_id', '=', 'companies.id')
      return of.exists(
        clave === undefined
          ? own.where('invoices.issuer_id', '=', issuerId)
          : own.where('invoices.clave', '=', clave),
      )
    })
    .orderBy('companies.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns the ids between which the invoices of a period are; no limits: they are more than `most`. */
export async function findIssuedIds(
  db: ReadDb,
  companyId: number | undefined,
  { issuedFrom, issuedTo }: InvoiceFilter,
  most: number,
): Promise<IdLimits> {
  if (issuedFrom === undefined && issuedTo === undefined) return undefined
  const row = await db
    .selectFrom((from) => {
      const invoices = from.selectFrom('invoices').select('document_id as id')
      let query =
        companyId === undefined
          ? invoices.where('company_id', 'in', (of) => of.selectFrom('companies').select('companies.id'))
          : invoices.where('company_id', '=', companyId)
      if (issuedFrom !== undefined) query = query.where('date', '>=', issuedFrom)
      if (issuedTo !== undefined) query = query.where('date', '<=', issuedTo)
      return query.limit(most + 1).as('issued')
    })
    .select((of) => [
      of.fn.min('id').as('least'),
      of.fn.max('id').as('greatest'),
      of.fn.countAll<number>().as('count'),
    ])
    .executeTakeFirstOrThrow()
  if (row.count === 0) return 'none'
  return row.count > most ? undefined : { least: row.least, greatest: row.greatest }
}
