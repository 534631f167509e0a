// Queries of documents, companies, owners and agents, within the access of a client.

import { AppError } from '../../runtime/errors.ts'
import { type AgentRow, selectAgents } from '../../store/directory/agents.ts'
import { type CompanyRow, findCompany, selectCompanies } from '../../store/directory/companies.ts'
import { type OwnerRow, selectOwnerPage } from '../../store/directory/owners.ts'
import { selectPartyNames } from '../../store/directory/parties.ts'
import { selectLeaseEnds } from '../../store/documents/claims.ts'
import { findNewestId } from '../../store/documents/context.ts'
import { type DocumentRow, findDocument, selectDocuments } from '../../store/documents/documents.ts'
import { type DocumentFilter, searchedFacts } from '../../store/documents/filter.ts'
import type { LeaseSql } from '../../store/engine.ts'
import type { ReadDb } from '../../store/tables.ts'
import { type Access, accessFilter, checkCompanyAccess } from './access.ts'
import type { DocumentWaiters } from './arrivals.ts'
import type { DocumentsRequest, PageRequest } from './page-request.ts'
import { searchDocuments } from './search.ts'

/** `last`: id to continue from; undefined: that of the last document. */
export type DocumentsPage = { documents: DocumentRow[]; hasMore: boolean; last?: number | undefined }

/** Lists a page of the documents. @throws AppError `not-found` for a company or an agent outside of the access */
export async function listDocuments(
  db: ReadDb,
  access: Access,
  request: DocumentsRequest,
): Promise<DocumentsPage> {
  const { page, states } = request
  const filter = accessFilter(access, request)
  const [state, ...others] = states ?? []
  const facts = searchedFacts(request)
  const isSearch = Object.values(facts).some((one) => one !== undefined) || others.length > 0
  // No index has the documents of a company and a state by id.
  const isMerged = state !== undefined && filter.companyId !== undefined && filter.agentId === undefined
  if (isSearch || isMerged) return searchDocuments(db, { ...request, ...filter })
  // An extra row shows whether there is a next page.
  const rows = await selectDocuments(db, { ...filter, state, ...page, limit: page.limit + 1 })
  return { documents: rows.slice(0, page.limit), hasMore: rows.length > page.limit }
}

const ROWS_AT_ONCE = 200 // a few milliseconds, with what is known of their invoices

/**
 * Lists all documents page by page: those that exist when their page is read.
 * @throws AppError like `listDocuments`
 */
export async function* listPages(
  db: ReadDb,
  access: Access,
  { order, ...request }: DocumentFilter & Pick<PageRequest, 'order'>,
): AsyncGenerator<DocumentRow[], void> {
  for (let page: PageRequest = { limit: ROWS_AT_ONCE, order }; ; ) {
    const {
      documents,
      hasMore,
      last = documents.at(-1)?.id,
    } = await listDocuments(db, access, {
      ...request,
      page,
    })
    yield documents
    if (!hasMore || last === undefined) return
    page = { ...page, ...(order === 'asc' ? { after: last } : { before: last }) }
  }
}

/** Adds the ends of the leases of claimed documents. */
export async function addLeaseEnds(
  db: ReadDb,
  leases: LeaseSql,
  documents: readonly DocumentRow[],
): Promise<(DocumentRow & { lease_until?: string })[]> {
  const claimedIds = documents.flatMap(({ id, state }) => (state === 'claimed' ? [id] : []))
  if (claimedIds.length === 0) return [...documents]
  const ends = await selectLeaseEnds(db, leases, claimedIds)
  return documents.map((row) => {
    const end = ends.get(row.id)
    return end ? { ...row, lease_until: end.toISOString() } : row
  })
}

/** A document with the names of its company and agent. */
export type NamedDocument = DocumentRow & { company: string | null; agent: string | null }

/** Adds the names of companies and agents; null for one that was deleted in between. */
export async function addPartyNames(db: ReadDb, documents: readonly DocumentRow[]): Promise<NamedDocument[]> {
  const companyIds = new Set(documents.map(({ company_id }) => company_id))
  const agentIds = new Set(documents.map(({ agent_id }) => agent_id))
  const companies = await selectPartyNames(db, 'companies', [...companyIds])
  const agents = await selectPartyNames(db, 'agents', [...agentIds])
  return documents.map((row) => ({
    ...row,
    company: companies.get(row.company_id) ?? null,
    agent: agents.get(row.agent_id) ?? null,
  }))
}

/** Options of a client that waits for documents. */
export type WaitOptions = {
  ms: number
  /** Calls `gone` when the client disconnects, until it is disposed of. */
  watch(onDisconnect: () => void): Disposable
  /** Returns the current access of the client. @throws AppError if it has none any more */
  recheckAccess(): Promise<Access>
}

