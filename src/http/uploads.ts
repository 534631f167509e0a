import * as v from 'valibot'
import type { Clock } from '../dates.ts'
import { checkParties, checkReach, checkUpload, fingerprintOf, keepBatch } from '../domain/documents.ts'
import type { Upload } from '../domain/upload.ts'
import { AppError } from '../errors.ts'
import { type Blobs, freeBytes } from '../store/blobs.ts'
import { findAnswer } from '../store/idempotency.ts'
import type { Db } from '../store/tables.ts'
import { createTurns, type Turns } from '../turns.ts'
import { type Api, nodeOf, type Reply } from './api.ts'
import { type Bearer, bearerOf } from './auth.ts'
import { bodyOf, checkLength } from './body.ts'
import { readUpload } from './upload-body.ts'

export type UploadLimits = {
  /** Largest request body, in bytes. */
  maxBody: number
  /** Disk space that stays free, in bytes. */
  minFree: number
  /** Uploads at once; others wait `waitMs` for their turn. */
  maxUploads: number
  waitMs: number
  /** How long a client may send nothing. */
  idleMs: number
}

/** How long an upload waits for its turn, and a silent client is waited for. */
export const UPLOAD_WAITS = { waitMs: 5_000, idleMs: 30_000 }

const REMEMBERED_MS = 24 * 3_600_000 // decisions 3.11
const MAX_KEY = 255
const Id = v.pipe(v.number(), v.integer())

const UploadIn = v.object({
  owner_id: Id,
  company_id: Id,
  agent_id: Id,
  documents: v.pipe(
    v.array(
      v.object({
        name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
        mimetype: v.pipe(v.string(), v.metadata({ examples: ['application/pdf'] })),
        base64: v.pipe(v.string(), v.metadata({ contentEncoding: 'base64' })),
      }),
    ),
    v.minLength(1),
  ),
})

const UploadOut = v.object({
  status: v.literal('success'),
  message: v.string(),
  created_documents: v.array(
    v.object({
      id: Id,
      name: v.string(),
      attachment_id: Id,
      agent_id: Id,
      owner_id: Id,
      company_id: Id,
    }),
  ),
  total_created: Id,
  agent_id: Id,
  company_id: Id,
  owner_id: Id,
})

export type UploadDeps = { db: Db; blobs: Blobs; blobsDir: string; clock: Clock; limits: UploadLimits }

/** Returns the turns of the uploads, to be looked at. */
export function mountUploads(api: Api, deps: UploadDeps): Pick<Turns, 'status'> {
  const { limits, blobsDir, blobs } = deps
  const words = `${limits.maxUploads} uploads are under way: try again in a moment`
  const turns = createTurns(limits.maxUploads, { ms: limits.waitMs, words })
  const running = new Set<string>()
  api.post({
    path: '/api/v1/documents/create',
    summary: 'Create documents for an agent, all or none',
    access: 'documents',
    body: UploadIn,
    answer: UploadOut,
    notFound: 'Company, agent or owner not found',
    async handle({ event }) {
      const { req, res } = nodeOf(event)
      const bearer = bearerOf(event)
      const stated = checkLength(req, limits.maxBody) ?? 0
      const key = idempotencyKeyOf(event.req.headers.get('idempotency-key'))
      using _claim = claimKey(running, bearer.id, key)
      using _turn = await turns.take()
      await checkRoom(blobsDir, limits.minFree + stated * 0.75) // four characters carry three bytes
      const watch = () => checkRoom(blobsDir, limits.minFree)
      const body = bodyOf(req, res, { maxBytes: limits.maxBody, idleMs: limits.idleMs, watch })
      let upload: Upload | undefined
      try {
        upload = await readUpload(body, blobs.beginBlob)
        return await acceptUpload(deps, upload, bearer, key)
      } finally {
        await body.return()
        if (upload) await discardUpload(upload) // harmless for what was kept
      }
    },
  })
  return turns
}

/** Holds a token's Idempotency-Key while its request is under way. @throws AppError `conflict` when it is held */
function claimKey(running: Set<string>, tokenId: number, key: string | undefined): Disposable | null {
  if (key === undefined) return null
  const claim = `${tokenId} ${key}`
  if (running.has(claim)) {
    throw new AppError('conflict', 'A request with this Idempotency-Key is in progress')
  }
  running.add(claim)
  return { [Symbol.dispose]: () => running.delete(claim) }
}

/** Checks and keeps what was read, or gives the answer again that the same request got before. */
async function acceptUpload(
  { db, blobs, clock }: UploadDeps,
  upload: Upload,
  { id: tokenId, company_id }: Bearer,
  key: string | undefined,
): Promise<Reply> {
  const batch = checkUpload(upload)
  const now = clock()
  const forgetBefore = new Date(now.getTime() - REMEMBERED_MS).toISOString()
  const remember =
    key === undefined ? undefined : { tokenId, key, fingerprint: fingerprintOf(batch), forgetBefore }
  // Before the parties are looked up: what was kept is kept, though its agent may be inactive by now.
  const kept = remember && (await findAnswer(db, tokenId, remember.key, forgetBefore))
  if (kept && kept.fingerprint !== remember.fingerprint) {
    throw new AppError('conflict', 'Idempotency-Key was used with another body')
  }
  if (kept) return { body: kept.answer }
  checkReach(company_id, batch.companyId)
  await checkParties(db, batch)
  return { body: await keepBatch(db, blobs, batch, now.toISOString(), remember) }
}

async function discardUpload({ documents }: Upload): Promise<void> {
  if (!Array.isArray(documents)) return
  for (const { content } of documents) if (content && 'blob' in content) await content.blob.discard()
}

function idempotencyKeyOf(sent: string | null): string | undefined {
  if (sent === null) return undefined
  if (sent === '' || sent.length > MAX_KEY) {
    throw new AppError('bad-request', `Idempotency-Key must be 1 to ${MAX_KEY} characters`)
  }
  return sent
}

async function checkRoom(dir: string, needed: number): Promise<void> {
  if ((await freeBytes(dir)) < needed) throw new AppError('disk-full', 'Not enough free disk space')
}
