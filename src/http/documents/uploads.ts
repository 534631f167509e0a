import type { Clock } from '../../dates.ts'
import { fingerprintOf, storeBatch } from '../../domain/documents/batch.ts'
import { checkCompanyAccess, checkReferences, checkUpload } from '../../domain/documents/documents.ts'
import { healLostContents } from '../../domain/documents/lost-contents.ts'
import { checkQuotas, type Quota, quotasOf, withinQuotas } from '../../domain/documents/quotas.ts'
import { replayOf } from '../../domain/documents/replay.ts'
import type { Upload } from '../../domain/documents/upload.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { createMemoryBudget, type MemoryLimits } from '../../memory-budget.ts'
import { createSemaphore, type Semaphore } from '../../semaphore.ts'
import { type Blobs, freeBytes } from '../../store/blobs/blobs.ts'
import { findAnswer } from '../../store/idempotency.ts'
import type { Db } from '../../store/tables.ts'
import { type Bearer, bearerOf } from '../api/auth.ts'
import { bodyOf, checkLength } from '../api/body.ts'
import { type AnyEndpoint, post } from '../api/endpoint.ts'
import { nodeOf } from '../api/send.ts'
import { type Accepted, bodyOfAccepted } from './upload-answer.ts'
import { createUploadReader, type UploadReader } from './upload-body.ts'
import { logAccepted, logRefused } from './upload-log.ts'
import { UploadIn, UploadOut } from './upload-shapes.ts'

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
  /** What uploads may hold in memory beside their contents; by default what decisions 3.3 say. */
  memory?: MemoryLimits
}

/** How long an upload waits for its turn, and a silent client is waited for. */
export const UPLOAD_WAITS = { waitMs: 5_000, idleMs: 30_000 }

const MEMORY: MemoryLimits = { each: 64 * 1024 ** 2, all: 128 * 1024 ** 2 } // decisions 3.3
const REMEMBERED_MS = 24 * 3_600_000 // decisions 3.11
const MAX_KEY = 255

export type UploadDeps = {
  db: Db
  blobs: Blobs
  blobsDir: string
  clock: Clock
  limits: UploadLimits
  log: Log
}

/** The endpoint, and the semaphore of the uploads, to be looked at. */
export function uploadEndpoint(deps: UploadDeps): {
  endpoint: AnyEndpoint
  semaphore: Pick<Semaphore, 'status'>
} {
  const { limits, blobsDir, blobs, log } = deps
  const message = `${limits.maxUploads} uploads are under way: try again in a moment`
  const semaphore = createSemaphore(limits.maxUploads, { ms: limits.waitMs, message })
  const memory = createMemoryBudget(limits.memory ?? MEMORY)
  const watch = () => checkFreeSpace(blobsDir, limits.minFree)
  const running = new Set<string>()
  const endpoint = post({
    path: '/api/v1/documents/create',
    summary: 'Create documents for an agent, all or none',
    scope: 'documents',
    body: UploadIn,
    answer: UploadOut,
    notFound: 'Company, agent or owner not found',
    async handle({ event }) {
      const { req, res } = nodeOf(event)
      const bearer = bearerOf(event)
      const about = { id: String(event.context.requestId), token: bearer.name }
      const share = memory.open()
      let reader: UploadReader | undefined
      const release = async () => {
        await reader?.discard() // harmless for what was kept
        share[Symbol.dispose]()
      }
      try {
        const stated = checkLength(req, limits.maxBody) ?? 0
        const key = idempotencyKeyOf(event.req.headers.get('idempotency-key'))
        using _claim = claimKey(running, bearer.id, key)
        using _permit = await semaphore.acquire()
        const quotas = await quotasWhileReading(deps, bearer, key)
        await checkFreeSpace(blobsDir, limits.minFree + stated * 0.75) // four characters carry three bytes
        const beginBatch = withinQuotas(quotas, blobs.beginBatch)
        reader = createUploadReader({ beginBatch, memory: share, watch })
        const body = bodyOf(req, res, { maxBytes: limits.maxBody, idleMs: limits.idleMs, watch })
        try {
          await reader.read(body)
        } finally {
          await body.return()
        }
        const accepted = await accept(deps, reader.upload, bearer, key)
        await logAccepted(log, about, accepted)
        return { body: await bodyOfAccepted(accepted, release) }
      } catch (error) {
        await release()
        logRefused(log, about, error, reader?.upload)
        throw error
      }
    },
  })
  return { endpoint, semaphore }
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

/**
 * The quotas that are known before the body is: those of the token and its company. None for a request that was answered
 * before: it gets its answer again, whatever was used up since, perhaps by that very upload.
 * @throws AppError `over-quota` when nothing is left
 */
async function quotasWhileReading(
  { db, clock }: UploadDeps,
  { id: tokenId, company_id: companyId }: Bearer,
  key: string | undefined,
): Promise<Quota[]> {
  if (key !== undefined && (await findAnswer(db, tokenId, key, forgetBefore(clock())))) return []
  const quotas = await quotasOf(db, { tokenId, companyId })
  checkQuotas(quotas, 1) // no document is empty
  return quotas
}

/** Checks and keeps what was read, or finds the answer again that the same request got before. */
async function accept(
  { db, blobs, clock }: UploadDeps,
  upload: Upload,
  { id: tokenId, company_id }: Bearer,
  key: string | undefined,
): Promise<Accepted> {
  const batch = checkUpload(upload)
  const now = clock()
  const oldest = forgetBefore(now)
  const remember =
    key === undefined
      ? undefined
      : { tokenId, key, fingerprint: await fingerprintOf(batch), forgetBefore: oldest }
  // Before the parties are looked up: what was kept is kept, though its agent may be inactive by now.
  const kept = remember && (await findAnswer(db, tokenId, remember.key, oldest))
  if (kept && kept.fingerprint !== remember.fingerprint) {
    throw new AppError('conflict', 'Idempotency-Key was used with another body')
  }
  if (kept) {
    await healLostContents(db, blobs, batch)
    await batch.contents.discard()
    return { batch, isRepeated: true, ...(await replayOf(db, kept.answer)) }
  }
  checkCompanyAccess(company_id, batch.companyId)
  await checkReferences(db, batch)
  const runs = await storeBatch(db, blobs, batch, { at: now.toISOString(), tokenId }, remember)
  return { batch, isRepeated: false, runs, deleted: [] }
}

/** Answers of requests from before this instant are not given again. */
function forgetBefore(now: Date): string {
  return new Date(now.getTime() - REMEMBERED_MS).toISOString()
}

function idempotencyKeyOf(sent: string | null): string | undefined {
  if (sent === null) return undefined
  if (sent === '' || sent.length > MAX_KEY) {
    throw new AppError('bad-request', `Idempotency-Key must be 1 to ${MAX_KEY} characters`)
  }
  return sent
}

async function checkFreeSpace(dir: string, needed: number): Promise<void> {
  if ((await freeBytes(dir)) < needed) throw new AppError('disk-full', 'Not enough free disk space')
}
