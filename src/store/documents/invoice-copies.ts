// Copies of invoices: documents of one company, kind and clave.

import type { ReadDb } from '../tables.ts'
import type { StoredInvoice } from './invoices.ts'

/** Documents of one company, clave, kind and consecutive: the first and the last. */
export type CopyGroup = {
  company_id: number
  clave: string
  kind: string
  consecutive: string | null
  first_id: number
  last_id: number
}

/** Finds all blobs with the claves of these invoices. `agentId`: only documents for this agent. */
export async function selectCopyGroups(
  db: ReadDb,
  invoices: readonly Pick<StoredInvoice, 'company_id' | 'clave'>[],
  agentId: number | undefined,
): Promise<CopyGroup[]> {
  const groups: CopyGroup[] = []
  for (const companyId of new Set(invoices.map(({ company_id }) => company_id))) {
    const claves = new Set(invoices.flatMap((one) => (one.company_id === companyId && one.clave) || []))
    if (claves.size === 0) continue
    let query = db
      .selectFrom('invoices')
      .where('invoices.company_id', '=', companyId)
      .where('invoices.clave', 'in', [...claves])
      .where('invoices.source', '=', 'content')
      .where('invoices.fault', 'is', null)
    if (agentId !== undefined) {
      query = query
        .innerJoin('documents', 'documents.id', 'invoices.document_id')
        .where('documents.agent_id', '=', agentId)
    }
    const rows = await query
      .groupBy(['invoices.company_id', 'invoices.clave', 'invoices.kind', 'invoices.consecutive'])
      .select(['invoices.company_id', 'invoices.clave', 'invoices.kind', 'invoices.consecutive'])
      .select((of) => [
        of.fn.min('invoices.document_id').as('first_id'),
        of.fn.max('invoices.document_id').as('last_id'),
      ])
      .execute()
    groups.push(...rows.map((row) => ({ ...row, clave: row.clave ?? '', kind: row.kind ?? '' })))
  }
  return groups
}

/** Identifies an invoice among the copies of a company. A receiver may answer an invoice twice. */
export function copyKey({
  company_id,
  kind,
  clave,
  consecutive,
}: Pick<StoredInvoice, 'company_id' | 'kind' | 'clave' | 'consecutive'>): string {
  return [company_id, kind, clave, kind === 'MensajeReceptor' && consecutive].join(' ')
}

/** Returns the SHA-256 of documents, by document. */
export async function selectSha256s(
  db: ReadDb,
  documentIds: readonly number[],
): Promise<Map<number, string>> {
  if (documentIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .select(['documents.id', 'attachments.sha256'])
    .where('documents.id', 'in', documentIds)
    .execute()
  return new Map(rows.map(({ id, sha256 }) => [id, sha256]))
}
