// A PDF in a tab of its own. Nothing but what begins as one is shown: it is the one kind of document that a browser puts
// into a viewer, and not into this origin.

import type { H3Event } from 'h3'
import { checkId } from '../../domain/documents/documents.ts'
import { documentBy } from '../../domain/documents/queries.ts'
import type { UploadedField } from '../../domain/documents/upload.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { Db } from '../../store/tables.ts'
import { accessOf, checkAllowed, type HeldToken } from '../api/auth.ts'
import type { Reply } from '../api/endpoint.ts'
import { dispositionOf, watched } from '../documents/documents.ts'

const BEGIN = '%PDF-'
const PDF = 'application/pdf'
// With all of it the viewers of Chromium 156 and Firefox 153 show a PDF, and ask for it once.
const POLICY =
  "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'; sandbox allow-downloads"
const HEADERS = {
  'content-type': PDF,
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

type PdfDeps = { db: Db; blobs: Blobs; log: Log }

/**
 * The id of a document that is asked for in a ticket: a PDF that the session may read.
 * @param token that of the session
 * @throws AppError also what reading the document throws
 */
export async function checkPdf(
  { db, blobs }: PdfDeps,
  token: HeldToken | undefined,
  documentId: UploadedField,
): Promise<number> {
  const { document } = await readable(db, token, checkId('document_id', documentId))
  if (await isPdf(blobs, document)) return document.id
  throw new AppError('unsupported', 'Only a PDF opens in a tab of its own', { details: PDF })
}

/** @throws AppError what reading the document throws */
export async function openPdf(
  { db, blobs, log }: PdfDeps,
  held: HeldToken | undefined,
  documentId: number,
  event: H3Event,
): Promise<Reply> {
  const { document, token } = await readable(db, held, documentId)
  event.context.token = token
  const content = await blobs.read(document.sha256)
  if (content?.size !== document.size) {
    throw new Error(`the blob ${document.sha256} is missing or has another size`)
  }
  const headers = {
    ...HEADERS,
    'content-disposition': dispositionOf(document.name, 'inline'),
    'content-length': String(document.size),
  }
  if (event.req.method === 'HEAD') return { body: '', headers }
  return { body: watched(content.chunks(), log, String(event.context.requestId)), headers }
}

async function readable(db: Db, token: HeldToken | undefined, id: number) {
  if (!token) throw new AppError('unauthorized', 'This session has no token: sign in with one')
  checkAllowed(token, 'documents:GET')
  const document = await documentBy(db, accessOf(token), id)
  if (document.content === 'lost') throw new AppError('gone', 'The content was lost')
  return { token, document }
}

async function isPdf(blobs: Blobs, { sha256, size }: { sha256: string; size: number }): Promise<boolean> {
  if (size < BEGIN.length) return false
  const head = await blobs.read(sha256, { start: 0, end: BEGIN.length - 1 })
  let text = ''
  if (head) for await (const chunk of head.chunks()) text += chunk.toString('latin1')
  return text === BEGIN
}
