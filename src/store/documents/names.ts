// Names of documents, and the search in them. A program folds names (values/folded-text.ts): the engines differ in theirs.

import type { ExpressionBuilder } from 'kysely'
import { foldAccents } from '../../values/folded-text.ts'
import type { DocumentState, ReadDb, Row, WriteDb } from '../tables.ts'
import type { DocumentFilter } from './filter.ts'
import { type IdLimits, type InvoiceFilter, isInvoiceIndexed, selectIndexed } from './invoice-search.ts'

/** Selects documents whose names are not folded yet. */
export function selectUnfolded(db: ReadDb, limit: number): Promise<Pick<Row<'documents'>, 'id' | 'name'>[]> {
  const query = db.selectFrom('documents').select(['id', 'name']).where('name_folded', 'is', null)
  return query.orderBy('id').limit(limit).execute()
}

/** Stores the folded names of documents, which never change. */
export async function updateFoldedNames(
  trx: WriteDb,
  rows: readonly Pick<Row<'documents'>, 'id' | 'name'>[],
): Promise<void> {
  const [first, ...others] = rows
  if (!first) return
  const ids = rows.map(({ id }) => id)
  await trx
    .updateTable('documents')
    .set((of) => {
      const start = of.case('id').when(first.id).then(foldAccents(first.name))
      return {
        name_folded: others.reduce((all, row) => all.when(row.id).then(foldAccents(row.name)), start).end(),
      }
    })
    .where('id', 'in', ids)
    .where('name_folded', 'is', null)
    .execute()
}

/** Rows of one state, or of any, in the order of their ids. With a clave or an issuer: those of `companyId` alone. */
export type DocumentScan = Omit<DocumentFilter, 'states'> & {
  state?: DocumentState | undefined
  order: 'asc' | 'desc'
  /** Only ids beyond this one in the order. */
  beyond?: number | undefined
  /** Number of rows to scan. */
  limit: number
}

/** `ids`: the matches. `last`: the last row that was scanned; undefined: no rows follow it. */
export type SearchResult = { ids: number[]; last: number | undefined }

/** Searches the next rows, in a snapshot. */
export async function searchNames(db: ReadDb, filter: DocumentScan): Promise<SearchResult> {
  const { order, limit, words = [] } = filter
  const edge = await db
    .selectFrom(selectScanIds(db, filter).as('scanned'))
    .select((of) => [
      (order === 'asc' ? of.fn.max('id') : of.fn.min('id')).as('last'),
      of.fn.countAll<number>().as('count'),
    ])
    .executeTakeFirstOrThrow()
  if (edge.count === 0) return { ids: [], last: undefined }
  const last = edge.count < limit ? undefined : edge.last
  const rows = await selectScanned(db, filter)
    .where((of) => mayMatch(of, filter))
    .orderBy('scanned.id', order)
    .execute()
  const isMatch = ({ name, name_folded, created_at }: SearchedRow) => {
    const folded = name_folded ?? foldAccents(name)
    return words.every((word) => folded.includes(word)) && isInPeriod(created_at, filter)
  }
  return { ids: rows.filter(isMatch).map(({ id }) => id), last }
}

/**
 * Returns the least and greatest ids of the documents that arrived in a period. Undefined: they are more than `most`, or
 * the period has no start. Ids and instants of arrival have almost the same order, but not quite.
 */
