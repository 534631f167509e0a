import rangeParser from 'range-parser'
import * as v from 'valibot'
import type { DocumentWaiters } from '../../domain/documents/arrivals.ts'
import {
  addLeaseEnds,
  listDocuments,
  requireDocument,
  waitForDocuments,
} from '../../domain/documents/queries.ts'
import { addInvoices } from '../../domain/invoices/invoice-view.ts'
import type { InvoiceRates } from '../../domain/invoices/rate-check.ts'
import { addMail } from '../../domain/mail/mail-view.ts'
import { withMember } from '../../formats/json/member.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'
import { findResult } from '../../store/documents/results.ts'
import type { LeaseSql } from '../../store/engine.ts'
import type { ReadDb } from '../../store/tables.ts'
import { authorizedToken, tokenAccess } from '../access/auth.ts'
import { hasSession } from '../access/session.ts'
import { matchesTag } from '../endpoint/answers/answer-cache.ts'
import { Integer } from '../endpoint/answers/shapes.ts'
import { type AnyEndpoint, freshReply, get, type Reply } from '../endpoint/endpoint.ts'
import { invalidParameters } from '../endpoint/error-shape.ts'
import { nextCursor, PAGE_PARAMETERS, parsePage, WAIT_PARAMETER } from '../endpoint/pages.ts'
import { idParam } from '../endpoint/params.ts'
import type { Disconnects } from '../listings/disconnects.ts'
import { ListedDocumentOut, ResultOut, WholeDocumentOut } from '../listings/document-shape.ts'
import { dispositionHeader, logFailure } from '../listings/download.ts'
import { FILTER_PARAMETERS, parseFilter } from '../listings/filter.ts'
import { trackWait } from '../listings/waits.ts'

const SEARCHES = ['state', 'q', 'from', 'to'] as const

const rows = { status: v.literal('success'), documents: v.array(ListedDocumentOut) }
const ListOut = v.pipe(
  v.union([
    v.object({ ...rows, next_after: Integer, has_more: v.boolean() }),
    v.object({ ...rows, next_before: Integer, has_more: v.boolean() }),
  ]),
  v.title('DocumentPage'),
)

type DocumentsEndpointsDeps = {
  db: ReadDb
  waiters: DocumentWaiters
  leases: LeaseSql
  blobs: Blobs
  disconnects: Disconnects
  invoiceRates: InvoiceRates
  log: Log
}

/** Beside the contract: so that an agent can read what it was given (decisions#reading). */
export function documentsEndpoints(deps: DocumentsEndpointsDeps): AnyEndpoint[] {
  const { db, leases, disconnects, invoiceRates: rates } = deps
  return [
    get({
      path: '/api/v1/documents',
      about:
        'From the oldest on for programs, or with order=desc from the newest back for people. The answer always says ' +
        'where to go on: ask again with its next_after as after, and nothing is missed and nothing comes twice. With ' +
        'wait an answer that would be empty is given as soon as there is a document, or when the time is over. A ' +
        'search scans 50000 documents at most: where has_more is true, go on, though there may be no document yet.',
      query: v.object({ ...FILTER_PARAMETERS, ...PAGE_PARAMETERS, wait: WAIT_PARAMETER }),
      answer: ListOut,
      notFound: 'Company not found, for a token of another company',
      refusals: {
        503: 'Too many clients wait for documents, or the storage does not answer: try again in a moment',
      },
      async handle({ event, query, checkAgain }) {
        const page = parsePage(query)
        checkWait(query)
        const filter = { ...parseFilter(query), page }
        const access = () => tokenAccess(authorizedToken(event))
        const { documents, hasMore, last } = query.wait
          ? await waitForDocuments(deps, access(), filter, {
              ms: query.wait * 1000,
              watch: (onDisconnect) => trackWait(event, disconnects, onDisconnect),
              recheckAccess: () => checkAgain().then(access),
            })
          : await listDocuments(db, access(), filter)
        const rowsWithLeases = await addLeaseEnds(db, leases, documents)
        const lastRow = last === undefined ? documents.at(-1) : { id: last }
        return freshReply({
          status: 'success',
          documents: await addInvoices({ db, rates }, access(), await addMail(db, rowsWithLeases)),
          ...nextCursor(page, lastRow, hasMore),
        })
      },
    }),
    get({
      path: '/api/v1/documents/{id}',
      about: 'What is known of a document; its bytes are at /content.',
      params: v.object({ id: idParam('A document, by its id') }),
      answer: WholeDocumentOut,
      notFound: 'Document not found',
      async handle({ event, params }) {
        const access = tokenAccess(authorizedToken(event))
        const document = await requireDocument(db, access, params.id)
        const result = await findResult(db, document.id)
        const [described] = await addInvoices({ db, rates }, access, await addMail(db, [document]))
        const reply = freshReply(described)
        return result === null ? reply : { ...reply, body: withMember(String(reply.body), 'result', result) }
      },
    }),
    get({
      path: '/api/v1/documents/{id}/result',
      about: 'The JSON that its last worker returned, to the letter.',
      params: v.object({ id: idParam('A document, by its id') }),
      answer: ResultOut,
      notFound: 'Document not found, or it has no result',
      async handle({ event, params }) {
        const document = await requireDocument(db, tokenAccess(authorizedToken(event)), params.id)
        const result = await findResult(db, document.id)
        if (result === null) throw new AppError('not-found', 'This document has no result')
        return { status: 200, body: result }
      },
    }),
    contentEndpoint(deps),
  ]
}

