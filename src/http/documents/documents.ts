import { create as contentDisposition } from 'content-disposition'
import rangeParser from 'range-parser'
import * as v from 'valibot'
import { documentBy, documentsOn } from '../../domain/documents/queries.ts'
import { AppError, reasonOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { Chunks } from '../../store/blobs/chunks.ts'
import type { Db } from '../../store/tables.ts'
import { matchesTag } from '../api/answer-cache.ts'
import { authorizedToken } from '../api/auth.ts'
import { type AnyEndpoint, freshReply, get, type Reply } from '../api/endpoint.ts'
import { PAGE_PARAMETERS, pageOf, placeAfter } from '../api/pages.ts'
import { IdParam } from '../api/params.ts'
import { Instant } from '../api/shapes.ts'
import { fileNameOf } from './file-name.ts'

const Id = v.pipe(v.number(), v.integer())

const DocumentOut = v.object({
  id: Id,
  name: v.string(),
  mimetype: v.string(),
  size: Id,
  sha256: v.string(),
  created_at: Instant,
  attachment_id: Id,
  agent_id: Id,
  owner_id: Id,
  company_id: Id,
  created_by: v.pipe(v.nullable(v.string()), v.description('Name of the token that made it; null: unknown')),
  content: v.exactOptional(v.pipe(v.literal('lost'), v.description('Its bytes are lost; else absent'))),
})

const rows = { status: v.literal('success'), documents: v.array(DocumentOut) }
const ListOut = v.union([
  v.object({ ...rows, next_after: Id, has_more: v.boolean() }),
  v.object({ ...rows, next_before: Id, has_more: v.boolean() }),
])

/** Beside the contract: so that an agent can read what it was given (decisions 3.13). */
export function documentsEndpoints(deps: { db: Db; blobs: Blobs; log: Log }): AnyEndpoint[] {
  const { db, blobs, log } = deps
  return [
    get({
      path: '/api/v1/documents',
      summary: 'Documents by id, a page at a time',
      scope: 'documents',
      query: v.object({
        company_id: v.optional(IdParam),
        agent_id: v.optional(IdParam),
        ...PAGE_PARAMETERS,
      }),
      answer: ListOut,
      notFound: 'Company not found, for a token of another company',
      async handle({ event, query }) {
        const page = pageOf(query)
        const asked = { companyId: query.company_id, agentId: query.agent_id, page }
        const { documents, hasMore } = await documentsOn(db, authorizedToken(event).company_id, asked)
        return freshReply({ status: 'success', documents, ...placeAfter(page, documents.at(-1), hasMore) })
      },
    }),

    get({
      path: '/api/v1/documents/{id}',
      summary: 'One document',
      scope: 'documents',
      params: v.object({ id: IdParam }),
      answer: DocumentOut,
      notFound: 'Document not found',
      async handle({ event, params }) {
        return freshReply(await documentBy(db, authorizedToken(event).company_id, params.id))
      },
    }),

    get({
      path: '/api/v1/documents/{id}/content',
      summary: 'The bytes of one document, whole or a range of them',
      scope: 'documents',
      params: v.object({ id: IdParam }),
      answer: v.any(),
      binary: true,
      notFound: 'Document not found',
      gone: 'The content was lost: send the same bytes again',
      async handle({ event, params }) {
        const { company_id: bound } = authorizedToken(event)
        const document = await documentBy(db, bound, params.id)
        if (document.content === 'lost') throw new AppError('gone', 'The content was lost')
        const etag = `"${document.sha256}"`
        const headers = {
          etag,
          'cache-control': 'private, no-cache',
          'content-type': document.mimetype,
          // Never inline: what was uploaded must not run in the origin of this server.
          'content-disposition': contentDisposition(fileNameOf(document.name), { type: 'attachment' }),
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
        await documentBy(db, bound, params.id) // of a document that was deleted a moment ago the content is not missing
        throw new Error(`the blob ${document.sha256} is missing or has another size`)
      },
    }),
  ]
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
async function* watched(chunks: Chunks, log: Log, id: string): Chunks {
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
