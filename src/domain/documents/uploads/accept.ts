// Accepts an upload that was read: stores it, or finds the stored answer of the same request.

import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../../runtime/errors.ts'
import { splitBatches } from '../../../store/batches.ts'
import type { RequestedOptions } from '../../../store/documents/documents.ts'
import { selectNames } from '../../../store/documents/documents.ts'
import {
  findAnswer,
  type IdRange,
  type IdRun,
  lockAnswer,
  rangeIds,
} from '../../../store/documents/idempotency.ts'
import type { ReadDb, WriteDb } from '../../../store/tables.ts'
import type { Clock } from '../../../values/dates.ts'
import { type Access, checkAgentAccess, checkCompanyAccess } from '../access.ts'
import type { DocumentWaiters } from '../arrivals.ts'
import { restoreLostBlobs } from '../regained-blobs.ts'
import { type Batch, checkUpload, type DuplicateRefusal } from './checks.ts'
import { computeFingerprint } from './fingerprint.ts'
import { checkQuotas, type Quota, selectQuotas } from './quotas.ts'
import { type BatchIdentity, storeBatch, type UploadStorage } from './store.ts'
import type { Upload } from './upload.ts'

/** Sender of an upload: a token, its access, a key under which it is stored once, and options. */
export type UploadSender = Partial<RequestedOptions> & {
  tokenId: number
  access: Access
  key: UploadKey | undefined
  duplicates?: DuplicateRefusal | undefined
}

/** An Idempotency-Key, or a link, with the texts of its errors for a request in progress and for another body. */
export type UploadKey = { value: string; inProgress: string; otherBody: string }

/** An upload whose documents are stored, by this request or by an earlier equal one. */
export type AcceptedUpload = {
  batch: Batch
  isRepeated: boolean
  runs: readonly IdRange[]
  /** Documents of a repeated upload that were deleted since. */
  deleted: readonly number[]
  /** Stored names of its documents, where they differ from the names of this request. */
  names?: ReadonlyMap<number, string>
}

export type AcceptDeps = UploadStorage & {
  clock: Clock
  waiters: DocumentWaiters
  /** Starts the delivery of hooks; called after the commit. */
  wakeHooks: () => void
}

const IDS_AT_ONCE = 500 // takes at most 1 ms
const ANSWER_LIFE_MS = 24 * 3_600_000 // decisions#idempotency

/**
 * Selects the quotas of the token and its company, before the upload is read. Returns none for a request with a
 * stored answer. Its answer is sent again, although that upload may have used up the quota.
 * @throws AppError `over-quota` when nothing is left
 */
export async function selectSenderQuotas(
  { db, clock }: { db: ReadDb; clock: Clock },
  { tokenId, access, key }: UploadSender,
): Promise<Quota[]> {
  if (key && (await findAnswer(db, tokenId, key.value, answerCutoff(clock())))) return []
  const quotas = await selectQuotas(db, { tokenId, companyId: access.companyId })
  checkQuotas(quotas, 1) // no document is empty
  return quotas
}

/**
 * Checks and stores an upload, or finds the stored answer of the same request. After it returns, everything is on
 * disk and waiting clients are awake.
 * @throws AppError like `checkUpload` and `storeBatch`, and `conflict` for another upload under a used key
 */
export async function acceptUpload(
  deps: AcceptDeps,
  upload: Upload,
  { tokenId, access, key, priority, duplicates }: UploadSender,
): Promise<AcceptedUpload> {
  const { db, blobs, clock } = deps
  const options = { priority } satisfies RequestedOptions
  const batch: Batch = { ...checkUpload(upload), ...options, duplicates }
  const now = clock()
  const cutoff = answerCutoff(now)
  const identity = key && { tokenId, key: key.value, fingerprint: await computeFingerprint(batch), cutoff }
  const findRepeated = async () =>
    identity && key && (await findRepeatedUpload(db, batch, { ...identity, otherBody: key.otherBody }))
  // Before the references are checked: a stored upload stays accepted, though its agent may be inactive now.
  const repeated = await findRepeated()
  if (repeated) {
    await restoreLostBlobs({ db, blobs, clock }, batch)
    await batch.blobs.discard()
    return repeated
  }
  checkCompanyAccess(access, batch.companyId)
  checkAgentAccess(access, batch.agentId)
  let runs: IdRange[] | undefined
  try {
    runs = await storeBatch(deps, batch, { at: now.toISOString(), tokenId }, identity)
  } catch (error) {
    // Another process may have stored an equal upload, which used up the quota or the disk.
    const concurrent = await findRepeated().catch(() => undefined)
    if (!concurrent) throw error
    return concurrent
  }
  if (!runs) {
    // Another process stored an equal upload at the same time.
    const concurrent = await findRepeated()
    if (!concurrent) throw new AppError('busy', 'The same request was being answered: send it again')
    return concurrent
  }
  announceUpload(deps, batch, runs)
  return { batch, isRepeated: false, runs, deleted: [] }
}

/** Wakes the hooks, and the clients that wait for documents, after the commit of an upload. */
export function announceUpload(
  { wakeHooks, waiters }: Pick<AcceptDeps, 'wakeHooks' | 'waiters'>,
  { companyId, agentId }: Pick<Batch, 'companyId' | 'agentId'>,
  runs: readonly IdRange[],
): void {
  wakeHooks()
  const last = runs.at(-1)
  if (last) waiters.announce({ companyId, agentId, last: last.id + last.count - 1 })
}

/** Finds the stored answer of the same request; undefined: none. @throws AppError `conflict` for another upload */
async function findRepeatedUpload(
  db: WriteDb,
  batch: Batch,
  { tokenId, key, fingerprint, cutoff, otherBody }: BatchIdentity & Pick<UploadKey, 'otherBody'>,
): Promise<AcceptedUpload | undefined> {
  const answer = await lockAnswer(db, tokenId, key, cutoff)
  if (!answer) return undefined
  if (answer.fingerprint !== fingerprint) {
    throw new AppError('conflict', otherBody)
  }
  return { batch, isRepeated: true, runs: answer.ranges, ...(await compareStored(db, batch, answer.ranges)) }
}

/** Instant before which the answers of idempotency keys have expired. */
export function answerCutoff(now: Date): string {
  return new Date(now.getTime() - ANSWER_LIFE_MS).toISOString()
}

/** Finds the documents of the runs that were deleted since, and other names of the rest. */
async function compareStored(
  db: ReadDb,
  { files }: Batch,
  runs: readonly IdRun[],
): Promise<Required<Pick<AcceptedUpload, 'deleted' | 'names'>>> {
  const deletedIds: number[] = []
  const names = new Map<number, string>()
  const uploadedFiles = files[Symbol.iterator]()
  for (const some of splitBatches(rangeIds(runs), IDS_AT_ONCE)) {
    const storedNames = await selectNames(db, some)
    for (const id of some) {
      const name = storedNames.get(id)
      const file = uploadedFiles.next().value
      if (name === undefined) deletedIds.push(id)
      else if (name !== file?.name) names.set(id, name)
    }
    if (some.length === IDS_AT_ONCE) await setImmediate() // yields to other requests
  }
  return { deleted: deletedIds, names }
}
