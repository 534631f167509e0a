// What becomes of an upload that was read: it is kept, or it is the same as one before, whose answer its client gets again.

import type { Clock } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { findAnswer, type Run } from '../../store/idempotency.ts'
import type { Db } from '../../store/tables.ts'
import { type Access, checkAgentAccess, checkCompanyAccess } from './access.ts'
import type { Arrivals } from './arrivals.ts'
import { fingerprintOf, type IdempotencyRecord, storeBatch } from './batch.ts'
import { type Batch, checkUpload } from './documents.ts'
import { healLostContents } from './lost-contents.ts'
import { checkQuotas, type Quota, quotasOf } from './quotas.ts'
import { deletedAmong } from './replay.ts'
import type { Upload } from './upload.ts'

/** Where an upload comes from: a token, what it may see, and an Idempotency-Key. */
export type Sender = { tokenId: number; access: Access; key: string | undefined }

/** An upload whose documents are kept, by this request or by an equal one before it. */
export type Accepted = {
  batch: Batch
  isRepeated: boolean
  runs: readonly Run[]
  /** Which of its documents, of a repeated one, are there no more. */
  deleted: readonly number[]
}

export type AcceptDeps = {
  db: Db
  blobs: Blobs
  clock: Clock
  arrivals: Arrivals
  /** Called after the commit: hooks may be told of it now. */
  wakeHooks: () => void
}

const KEPT_MS = 24 * 3_600_000 // decisions 3.11

/**
 * The quotas that are known before the upload is: those of the token and its company. None for a request that was
 * answered before: it gets its answer again, whatever was used up since, perhaps by that very upload.
 * @throws AppError `over-quota` when nothing is left
 */
export async function quotasBefore(
  { db, clock }: { db: Db; clock: Clock },
  { tokenId, access, key }: Sender,
): Promise<Quota[]> {
  if (key !== undefined && (await findAnswer(db, tokenId, key, keptSince(clock())))) return []
  const quotas = await quotasOf(db, { tokenId, companyId: access.companyId })
  checkQuotas(quotas, 1) // no document is empty
  return quotas
}

/**
 * Checks an upload and keeps it, or finds what the same request got before. When this returns, all of it is on disk, and
 * clients that wait for it are awake.
 * @throws AppError like `checkUpload` and `storeBatch`, and `conflict` for another upload under a key
 *   that was used
 */
export async function acceptUpload(
  { db, blobs, clock, arrivals, wakeHooks }: AcceptDeps,
  upload: Upload,
  { tokenId, access, key }: Sender,
): Promise<Accepted> {
  const batch = checkUpload(upload)
  const now = clock()
  const forgetBefore = keptSince(now)
  const record =
    key === undefined ? undefined : { tokenId, key, fingerprint: await fingerprintOf(batch), forgetBefore }
  // Before the references are looked up: what was kept is kept, though its agent may be inactive by now.
  const repeated = record && (await repeatedUpload(db, batch, record))
  if (repeated) {
    await healLostContents(db, blobs, batch)
    await batch.contents.discard()
    return repeated
  }
  checkCompanyAccess(access, batch.companyId)
  checkAgentAccess(access, batch.agentId)
  let runs: Run[] | undefined
  try {
    runs = await storeBatch(db, blobs, batch, { at: now.toISOString(), tokenId }, record)
  } catch (error) {
    // Its equal may have been kept meanwhile by another process, and have taken the room that this one wanted.
    const kept = record && (await repeatedUpload(db, batch, record).catch(() => undefined))
    if (!kept) throw error
    return kept
  }
  if (!runs) return acceptedMeanwhile(db, batch, record)
  wakeHooks()
  const newest = runs.at(-1)
  if (newest) {
    arrivals.announce({
      companyId: batch.companyId,
      agentId: batch.agentId,
      last: newest.id + newest.count - 1,
    })
  }
  return { batch, isRepeated: false, runs, deleted: [] }
}

/** What the same request made before; undefined: there was none. @throws AppError `conflict` for another upload */
async function repeatedUpload(
  db: Db,
  batch: Batch,
  { tokenId, key, fingerprint, forgetBefore }: IdempotencyRecord,
): Promise<Accepted | undefined> {
  const kept = await findAnswer(db, tokenId, key, forgetBefore)
  if (!kept) return undefined
  if (kept.fingerprint !== fingerprint) {
    throw new AppError('conflict', 'Idempotency-Key was used with another body')
  }
  return { batch, isRepeated: true, runs: kept.runs, deleted: await deletedAmong(db, kept.runs) }
}

/** Of two equal requests at once one is kept, and the other one, which came to another process, gets its answer. */
async function acceptedMeanwhile(
  db: Db,
  batch: Batch,
  record: IdempotencyRecord | undefined,
): Promise<Accepted> {
  const repeated = record && (await repeatedUpload(db, batch, record))
  if (!repeated) throw new AppError('busy', 'The same request was being answered: send it again')
  return repeated
}

/** Answers of requests from before this instant are not given again. */
export function keptSince(now: Date): string {
  return new Date(now.getTime() - KEPT_MS).toISOString()
}
