// The list of documents as a table, for a month in a spreadsheet. Each line is made while it is sent.

import type { H3Event } from 'h3'
import * as v from 'valibot'
import { listPages } from '../../domain/documents/queries.ts'
import {
  addInvoices,
  type FactsView,
  type InvoiceDeps,
  type InvoiceView,
} from '../../domain/invoices/invoice-view.ts'
import { addMail } from '../../domain/mail/mail-view.ts'
import type { Log } from '../../runtime/log.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'
import type { DocumentRow } from '../../store/documents/documents.ts'
import { authorizedToken, tokenAccess } from '../access/auth.ts'
import {
  type ColumnKinds,
  CSV_TYPE,
  csvLine,
  csvLines,
  DIALECT_PARAMETERS,
  type Dialect,
  formatCells,
  NDJSON_TYPE,
  ndjsonLines,
  PLAIN,
  readDialect,
  type TableRow,
} from '../endpoint/answers/csv.ts'
import { baseMediaType } from '../endpoint/answers/forms.ts'
import { type AnyEndpoint, get, type Reply } from '../endpoint/endpoint.ts'
import { PAGE_PARAMETERS } from '../endpoint/pages.ts'
import { logFailure } from '../listings/download.ts'
import { FILTER_PARAMETERS, parseFilter } from '../listings/filter.ts'

const DOCUMENT_COLUMNS = {
  id: 'plain',
  name: 'text',
  mimetype: 'text',
  size: 'plain',
  sha256: 'plain',
  created_at: 'plain',
  company_id: 'plain',
  agent_id: 'plain',
  owner_id: 'plain',
  created_by: 'text',
  state: 'plain',
  attempts: 'plain',
  finished_at: 'plain',
  note: 'text',
  priority: 'plain',
  content: 'plain',
} satisfies Record<Exclude<keyof DocumentRow, 'attachment_id'>, ColumnKinds[string]>

const COLUMNS: ColumnKinds = {
  ...DOCUMENT_COLUMNS,
  kind: 'text',
  version: 'text',
  clave: 'plain',
  from: 'plain',
  consecutive: 'text',
  issued_at: 'text',
  date: 'day',
  issuer_type: 'text',
  issuer_id: 'text',
  issuer_name: 'text',
  receiver_type: 'text',
  receiver_id: 'text',
  receiver_name: 'text',
  currency: 'text',
  exchange_rate: 'decimal',
  total: 'decimal',
  tax: 'decimal',
  references: 'json',
  outcome: 'plain',
  direction: 'plain',
  hacienda: 'plain',
  hacienda_document_id: 'plain',
  duplicate_of: 'plain',
  same_content: 'plain',
  published: 'decimal',
  rate_date: 'day',
  via: 'plain',
  difference: 'decimal',
  percent: 'decimal',
  matches: 'plain',
  rounded_to: 'plain',
  reason: 'text',
  warnings: 'plain',
  fault: 'text',
  hacienda_others: 'json',
}

type Line = DocumentRow & { invoice?: InvoiceView }

const QUERY = { ...FILTER_PARAMETERS, order: PAGE_PARAMETERS.order }

/** The tables: with the filters of the list, and every document that they admit. */
export function documentTables(deps: InvoiceDeps & { log: Log }): AnyEndpoint[] {
  const describe = {
    about:
      'A line for each document that the filters admit, from the oldest on, or from the newest back with order=desc. ' +
      'Facts of an invoice are columns of their own.',
    answer: v.string(),
    notFound: 'Company not found, for a token of another company',
  }
  return [
    get({
      ...describe,
      path: '/api/v1/documents.csv',
      query: v.object({ ...QUERY, ...DIALECT_PARAMETERS }),
      contentTypes: [baseMediaType(CSV_TYPE)],
      async handle({ event, query }): Promise<Reply> {
        const dialect = readDialect(query) ?? PLAIN
        const pages = await openPages(deps, event, query)
        const lines = mapPages(pages, (rows, isFirst) => csvText(rows, isFirst, dialect))
        return tableReply(deps.log, event, lines, 'csv')
      },
    }),
    get({
      ...describe,
      path: '/api/v1/documents.ndjson',
      query: v.object(QUERY),
      contentTypes: [baseMediaType(NDJSON_TYPE)],
      async handle({ event, query }): Promise<Reply> {
        const pages = await openPages(deps, event, query)
        const lines = mapPages(pages, (rows) => [...ndjsonLines(rows)].join(''))
        return tableReply(deps.log, event, lines, 'ndjson')
      },
    }),
  ]
}

type Query = v.InferOutput<v.ObjectSchema<typeof QUERY, undefined>>

/** Reads the first page, so that an error of the request is answered as such, and returns all pages. */
async function openPages(deps: InvoiceDeps, event: H3Event, query: Query): Promise<AsyncIterable<Line[]>> {
  const access = tokenAccess(authorizedToken(event))
  const pages = listPages(deps.db, access, { ...parseFilter(query), order: query.order })
  const first = await pages.next()
  const describe = async (rows: DocumentRow[]) => addInvoices(deps, access, await addMail(deps.db, rows))
  return (async function* describePages() {
    if (first.done) return
    yield await describe(first.value)
    for await (const rows of pages) yield await describe(rows)
  })()
}

async function* mapPages(
  pages: AsyncIterable<Line[]>,
  toText: (rows: Line[], isFirst: boolean) => string,
): Chunks {
  let isFirst = true
  for await (const rows of pages) {
    yield Buffer.from(toText(rows, isFirst))
    isFirst = false
  }
}

function tableReply(log: Log, event: H3Event, body: Chunks, format: 'csv' | 'ndjson'): Reply {
  const headers = {
    'content-type': format === 'csv' ? CSV_TYPE : NDJSON_TYPE,
    'content-disposition': `attachment; filename="documents.${format}"`,
  }
  const isHead = event.req.method === 'HEAD'
  return { headers, body: isHead ? '' : logFailure(body, log, String(event.context.requestId)) }
}

/** Lines of a page, before the first with the names of the columns. */
function csvText(rows: readonly Line[], isFirst: boolean, dialect: Dialect): string {
  const head = isFirst ? [...csvLines([Object.keys(COLUMNS)], dialect)] : []
  return [...head, ...rows.map((row) => csvLine(formatCells(COLUMNS, toCells(row), dialect), dialect))].join(
    '',
  )
}

function toCells({ invoice, ...row }: Line): TableRow {
  if (!invoice) return row
  return 'issuer' in invoice ? { ...row, ...factCells(invoice) } : { ...row, ...invoice }
}

function factCells({ issuer, receiver, hacienda, rate_check, warnings, ...facts }: FactsView): TableRow {
  return {
    ...facts,
    issuer_type: issuer?.type,
    issuer_id: issuer?.id,
    issuer_name: issuer?.name,
    receiver_type: receiver?.type,
    receiver_id: receiver?.id,
    receiver_name: receiver?.name,
    hacienda: hacienda?.outcome,
    hacienda_document_id: hacienda?.document_id,
    ...rate_check,
    warnings: warnings?.join(' '),
  }
}
