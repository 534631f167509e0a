// Copies blobs of documents from a folder to a store of a cluster, and hashes each. Blobs with a row in the
// target are skipped.

import { AppError } from '../../../runtime/errors.ts'
import { createMemoryBudget } from '../../../runtime/memory-budget.ts'
import { readPages } from '../../../store/batches.ts'
import type { BlobBatch } from '../../../store/blobs/batch.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import { blobPath } from '../../../store/blobs/commit.ts'
import { validateBlob } from '../../../store/blobs/transfer.ts'
import {
  type BlobInfo,
  countBlobs,
  selectBlobs,
  type UploadedBlob,
} from '../../../store/documents/blob-info.ts'
import { selectHashesWithRow } from '../../../store/documents/blob-rows.ts'
import { type LostBlob, selectLostHashes } from '../../../store/documents/lost-blobs.ts'
import { atomically, type Lock } from '../../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../../store/tables.ts'
import type { Progress } from './moved-tables.ts'

export type BlobsRequest = {
  from: { db: ReadDb; blobs: Pick<Blobs, 'read'>; folder: string }
  to: { db: WriteDb; blobs: Pick<Blobs, 'beginBatch' | 'addReferences'> }
  /** The target is the same folder: blobs are hashed and stay in place. */
  inPlace: boolean
  since: string
  lock: Lock
  signal: AbortSignal
  progress: Progress
}

export type MovedBlobs = {
  count: number
  bytes: number
  /** Missing or altered blobs whose loss was not recorded before. */
  lost: LostBlob[]
}

const PAGE = 256
const BYTES_AT_ONCE = 64 * 1024 * 1024 // per transaction, or a single larger blob
const MEMORY = 64 * 1024 * 1024

/** Copies all blobs. @throws errors of the target */
export async function moveBlobs(request: BlobsRequest): Promise<MovedBlobs> {
  const { from, to, signal, progress } = request
  const result: MovedBlobs = { count: 0, bytes: 0, lost: [] }
  const total = await countBlobs(from.db)
  let count = 0
  for await (const page of readPages(selectBlobs(from.db), PAGE)) {
    const hashes = page.map(({ sha256 }) => sha256)
    const existing = await selectHashesWithRow(to.db, hashes)
    const knownLosses = new Set(await selectLostHashes(from.db, hashes))
    const lostHashes = new Set<string>()
    for (const some of portions(page.filter(({ sha256 }) => !existing.has(sha256)))) {
      signal.throwIfAborted()
      const losses = await sendBlobs(some, request)
      for (const { sha256 } of losses) lostHashes.add(sha256)
      result.lost.push(...losses.filter(({ sha256 }) => !knownLosses.has(sha256)))
    }
    for (const { sha256, size } of page) {
      if (lostHashes.has(sha256)) continue
      result.count += 1
      result.bytes += size
    }
    count += page.length
    progress('contents', count, total)
  }
  return result
}

/** Copies blobs. Returns those that the source lacks. */
async function sendBlobs(blobs: readonly BlobInfo[], request: BlobsRequest): Promise<LostBlob[]> {
  const { from, to, inPlace, lock } = request
  using memory = createMemoryBudget({ each: MEMORY, all: MEMORY }).open()
  const batch = to.blobs.beginBatch(memory)
  const uploaded: UploadedBlob[] = []
  const losses: LostBlob[] = []
  try {
    for (const blob of blobs) {
      const loss = await validateBlob(blobPath(from.folder, blob.sha256), blob.sha256, request.signal)
      if (loss) losses.push({ sha256: blob.sha256, fault: loss.words, since: request.since })
      else if (inPlace) uploaded.push(blob)
      else await copyBlob(blob, from.blobs, batch)
    }
    await batch.commit()
    for (let at = 0; at < batch.count(); at++) uploaded.push(batch.at(at))
    const isThere = await atomically(to.db, (trx) => to.blobs.addReferences(trx, uploaded), lock)
    if (!isThere)
      throw new AppError('failed', 'contents that were sent are not there: is somebody removing them?')
  } finally {
    await batch.discard()
  }
  return losses
}

async function copyBlob({ sha256 }: BlobInfo, from: Pick<Blobs, 'read'>, batch: BlobBatch): Promise<void> {
  const blob = await from.read(sha256)
  if (!blob) throw new AppError('failed', `content ${sha256} has gone meanwhile: try again`)
  const writer = batch.begin()
  try {
    for await (const chunk of blob.chunks()) await writer.write(chunk)
  } catch (error) {
    await writer.discard()
    throw error
  }
  const { sha256: copiedHash } = batch.at(await writer.keep())
  if (copiedHash !== sha256)
    throw new AppError('failed', `content ${sha256} has changed meanwhile: try again`)
}

function* portions(blobs: readonly BlobInfo[]): Generator<BlobInfo[]> {
  let some: BlobInfo[] = []
  let bytes = 0
  for (const blob of blobs) {
    if (some.length > 0 && bytes + blob.size > BYTES_AT_ONCE) {
      yield some
      some = []
      bytes = 0
    }
    some.push(blob)
    bytes += blob.size
  }
  if (some.length > 0) yield some
}
