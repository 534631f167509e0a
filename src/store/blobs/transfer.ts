// Copies blobs from one folder into another. Each blob is hashed first, for its name is no proof of its bytes.

import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, errorReason } from '../../runtime/errors.ts'
import { flush, hashFile, unlessMissing } from '../../runtime/file-hash.ts'
import { blobPath } from './commit.ts'
import type { BlobFolder } from './folder.ts'
import type { StagedBlob } from './writer.ts'

export type Folder = { dir: string; blobs: BlobFolder }

/**
 * Reason for which a blob could not be copied. `unreadable`: the disk fails there; `refused`: the system denied access,
 * and the blob may be sound.
 */
export type Loss = { kind: 'missing' | 'altered' | 'unreadable' | 'refused'; words: string }

const COPY_BYTES = 256 * 1024
const AT_ONCE = 32
const DISK_FAULTS = new Set(['EIO', 'EUCLEAN', 'EBADMSG', 'ENODATA', 'EISDIR', 'ENOTDIR'])

/**
 * Stages a blob in another folder: a hard link where `mayLink` and the file system allow it, else a copy.
 * @throws the errors of the target folder; an error of the source is returned as a Loss
 */
export async function stageBlob(
  from: string,
  to: Folder,
  sha256: string,
  options: { mayLink: boolean; signal?: AbortSignal | undefined },
): Promise<StagedBlob | Loss> {
  const source = blobPath(from, sha256)
  const fault = await validateBlob(source, sha256, options.signal)
  if (fault) return fault
  const linked = options.mayLink ? await stageLink(source, to, sha256) : undefined
  return linked ?? stageCopy(source, to, sha256, options.signal)
}

/** Returns the fault of a blob's file; undefined when its bytes match its name. */
export async function validateBlob(
  path: string,
  sha256: string,
  signal?: AbortSignal,
): Promise<Loss | undefined> {
  try {
    const file = await hashFile(path, signal)
    if (!file) return { kind: 'missing', words: 'is missing' }
    if (file.sha256 === sha256) return undefined
    return { kind: 'altered', words: `is altered (${file.size} bytes whose SHA-256 is ${file.sha256})` }
  } catch (error) {
    signal?.throwIfAborted()
    return toLoss(error)
  }
}

/** Returns whether a file cannot be read because of the disk or the file system. */
export function isDiskFault(error: unknown): boolean {
  return DISK_FAULTS.has(errorCode(error))
}

/** Returns the size of a blob in a folder, or undefined when it is missing. */
export async function findBlobSize(dir: string, sha256: string): Promise<number | undefined> {
  return (await unlessMissing(stat(blobPath(dir, sha256))))?.size
}

export type TransferBatch = {
  add(staged: StagedBlob): Promise<void>
  /** Commits the waiting blobs. */
  end(): Promise<void>
  /** Discards the waiting blobs; without effect after `end`. */
  discard(): Promise<void>
}

/** Commits staged blobs in batches of AT_ONCE, so that few files are open and folders are flushed once for many. */
export function openTransferBatch(to: BlobFolder): TransferBatch {
  const waiting: StagedBlob[] = []
  const takeAll = () => waiting.splice(0)
  const end = async () => {
    const batch = takeAll()
    if (batch.length > 0) await to.commit(batch)
  }
  return {
    end,
    async add(staged) {
      waiting.push(staged)
      if (waiting.length >= AT_ONCE) await end()
    },
    async discard() {
      for (const staged of takeAll()) await staged.discard()
    },
  }
}

function toLoss(error: unknown): Loss {
  const kind = isDiskFault(error) ? 'unreadable' : 'refused'
  return { kind, words: `cannot be read (${errorReason(error)})` }
}

async function stageLink(source: string, to: Folder, sha256: string): Promise<StagedBlob | undefined> {
  const path = join(to.dir, 'tmp', randomUUID())
  try {
    await link(source, path)
  } catch {
    return undefined // another file system, one without links, or too many links; a copy meets any other error
  }
  const discard = () => unlink(path).catch(() => {}) // gc removes it
  return { sha256, size: (await stat(path)).size, path, sync: () => flush(path), discard }
}

async function stageCopy(
  source: string,
  to: Folder,
  sha256: string,
  signal: AbortSignal | undefined,
): Promise<StagedBlob | Loss> {
  await using file = await unlessMissing(open(source, constants.O_RDONLY))
  if (!file) return { kind: 'missing', words: 'is missing' }
  const writer = await to.blobs.beginBlob()
  try {
    const buffer = Buffer.allocUnsafe(COPY_BYTES)
    while (true) {
      signal?.throwIfAborted()
      const read = await file.read(buffer, 0, COPY_BYTES).catch(toLoss)
      if ('words' in read) {
        await writer.discard()
        return read
      }
      if (read.bytesRead === 0) break
      await writer.write(buffer.subarray(0, read.bytesRead))
    }
  } catch (error) {
    await writer.discard()
    throw error
  }
  const staged = await writer.finish()
  if (staged.sha256 === sha256) return staged
  await staged.discard()
  return { kind: 'altered', words: 'was read differently twice: is the disk failing?' }
}