export async function findArrivalIds(
  db: ReadDb,
  { periodStart, periodEnd }: Pick<DocumentFilter, 'periodStart' | 'periodEnd'>,
  most: number,
): Promise<IdLimits> {
  if (periodStart === undefined) return undefined
  const row = await db
    .selectFrom((from) => {
      let query = from.selectFrom('documents').select('id').where('created_at', '>=', periodStart)
      if (periodEnd !== undefined) query = query.where('created_at', '<', periodEnd)
      return query
        .orderBy('created_at')
        .limit(most + 1)
        .as('arrived')
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

const SEARCHED_COLUMNS = ['id', 'name', 'name_folded', 'created_at'] as const
type SearchedRow = Pick<Row<'documents'>, (typeof SEARCHED_COLUMNS)[number]>

function selectScanRows(db: ReadDb, { companyId, agentId, state, order, beyond, limit }: DocumentScan) {
  let query = db.selectFrom('documents')
  if (companyId !== undefined) query = query.where('company_id', '=', companyId)
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId)
  if (state !== undefined) query = query.where('state', '=', state)
  if (beyond !== undefined) query = query.where('id', order === 'asc' ? '>' : '<', beyond)
  return query.orderBy('id', order).limit(limit)
}

function selectInvoiceRows(db: ReadDb, filter: DocumentScan, invoice: InvoiceFilter) {
  const { companyId = 0, order, beyond, limit } = filter
  let query = selectIndexed(db, invoice).where('invoices.company_id', '=', companyId)
  if (beyond !== undefined) query = query.where('invoices.document_id', order === 'asc' ? '>' : '<', beyond)
  return query.orderBy('invoices.document_id', order).limit(limit)
}

function selectScanIds(db: ReadDb, filter: DocumentScan) {
  const { invoice } = filter
  return invoice && isInvoiceIndexed(invoice)
    ? selectInvoiceRows(db, filter, invoice).select('invoices.document_id as id')
    : selectScanRows(db, filter).select('id')
}

/** The scanned rows that have the facts of an invoice. */
function selectScanned(db: ReadDb, filter: DocumentScan) {
  const { invoice, agentId, state } = filter
  if (invoice === undefined) {
    return db.selectFrom(selectScanRows(db, filter).select(SEARCHED_COLUMNS).as('scanned')).selectAll()
  }
  const { clave, issuerId, kind, issuedFrom, issuedTo } = invoice
  let query = db
    .selectFrom(selectScanIds(db, filter).as('edge'))
    .crossJoin('documents as scanned') // SQLite reorders other joins, and then reads all invoices
    .crossJoin('invoices')
    .whereRef('scanned.id', '=', 'edge.id')
    .whereRef('invoices.document_id', '=', 'edge.id')
    .select(SEARCHED_COLUMNS.map((name) => `scanned.${name}` as const))
  if (agentId !== undefined) query = query.where('scanned.agent_id', '=', agentId)
  if (state !== undefined) query = query.where('scanned.state', '=', state)
  if (clave !== undefined) query = query.where('invoices.clave', '=', clave)
  if (issuerId !== undefined) query = query.where('invoices.issuer_id', '=', issuerId)
  if (kind !== undefined) query = query.where('invoices.kind', '=', kind)
  if (issuedFrom !== undefined) query = query.where('invoices.date', '>=', issuedFrom)
  if (issuedTo !== undefined) query = query.where('invoices.date', '<=', issuedTo)
  return query
}

/** Condition of all matches and of some other rows: a wildcard of LIKE replaces each special character of it. */
function mayMatch(of: ExpressionBuilder<{ scanned: SearchedRow }, 'scanned'>, filter: DocumentScan) {
  const patterns = (filter.words ?? []).map((word) => `%${word.replace(/[%_\\]/g, '_')}%`)
  const names = of.and(patterns.map((pattern) => of('scanned.name_folded', 'like', pattern)))
  const { periodStart, periodEnd } = filter
  return of.and([
    of.or([of('scanned.name_folded', 'is', null), names]),
    ...(periodStart === undefined ? [] : [of('scanned.created_at', '>=', periodStart)]),
    ...(periodEnd === undefined ? [] : [of('scanned.created_at', '<', periodEnd)]),
  ])
}

function isInPeriod(
  createdAt: string,
  { periodStart, periodEnd }: Pick<DocumentFilter, 'periodStart' | 'periodEnd'>,
): boolean {
  if (periodStart !== undefined && createdAt < periodStart) return false
  return periodEnd === undefined || createdAt < periodEnd
}
