// What can be asked of the documents, and of the companies, owners and agents that they are for, by a client that may see
// those of one company, or of all.

import { AppError } from '../../errors.ts'
import { type AgentRow, selectActiveAgents, selectAgentsAfter } from '../../store/directory/agents.ts'
import {
  type CompanyRow,
  findCompany,
  findCompanyByCode,
  selectCompaniesAfter,
} from '../../store/directory/companies.ts'
import { type OwnerRow, selectOwnersForAfter } from '../../store/directory/owners.ts'
import { type DocumentRow, findDocument, selectDocuments } from '../../store/documents.ts'
import type { Db, DocumentState } from '../../store/tables.ts'
import { type Access, checkAgentAccess, checkCompanyAccess } from './access.ts'
import type { Arrivals } from './arrivals.ts'

/** Ids beyond this one, in this order. */
export type Page = { limit: number; order: 'asc' | 'desc'; after?: number; before?: number }

/** The documents of which a page is asked for. */
export type PageOfDocuments = {
  companyId?: number | undefined
  agentId?: number | undefined
  state?: DocumentState | undefined
  page: Page
}

/**
 * A page of the documents, and whether there is another.
 * @throws AppError `not-found` for a company or an agent that the client may not see
 */
export async function documentsOn(
  db: Db,
  access: Access,
  asked: PageOfDocuments,
): Promise<{ documents: DocumentRow[]; hasMore: boolean }> {
  const { state, page } = asked
  const of = narrowed(access, asked)
  // One more than asked for tells whether there is a next page.
  const found = await selectDocuments(db, { ...of, state, ...page, limit: page.limit + 1 })
  return { documents: found.slice(0, page.limit), hasMore: found.length > page.limit }
}

/** How long a client waits for documents, and what becomes of it meanwhile. */
export type Patience = {
  ms: number
  /** Calls `gone` when the client is gone, until it is disposed of. */
  watch(gone: () => void): Disposable
  /** What the client may see now. @throws AppError for one that may see nothing any more */
  checkAgain(): Promise<Access>
}

/**
 * Such a page; one that would be empty, as soon as it is not, or when the time is over.
 * @throws AppError `busy` when too many wait, and what `access` throws
 */
export async function documentsOnceThere(
  { db, arrivals }: { db: Db; arrivals: Arrivals },
  access: Access,
  asked: PageOfDocuments,
  { ms, watch, checkAgain }: Patience,
): ReturnType<typeof documentsOn> {
  const { page } = asked
  // It begins before the first look, for what is committed while the database is read.
  using wait = arrivals.begin({ ...narrowed(access, asked), after: page.after ?? 0 }, ms)
  let found = await documentsOn(db, access, asked)
  if (found.documents.length > 0) return found
  using _watch = watch(() => wait.end())
  while (found.documents.length === 0) {
    const haveArrived = await wait.next()
    const accessNow = await checkAgain()
    if (!haveArrived) break
    found = await documentsOn(db, accessNow, asked)
  }
  return found
}

/** What is asked for, within what the client may see. @throws AppError `not-found` for what lies outside */
function narrowed(
  access: Access,
  {
    companyId = access.companyId ?? undefined,
    agentId = access.agentId ?? undefined,
  }: Pick<PageOfDocuments, 'companyId' | 'agentId'>,
): Pick<PageOfDocuments, 'companyId' | 'agentId'> {
  if (companyId !== undefined) checkCompanyAccess(access, companyId)
  if (agentId !== undefined) checkAgentAccess(access, agentId)
  return { companyId, agentId }
}

/** @throws AppError `not-found` for one that is not there, and alike for one that the client may not see */
export async function documentBy(db: Db, access: Access, id: number): Promise<DocumentRow> {
  const document = Number.isSafeInteger(id) ? await findDocument(db, id, access) : undefined
  if (!document) throw new AppError('not-found', 'Document not found')
  return document
}

/**
 * A company and those of its active agents that the client may see, by id.
 * @throws AppError `not-found` for a company that is not there, has another code, or may not be seen
 */
export async function activeAgentsOf(
  db: Db,
  access: Access,
  { companyId, code }: { companyId: number; code: string },
): Promise<{ company: CompanyRow; agents: AgentRow[] }> {
  checkCompanyAccess(access, companyId)
  const company = await findCompanyByCode(db, companyId, code)
  if (!company) throw new AppError('not-found', 'Company not found')
  const agents = await selectActiveAgents(db, companyId)
  const { agentId } = access
  return { company, agents: agentId === null ? agents : agents.filter(({ id }) => id === agentId) }
}

/** A part of a list by id, and whether there is more after it. */
export type Part<Row> = { rows: Row[]; hasMore: boolean }

/** The companies that a client may see. */
export function companiesOn(db: Db, { companyId }: Access, page: Page): Promise<Part<CompanyRow>> {
  return partOf(page, (some) => selectCompaniesAfter(db, { ...some, id: companyId ?? undefined }))
}

/**
 * The agents of a company that the client may see, active or not.
 * @throws AppError `not-found` for a company that is not there, or may not be seen
 */
export async function agentsOn(
  db: Db,
  access: Access,
  companyId: number,
  page: Page,
): Promise<Part<AgentRow>> {
  await checkCompany(db, access, companyId)
  return partOf(page, (some) =>
    selectAgentsAfter(db, companyId, { ...some, id: access.agentId ?? undefined }),
  )
}

/** The owners that may own documents of a company. @throws AppError like `agentsOn` */
export async function ownersOn(
  db: Db,
  access: Access,
  companyId: number,
  page: Page,
): Promise<Part<OwnerRow>> {
  await checkCompany(db, access, companyId)
  return partOf(page, (some) => selectOwnersForAfter(db, companyId, some))
}

async function checkCompany(db: Db, access: Access, id: number): Promise<void> {
  checkCompanyAccess(access, id)
  const company = Number.isSafeInteger(id) ? await findCompany(db, id) : undefined
  if (!company) throw new AppError('not-found', 'Company not found')
}

async function partOf<Row>(
  { limit, after = 0 }: Page,
  select: (some: { after: number; limit: number }) => Promise<Row[]>,
): Promise<Part<Row>> {
  const found = await select({ after, limit: limit + 1 }) // one more tells whether there is a next page
  return { rows: found.slice(0, limit), hasMore: found.length > limit }
}