/**
 * Lists a page of the documents. If it is empty, waits for the first document or the end of the time.
 * @throws AppError `busy` when too many clients wait, and errors of `recheckAccess`
 */
export async function waitForDocuments(
  { db, waiters }: { db: ReadDb; waiters: DocumentWaiters },
  access: Access,
  asked: DocumentsRequest,
  { ms, watch, recheckAccess }: WaitOptions,
): ReturnType<typeof listDocuments> {
  const { page } = asked
  // Registered before the first query, so that a commit during the query is not missed.
  const { companyId, agentId } = accessFilter(access, asked)
  const agentIds = agentId === undefined ? undefined : [agentId]
  using wait = waiters.begin({ companyId, agentIds, after: page.after ?? 0 }, ms)
  // A search scans each document once: ids are committed in their order.
  const findLast = async () => (asked.invoice === undefined ? 0 : await findNewestId(db))
  let last = await findLast()
  let list = await listDocuments(db, access, asked)
  const isEmpty = () => list.documents.length === 0 && !list.hasMore
  if (!isEmpty()) return list
  using _watch = watch(() => wait.end())
  while (isEmpty()) {
    const haveArrived = await wait.next()
    const accessNow = await recheckAccess()
    if (!haveArrived) break
    const after = Math.max(page.after ?? 0, last)
    last = await findLast()
    list = await listDocuments(db, accessNow, { ...asked, page: { ...page, after } })
  }
  return list
}

/**
 * Returns a document.
 * @throws AppError `not-found` if it does not exist, or with the same error outside of the access
 */
export async function requireDocument(db: ReadDb, access: Access, id: number): Promise<DocumentRow> {
  const document = Number.isSafeInteger(id) ? await findDocument(db, id, access) : undefined
  if (!document) throw new AppError('not-found', 'Document not found', { reason: 'no_document' })
  return document
}

/**
 * Returns a company and its active agents within the access, by id.
 * @throws AppError `not-found` for a company that does not exist, has another code, or is outside of the access
 */
export async function listActiveAgents(
  db: ReadDb,
  access: Access,
  { companyId, code }: { companyId: number; code: string },
): Promise<{ company: CompanyRow; agents: AgentRow[] }> {
  checkCompanyAccess(access, companyId)
  const company = await findCompany(db, companyId)
  // The program compares the code: PostgreSQL rejects a parameter with NUL.
  if (company?.code !== code) throw new AppError('not-found', 'Company not found', { reason: 'no_company' })
  const agents = await selectAgents(db, companyId, { isActive: true, id: access.agentId ?? undefined })
  return { company, agents }
}

/** A page of a list by id; `hasMore`: there is another. */
export type ListPage<Row> = { rows: Row[]; hasMore: boolean }

/** Lists the companies within the access. */
export function listCompanies(
  db: ReadDb,
  { companyId }: Access,
  page: PageRequest,
): Promise<ListPage<CompanyRow>> {
  return selectPage(page, (some) => selectCompanies(db, { ...some, id: companyId ?? undefined }))
}

/**
 * Lists the agents of a company within the access, active or not.
 * @throws AppError `not-found` for a company that does not exist or is outside of the access
 */
export async function listAgents(
  db: ReadDb,
  access: Access,
  companyId: number,
  page: PageRequest,
): Promise<ListPage<AgentRow>> {
  await checkCompany(db, access, companyId)
  return selectPage(page, (some) => selectAgents(db, companyId, { ...some, id: access.agentId ?? undefined }))
}

/** Lists the owners that may own documents of a company. @throws AppError like `listAgents` */
export async function listOwners(
  db: ReadDb,
  access: Access,
  companyId: number,
  page: PageRequest,
): Promise<ListPage<OwnerRow>> {
  await checkCompany(db, access, companyId)
  return selectPage(page, (some) => selectOwnerPage(db, companyId, some))
}

async function checkCompany(db: ReadDb, access: Access, id: number): Promise<void> {
  checkCompanyAccess(access, id)
  const company = Number.isSafeInteger(id) ? await findCompany(db, id) : undefined
  if (!company) throw new AppError('not-found', 'Company not found', { reason: 'no_company' })
}

async function selectPage<Row>(
  { limit, after = 0 }: PageRequest,
  select: (some: { after: number; limit: number }) => Promise<Row[]>,
): Promise<ListPage<Row>> {
  const rows = await select({ after, limit: limit + 1 }) // an extra row shows whether there is a next page
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
}
