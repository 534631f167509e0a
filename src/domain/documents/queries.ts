// Queries of documents, companies, owners and agents, within the access of a client.

import { AppError } from '../../runtime/errors.ts'
import { type AgentRow, selectAgents } from '../../store/directory/agents.ts'
import {
  type CompanyRow,
  findCompany,
  findCompanyByIdAndCode,
  selectCompanies,
} from '../../store/directory/companies.ts'
import { type OwnerRow, selectOwnerPage } from '../../store/directory/owners.ts'
import { type DocumentRow, findDocument, selectDocuments } from '../../store/documents/documents.ts'
import type { DocumentState, ReadDb } from '../../store/tables.ts'
import { type Access, checkAgentAccess, checkCompanyAccess } from './access.ts'
import type { DocumentWaiters } from './arrivals.ts'

/** Limits a list to ids beyond one, in this order. */
export type PageRequest = { limit: number; order: 'asc' | 'desc'; after?: number; before?: number }

/** Filter and page of a list of documents. */
export type DocumentsRequest = {
  companyId?: number | undefined
  agentId?: number | undefined
  state?: DocumentState | undefined
  page: PageRequest
}

/** Lists a page of the documents. @throws AppError `not-found` for a company or an agent outside of the access */
export async function listDocuments(
  db: ReadDb,
  access: Access,
  request: DocumentsRequest,
): Promise<{ documents: DocumentRow[]; hasMore: boolean }> {
  const { state, page } = request
  const filter = accessFilter(access, request)
  // An extra row shows whether there is a next page.
  const rows = await selectDocuments(db, { ...filter, state, ...page, limit: page.limit + 1 })
  return { documents: rows.slice(0, page.limit), hasMore: rows.length > page.limit }
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
  using wait = waiters.begin({ ...accessFilter(access, asked), after: page.after ?? 0 }, ms)
  let list = await listDocuments(db, access, asked)
  if (list.documents.length > 0) return list
  using _watch = watch(() => wait.end())
  while (list.documents.length === 0) {
    const haveArrived = await wait.next()
    const accessNow = await recheckAccess()
    if (!haveArrived) break
    list = await listDocuments(db, accessNow, asked)
  }
  return list
}

/** Combines a filter with the access. @throws AppError `not-found` outside of the access */
function accessFilter(
  access: Access,
  {
    companyId = access.companyId ?? undefined,
    agentId = access.agentId ?? undefined,
  }: Pick<DocumentsRequest, 'companyId' | 'agentId'>,
): Pick<DocumentsRequest, 'companyId' | 'agentId'> {
  if (companyId !== undefined) checkCompanyAccess(access, companyId)
  if (agentId !== undefined) checkAgentAccess(access, agentId)
  return { companyId, agentId }
}

/**
 * Returns a document.
 * @throws AppError `not-found` if it does not exist, or with the same error outside of the access
 */
export async function requireDocument(db: ReadDb, access: Access, id: number): Promise<DocumentRow> {
  const document = Number.isSafeInteger(id) ? await findDocument(db, id, access) : undefined
  if (!document) throw new AppError('not-found', 'Document not found')
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
  const company = await findCompanyByIdAndCode(db, companyId, code)
  if (!company) throw new AppError('not-found', 'Company not found')
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
  if (!company) throw new AppError('not-found', 'Company not found')
}

async function selectPage<Row>(
  { limit, after = 0 }: PageRequest,
  select: (some: { after: number; limit: number }) => Promise<Row[]>,
): Promise<ListPage<Row>> {
  const rows = await select({ after, limit: limit + 1 }) // an extra row shows whether there is a next page
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
}
