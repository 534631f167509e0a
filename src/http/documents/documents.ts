import { create as contentDisposition } from 'content-disposition'
import rangeParser from 'range-parser'
import * as v from 'valibot'
import type { Arrivals } from '../../domain/documents/arrivals.ts'
import { documentBy, documentsOn, documentsOnceThere } from '../../domain/documents/queries.ts'
import { AppError, reasonOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'
import type { Db } from '../../store/tables.ts'
import { matchesTag } from '../api/answer-cache.ts'
import { accessOf, authorizedToken } from '../api/auth.ts'
import { type AnyEndpoint, freshReply, get, type Reply } from '../api/endpoint.ts'
import { invalidParameters } from '../api/errors.ts'
import { PAGE_PARAMETERS, pageOf, placeAfter, WAIT_PARAMETER } from '../api/pages.ts'
import { idParam } from '../api/params.ts'
import { isOfSession } from '../credentials/session.ts'
import type { Departures } from './departures.ts'
import { DocumentOut, DocumentStateOut } from './document-shape.ts'
import { fileNameOf } from './file-name.ts'
import { watchWait } from './waits.ts'

const Id = v.pipe(v.number(), v.integer())

const STATE_PARAMETER = v.optional(
  v.pipe(
    v.picklist(DocumentStateOut.options, 'must be new, claimed, done or failed'),
    v.metadata({ description: 'Only those in this state' }),
  ),
)

const rows = { status: v.literal('success'), documents: v.array(DocumentOut) }
const ListOut = v.pipe(
  v.union([
    v.object({ ...rows, next_after: Id, has_more: v.boolean() }),
    v.object({ ...rows, next_before: Id, has_more: v.boolean() }),
  ]),
  v.title('DocumentPage'),
)

/** Beside the contract: so that an agent can read what it was given (decisions 3.13). */
export function documentsEndpoints(deps: {
  db: Db
  arrivals: Arrivals
  blobs: Blobs
  departures: Departures
  log: Log
}): AnyEndpoint[] {
  const { db, blobs, departures, log } = deps
  return [
    get({
      path: '/api/v1/documents',
      summary: 'Documents by id, a page at a time',
      about:
        'From the oldest on for programs, or with order=desc from the newest back for people. The answer always says ' +
        'where to go on: ask again with its next_after as after, and nothing is missed and nothing comes twice. With ' +
        'wait an answer that would be empty is given as soon as there is a document, or when the time is over.',
      scope: 'documents',
      query: v.object({
        company_id: v.optional(idParam('Only those of this company')),
        agent_id: v.optional(idParam('Only those for this agent')),
        state: STATE_PARAMETER,
        ...PAGE_PARAMETERS,
        wait: WAIT_PARAMETER,
      }),
      answer: ListOut,
      notFound: 'Company not found, for a token of another company',
      refusals: {
        503: 'Too many clients wait for documents, or the storage does not answer: try again in a moment',
      },
      async handle({ event, query, checkAgain }) {
        const page = pageOf(query)
        checkWait(query)
        const { company_id: companyId, agent_id: agentId, state } = query
        const asked = { companyId, agentId, state, page }
        const access = () => accessOf(authorizedToken(event))
        const { documents, hasMore } = query.wait
          ? await documentsOnceThere(deps, access(), asked, {
              ms: query.wait * 1000,
              watch: (gone) => watchWait(event, departures, gone),
              checkAgain: () => checkAgain().then(access),
            })
          : await documentsOn(db, access(), asked)
        return freshReply({ status: 'success', documents, ...placeAfter(page, documents.at(-1), hasMore) })
      },
    }),

    get({
      path: '/api/v1/documents/{id}',
      summary: 'One document',
      about: 'What is known of a document; its bytes are at /content.',
      scope: 'documents',
      params: v.object({ id: idParam('A document, by its id') }),
      answer: DocumentOut,
      notFound: 'Document not found',
      async handle({ event, params }) {
        return freshReply(await documentBy(db, accessOf(authorizedToken(event)), params.id))
      },
    }),

    get({
      path: '/api/v1/documents/{id}/content',
      summary: 'The bytes of one document, whole or a range of them',
      about:
        'With the media type and the name that it was sent with, never to be shown inside of a page. Its ETag is the ' +
        'SHA-256 of the bytes.',
      reads: ['If-None-Match', 'Range', 'If-Range'],
      also: { 206: 'The range that was asked for', 304: 'The client holds these bytes' },
      refusals: { 416: 'The range is outside the content' },
      scope: 'documents',
      params: v.object({ id: idParam('A document, by its id') }),
      answer: v.any(),
      binary: true,
      notFound: 'Document not found',
      gone: 'The content was lost: send the same bytes again',
      async handle({ event, params }) {
        const access = accessOf(authorizedToken(event))
        const document = await documentBy(db, access, params.id)
        if (document.content === 'lost') throw new AppError('gone', 'The content was lost')
        const etag = `"${document.sha256}"`
        const headers = {
          etag,
          // A browser that several people use keeps nothing of what was looked at.
          'cache-control': isOfSession(event) ? 'no-store' : 'private, no-cache',
          'content-type': document.mimetype,
          // Never inline: what was uploaded must not run in the origin of this server.
          'content-disposition': dispositionOf(document.name, 'attachment'),
          'content-security-policy': 'sandbox',
          'accept-ranges': 'bytes',
        }
        const held = event.req.headers.get('if-none-match')
        if (held !== null && matchesTag(held, etag)) return { status: 304, body: '', headers }
        const isHead = event.req.method === 'HEAD' // has no ranges (RFC 9110, 14.2)
        const fresh = event.req.headers.get('if-range') ?? etag
        const range = fresh === etag && !isHead ? event.req.headers.get('range') : null
        const content = await contentOf(blobs, document, range, headers)
        if (content && isHead) return { ...content, body: '' }
        if (content) return { ...content, body: watched(content.body, log, String(event.context.requestId)) }
        await documentBy(db, access, params.id) // of a document that was deleted a moment ago the content is not missing
        throw new Error(`the blob ${document.sha256} is missing or has another size`)
      },
    }),
  ]
}

/** @throws AppError `invalid` for `wait` beside `state`: a document that changes its state is not waited for */
function checkWait({ wait, state }: { wait?: number | undefined; state?: string | undefined }): void {
  if (wait === undefined || state === undefined) return
  const msg = 'wait goes without state: POST /api/v1/documents/claim waits for documents to work on'
  throw invalidParameters([{ loc: ['query', 'wait'], msg, type: 'order', input: String(wait) }])
}

/** What says that a document is to be saved, or shown, under its name. */
export function dispositionOf(name: string, type: 'attachment' | 'inline'): string {
  return contentDisposition(fileNameOf(name), { type })
}

/**
 * The whole content, or the one range that was asked for; several ranges are answered with the whole. Undefined if
 * there is no such content.
 */
async function contentOf(
  blobs: Blobs,
  { sha256, size }: { sha256: string; size: number },
  asked: string | null,
  headers: Record<string, string>,
): Promise<(Reply & { body: Chunks }) | undefined> {
  const ranges = asked === null ? undefined : rangeParser(size, asked)
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

/** Logs it when the disk fails a download that is under way; before that it is an error like any other. */
export async function* watched(chunks: Chunks, log: Log, id: string): Chunks {
  let begun = false
  try {
    for await (const chunk of chunks) {
      begun = true
      yield chunk
    }
  } catch (error) {
    if (begun) log.error('download broke off', { id, reason: reasonOf(error) })
    throw error
  }
}
