// Search of documents by name, states, days of arrival and facts of invoices (decisions#reading). A request scans a
// limited number of rows, and other requests run in between. Its answer has the last scanned row, so the client can
// continue.

import { setImmediate } from 'node:timers/promises'
import { selectAgents } from '../../store/directory/agents.ts'
import { type DocumentRow, selectDocumentsById } from '../../store/documents/documents.ts'
import { searchedFacts } from '../../store/documents/filter.ts'
import {
  findIssuedIds,
  type IdLimits,
  isInvoiceIndexed,
  selectInvoiceCompanies,
} from '../../store/documents/invoice-search.ts'
import {
  type DocumentScan,
  findArrivalIds,
  type SearchResult,
  searchNames,
} from '../../store/documents/names.ts'
import { snapshot } from '../../store/engine.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { DocumentsRequest } from './page-request.ts'

/** `last`: id to continue from; undefined: nothing was scanned. */
export type SearchPage = { documents: DocumentRow[]; hasMore: boolean; last: number | undefined }

/** Rows that a request scans. */
const MOST_SCANNED = 50_000
const FIRST_ROWS = 250
const MOST_ROWS = 2000 // a few milliseconds

/** Searches until a page is full, or MOST_SCANNED rows were scanned. */
export async function searchDocuments(
  db: ReadDb,
  request: DocumentsRequest,
  scanLimit = MOST_SCANNED,
): Promise<SearchPage> {
  const { page, states } = request
  const { ids, isWhole, edge } = await findMatches(db, request, scanLimit)
  const pageIds = ids.slice(0, page.limit)
  const rows = pageIds.length === 0 ? [] : await selectDocumentsById(db, pageIds)
  if (page.order === 'desc') rows.reverse()
  // A document may have changed its state since.
  const documents = rows.filter(({ state }) => states?.includes(state) ?? true)
  const hasFurther = ids.length > page.limit
  return {
    documents,
    hasMore: hasFurther || !isWhole,
    last: hasFurther || isWhole ? pageIds.at(-1) : edge,
  }
}

/** `isWhole`: no row follows the ids. `edge`: the last row that was scanned. */
type Matches = { ids: number[]; isWhole: boolean; edge: number | undefined }

async function findMatches(db: ReadDb, request: DocumentsRequest, scanLimit: number): Promise<Matches> {
  const { page, invoice } = request
  const { order } = page
  const isDescending = order === 'desc'
  const range = overlap(
    await findArrivalIds(db, request, scanLimit),
    invoice && (await findIssuedIds(db, request.companyId, invoice, scanLimit)),
  )
  if (range === 'none') return { ids: [], isWhole: true, edge: undefined }
  const start = isDescending
    ? least(page.before, range && range.greatest + 1)
    : greatest(page.after, range && range.least - 1)
  const end = isDescending ? (range?.least ?? 1) : (range?.greatest ?? Number.MAX_SAFE_INTEGER)
  const ids: number[] = []
  let edge = start
  let scanCount = 0
  for (let limit = FIRST_ROWS; scanCount < scanLimit; limit = Math.min(limit * 2, MOST_ROWS)) {
    const rows = Math.min(limit, scanLimit - scanCount)
    const filter = { ...searchedFacts(request), order, beyond: edge, limit: rows }
    const results = await snapshot(db, (trx) => searchSources(trx, request, filter))
    // Rows beyond the nearest edge of a source are scanned again: those of the other sources come before them.
    const edges = results.flatMap(({ last }) => last ?? [])
    const nearest = edges.length === 0 ? undefined : isDescending ? Math.max(...edges) : Math.min(...edges)
    const matches = results.flatMap((result) => result.ids)
    const isInOrder = (id: number) => nearest === undefined || (isDescending ? id >= nearest : id <= nearest)
    ids.push(...matches.filter(isInOrder).sort((one, other) => (isDescending ? other - one : one - other)))
    if (nearest === undefined || (isDescending ? nearest <= end : nearest >= end)) {
      return { ids, isWhole: true, edge: nearest }
    }
    edge = nearest
    scanCount += rows
    if (ids.length > page.limit) break
    await setImmediate() // lets other requests run first
  }
  return { ids, isWhole: false, edge }
}

/**
 * Searches the next rows of each source, `limit` in all, within a snapshot. Without it, a source may have a newer
 * document than one that an earlier source lacks. The cursor would pass both.
 */
async function searchSources(
  trx: ReadDb,
  request: DocumentsRequest,
  filter: Omit<DocumentScan, keyof Source>,
): Promise<SearchResult[]> {
  const sources = await selectSources(trx, request)
  const limit = Math.max(1, Math.ceil(filter.limit / sources.length))
  const results = []
  for (const source of sources) results.push(await searchNames(trx, { ...filter, ...source, limit }))
  return results
}

type Source = Pick<DocumentScan, 'companyId' | 'agentId' | 'state'>

/**
 * Returns the filters whose rows an index has in the order of ids: each agent and state alone. A single one for any state.
 * A clave or an issuer: each company and state alone.
 */
async function selectSources(
  db: ReadDb,
  { companyId, agentId, states, invoice }: DocumentsRequest,
): Promise<Source[]> {
  if (invoice && isInvoiceIndexed(invoice)) {
    const companyIds = companyId === undefined ? await selectInvoiceCompanies(db, invoice) : [companyId]
    const ownStates = states === undefined ? [undefined] : [...new Set(states)]
    return companyIds.flatMap((id) => ownStates.map((state) => ({ companyId: id, agentId, state })))
  }
  if (states === undefined) return [{ companyId, agentId }]
  const agents =
    companyId === undefined || agentId !== undefined
      ? [{ companyId, agentId }]
      : (await selectAgents(db, companyId)).map(({ id }) => ({ agentId: id }))
  return agents.flatMap((agent) => [...new Set(states)].map((state) => ({ ...agent, state })))
}

function overlap(one: IdLimits, other: IdLimits): IdLimits {
  if (one === undefined || other === undefined) return one ?? other
  if (one === 'none' || other === 'none') return 'none'
  const range = {
    least: Math.max(one.least, other.least),
    greatest: Math.min(one.greatest, other.greatest),
  }
  return range.least > range.greatest ? 'none' : range
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

function greatest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other)
}
