// Copies of invoices: documents of one company, kind and clave.

import type { ReadDb } from '../tables.ts'
import type { StoredInvoice } from './invoices.ts'

const GROUP = ['invoices.company_id', 'invoices.clave', 'invoices.kind', 'invoices.consecutive'] as const

type CopyFacts = Pick<StoredInvoice, 'company_id' | 'clave' | 'kind' | 'consecutive'>

/** Documents of one company, clave, kind and consecutive: the first and the last. */
export type CopyGroup = CopyFacts & { first_id: number; last_id: number }

/** Selects the blobs of a company with the claves of these rows. `agentId`: only documents for this agent. */
export function selectClaveBlobs(
  db: ReadDb,
  companyId: number,
  rows: readonly Pick<StoredInvoice, 'clave'>[],
  agentId: number | undefined,
) {
  const claves = new Set(rows.flatMap(({ clave }) => clave ?? []))
  const query = db
    .selectFrom('invoices')
    .where('invoices.company_id', '=', companyId)
    .where('invoices.clave', 'in', [...claves])
    .where('invoices.source', '=', 'content')
    .where('invoices.fault', 'is', null)
  if (agentId === undefined) return query
  return query.where((of) =>
    of.exists(
      of
        .selectFrom('documents')
        .select('documents.id')
        .whereRef('documents.id', '=', 'invoices.document_id')
        .where('documents.agent_id', '=', agentId),
    ),
  )
}

/** Finds all blobs with the claves of these invoices. `agentId`: only documents for this agent. */
export async function selectCopyGroups(
  db: ReadDb,
  invoices: readonly CopyFacts[],
  agentId: number | undefined,
): Promise<CopyGroup[]> {
  const groups: CopyGroup[] = []
  for (const [companyId, own] of Map.groupBy(invoices, ({ company_id }) => company_id)) {
    const rows = await selectClaveBlobs(db, companyId, own, agentId)
      .groupBy(GROUP)
      .select(GROUP)
      .select((of) => [
        of.fn.min('invoices.document_id').as('first_id'),
        of.fn.max('invoices.document_id').as('last_id'),
      ])
      .execute()
    groups.push(...rows)
  }
  return groups
}

/** Identifies an invoice among the copies of a company. A receiver may answer an invoice twice. */
export function copyKey({ company_id, kind, clave, consecutive }: CopyFacts): string {
  return [company_id, kind, clave, kind === 'MensajeReceptor' && consecutive].join(' ')
}

/** Returns the keys of copies with different bytes among those of these invoices. */
export async function selectAlteredKeys(
  db: ReadDb,
  invoices: readonly CopyFacts[],
  agentId: number | undefined,
): Promise<Set<string>> {
  const blobs = new Map<string, Set<string>>()
  for (const [companyId, own] of Map.groupBy(invoices, ({ company_id }) => company_id)) {
    const groups = await selectClaveBlobs(db, companyId, own, agentId)
      .innerJoin('documents as copies', 'copies.id', 'invoices.document_id')
      .innerJoin('attachments', 'attachments.id', 'copies.attachment_id')
      .groupBy(GROUP)
      .select(GROUP)
      .select((of) => [
        of.fn.min('attachments.sha256').as('least'),
        of.fn.max('attachments.sha256').as('greatest'),
      ])
      .execute()
    for (const { least, greatest, ...group } of groups)
      blobs
        .getOrInsertComputed(copyKey(group), () => new Set())
        .add(least)
        .add(greatest)
  }
  return new Set([...blobs].flatMap(([key, sha256s]) => (sha256s.size > 1 ? key : [])))
}

/** A stored invoice, once for each SHA-256. */
export type StoredCopy = CopyFacts & { sha256: string; first_id: number }

/** Finds stored copies of these invoices: with their SHA-256, or made by a token of this name. */
export async function selectRepeatedCopies(
  db: ReadDb,
  invoices: readonly (CopyFacts & { sha256: string })[],
  { agentId, creator }: { agentId: number | undefined; creator: string },
): Promise<StoredCopy[]> {
  const copies: StoredCopy[] = []
  for (const [companyId, own] of Map.groupBy(invoices, ({ company_id }) => company_id)) {
    const sha256s = own.map(({ sha256 }) => sha256)
    const rows = await selectClaveBlobs(db, companyId, own, agentId)
      .innerJoin('documents as copies', 'copies.id', 'invoices.document_id')
      .innerJoin('attachments', 'attachments.id', 'copies.attachment_id')
      .leftJoin('tokens', 'tokens.id', 'copies.created_by')
      .where((of) => of.or([of('attachments.sha256', 'in', sha256s), of('tokens.name', '=', creator)]))
      .groupBy([...GROUP, 'attachments.sha256'])
      .select([...GROUP, 'attachments.sha256'])
      .select((of) => of.fn.min('invoices.document_id').as('first_id'))
      .execute()
    copies.push(...rows)
  }
  return copies
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
