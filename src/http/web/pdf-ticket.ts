// Opens a PDF in its own tab. Only documents that begin as a PDF are shown: browsers open these in a viewer, outside of
// this origin.

import type { H3Event } from 'h3'
import { requireDocument } from '../../domain/documents/queries.ts'
import { checkId } from '../../domain/documents/uploads/checks.ts'
import type { UploadedField } from '../../domain/documents/uploads/upload.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { ReadDb } from '../../store/tables.ts'
import { checkAllowed, type SessionToken, tokenAccess } from '../access/auth.ts'
import type { Reply } from '../endpoint/endpoint.ts'
import { dispositionHeader, logFailure } from '../listings/download.ts'

const BEGIN = '%PDF-'
const PDF = 'application/pdf'
// With this policy the viewers of Chromium 156 and Firefox 153 show a PDF, and request it once.
const POLICY =
  "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'; sandbox allow-downloads"
const HEADERS = {
  'content-type': PDF,
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

type PdfDeps = { db: ReadDb; blobs: Blobs; log: Log }

/**
 * Returns the id of a PDF that the session may read.
 * @param token token of the session
 * @throws AppError also errors of reading the document
 */
export async function checkPdf(
  { db, blobs }: PdfDeps,
  token: SessionToken | undefined,
  documentId: UploadedField,
): Promise<number> {
  const { document } = await requireReadable(db, token, checkId('document_id', documentId))
  if (await isPdf(blobs, document)) return document.id
  throw new AppError('unsupported', 'Only a PDF opens in a tab of its own', { details: PDF })
}

/** @throws AppError as reading the document does */
export async function openPdf(
  { db, blobs, log }: PdfDeps,
  sessionToken: SessionToken | undefined,
  documentId: number,
  event: H3Event,
): Promise<Reply> {
  const { document, token } = await requireReadable(db, sessionToken, documentId)
  event.context.token = token
  const blob = await blobs.read(document.sha256)
  if (blob?.size !== document.size) {
    throw new Error(`the blob ${document.sha256} is missing or has another size`)
  }
  const headers = {
    ...HEADERS,
    'content-disposition': dispositionHeader(document.name, 'inline'),
    'content-length': String(document.size),
  }
  if (event.req.method === 'HEAD') return { body: '', headers }
  return { body: logFailure(blob.chunks(), log, String(event.context.requestId)), headers }
}

async function requireReadable(db: ReadDb, token: SessionToken | undefined, id: number) {
  if (!token) throw new AppError('unauthorized', 'This session has no token: sign in with one')
  checkAllowed(token, 'documents:GET')
  const document = await requireDocument(db, tokenAccess(token), id)
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
