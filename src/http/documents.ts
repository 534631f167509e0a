import { create as contentDisposition } from 'content-disposition'
import rangeParser from 'range-parser'
import * as v from 'valibot'
import { checkReach } from '../domain/documents.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Pieces } from '../store/blob-pieces.ts'
import type { Blobs } from '../store/blobs.ts'
import { findDocument, selectDocuments } from '../store/documents.ts'
import type { Db } from '../store/tables.ts'
import { type Api, freshReply, type Reply } from './api.ts'
import { type Bearer, bearerOf } from './auth.ts'
import { matchesTag } from './etag.ts'
import { IdParam, LimitParam } from './params.ts'
import { Instant } from './shapes.ts'

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
})

const ListOut = v.object({
  status: v.literal('success'),
  documents: v.array(DocumentOut),
  next_after: v.nullable(Id),
})

/** Beside the contract: so that an agent can read what it was given (decisions 3.13). */
export function mountDocuments(api: Api, deps: { db: Db; blobs: Blobs; log: Log }): void {
  const { db, blobs, log } = deps
  api.get({
    path: '/api/v1/documents',
    summary: 'Documents by id, a page at a time',
    access: 'documents',
    query: v.object({
      company_id: v.optional(IdParam),
      agent_id: v.optional(IdParam),
      limit: v.optional(LimitParam, '50'),
      after: v.optional(IdParam),
    }),
    answer: ListOut,
    notFound: 'Company not found, for a token of another company',
    async handle({ event, query }) {
      const { company_id: bound } = bearerOf(event)
      const { company_id: companyId = bound ?? undefined, agent_id: agentId, after, limit } = query
      if (companyId !== undefined) checkReach(bound, companyId)
      // One more than asked for tells whether there is a next page.
      const found = await selectDocuments(db, { companyId, agentId, after, limit: limit + 1 })
      const documents = found.slice(0, limit)
      const next_after = found.length > limit ? (documents.at(-1)?.id ?? null) : null
      return freshReply({ status: 'success', documents, next_after })
    },
  })

  api.get({
    path: '/api/v1/documents/{id}',
    summary: 'One document',
    access: 'documents',
    params: v.object({ id: IdParam }),
    answer: DocumentOut,
    notFound: 'Document not found',
    async handle({ event, params }) {
      return freshReply(await documentOf(db, bearerOf(event), params.id))
    },
  })

  api.get({
    path: '/api/v1/documents/{id}/content',
    summary: 'The bytes of one document, whole or a range of them',
    access: 'documents',
    params: v.object({ id: IdParam }),
    answer: v.any(),
    binary: true,
    notFound: 'Document not found',
    async handle({ event, params }) {
      const bearer = bearerOf(event)
      const document = await documentOf(db, bearer, params.id)
      const etag = `"${document.sha256}"`
      const headers = {
        etag,
        'cache-control': 'private, no-cache',
        'content-type': document.mimetype,
        // Never inline: what was uploaded must not run in the origin of this server.
        'content-disposition': contentDisposition(document.name, { type: 'attachment' }),
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
      await documentOf(db, bearer, params.id) // of a document that was deleted a moment ago the content is not missing
      throw new Error(`the blob ${document.sha256} is missing or has another size`)
    },
  })
}

/** @throws AppError `not-found` for one that is not there, and alike for one of a company that the token is not for */
async function documentOf(db: Db, { company_id }: Bearer, id: number) {
  const document = Number.isSafeInteger(id) ? await findDocument(db, id, company_id ?? undefined) : undefined
  if (!document) throw new AppError('not-found', 'Document not found')
  return document
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
): Promise<(Reply & { body: Pieces }) | undefined> {
  const ranges = asked === null ? undefined : rangeParser(size, asked)
  if (ranges === -1) {
    throw new AppError('range', 'The range is outside the content', { details: `bytes */${size}` })
  }
  const single =
    Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1 ? ranges[0] : undefined
  const blob = await blobs.read(sha256, single)
  if (blob?.size !== size) return undefined
  const body = blob.pieces()
  if (!single) return { body, headers: { ...headers, 'content-length': String(size) } }
  const part = {
    'content-length': String(single.end - single.start + 1),
    'content-range': `bytes ${single.start}-${single.end}/${size}`,
  }
  return { status: 206, body, headers: { ...headers, ...part } }
}

/** Logs it when the disk fails a download that is under way; before that it is an error like any other. */
async function* watched(pieces: Pieces, log: Log, id: string): Pieces {
  let begun = false
  try {
    for await (const piece of pieces) {
      begun = true
      yield piece
    }
  } catch (error) {
    if (begun) log.error('download broke off', { id, reason: reasonOf(error) })
    throw error
  }
}