function contentEndpoint({ db, blobs, log }: DocumentsEndpointsDeps): AnyEndpoint {
  return get({
    path: '/api/v1/documents/{id}/content',
    about:
      'The bytes of a document, whole or a range of them. With the media type and the name that it was sent ' +
      'with, never to be shown inside of a page. Its ETag is the SHA-256 of the bytes.',
    reads: ['If-None-Match', 'Range', 'If-Range'],
    also: { 206: 'The range that was asked for', 304: 'The client holds these bytes' },
    refusals: { 416: 'The range is outside the content' },
    params: v.object({ id: idParam('A document, by its id') }),
    answer: v.any(),
    binary: true,
    notFound: 'Document not found',
    gone: 'The content was lost: send the same bytes again',
    async handle({ event, params }) {
      const access = tokenAccess(authorizedToken(event))
      const document = await requireDocument(db, access, params.id)
      if (document.content === 'lost') throw new AppError('gone', 'The content was lost')
      const etag = `"${document.sha256}"`
      const headers = {
        etag,
        // Shared browsers store nothing that a session viewed.
        'cache-control': hasSession(event) ? 'no-store' : 'private, no-cache',
        'content-type': document.mimetype,
        // Never inline: what was uploaded must not run in the origin of this server.
        'content-disposition': dispositionHeader(document.name, 'attachment'),
        'content-security-policy': 'sandbox',
        'accept-ranges': 'bytes',
      }
      const ifNoneMatch = event.req.headers.get('if-none-match')
      if (ifNoneMatch !== null && matchesTag(ifNoneMatch, etag)) return { status: 304, body: '', headers }
      const isHead = event.req.method === 'HEAD' // has no ranges (RFC 9110, 14.2)
      const ifRange = event.req.headers.get('if-range') ?? etag
      const range = ifRange === etag && !isHead ? event.req.headers.get('range') : null
      const blobReply = await readBlob(blobs, document, range, headers)
      if (blobReply && isHead) return { ...blobReply, body: '' }
      if (blobReply)
        return { ...blobReply, body: logFailure(blobReply.body, log, String(event.context.requestId)) }
      await requireDocument(db, access, params.id) // 404 if the document was deleted since the query
      throw new Error(`the blob ${document.sha256} is missing or has another size`)
    },
  })
}

/** @throws AppError `invalid` for `wait` beside a filter: a document that changes its state is not waited for */
function checkWait({ wait, ...query }: { wait?: number | undefined; [name: string]: unknown }): void {
  const filter = SEARCHES.find((name) => query[name] !== undefined)
  if (wait === undefined || filter === undefined) return
  const advice =
    filter === 'state'
      ? 'POST /api/v1/documents/claim waits for documents to work on'
      : 'a search is answered at once'
  const msg = `wait goes without ${filter}: ${advice}`
  throw invalidParameters([{ loc: ['query', 'wait'], msg, type: 'order', input: String(wait) }])
}

/** Reads the whole blob, or one range; several ranges return the whole. Undefined: the blob is missing. */
async function readBlob(
  blobs: Blobs,
  { sha256, size }: { sha256: string; size: number },
  rangeHeader: string | null,
  headers: Record<string, string>,
): Promise<(Reply & { body: Chunks }) | undefined> {
  const ranges = rangeHeader === null ? undefined : rangeParser(size, rangeHeader)
  if (ranges === -1) {
    throw new AppError('range', 'The range is outside the content', { details: `bytes */${size}` })
  }
  const single =
    Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1 ? ranges[0] : undefined
  const blob = await blobs.read(sha256, single)
  if (blob?.size !== size) return undefined
  const body = blob.chunks()
  if (!single) return { body, headers: { ...headers, 'content-length': String(size) } }
  const part = {
    'content-length': String(single.end - single.start + 1),
    'content-range': `bytes ${single.start}-${single.end}/${size}`,
  }
  return { status: 206, body, headers: { ...headers, ...part } }
}
