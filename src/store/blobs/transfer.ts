// Takes contents from one folder of blobs over into another. What arrives has been hashed: a name is not believed.

import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, reasonOf } from '../../errors.ts'
import { flush, hashFile, unlessMissing } from '../../file-hash.ts'
import type { BlobFolder } from './folder.ts'
import { blobPath } from './place.ts'
import type { StagedBlob } from './writer.ts'

export type Folder = { dir: string; blobs: BlobFolder }

/**
 * Why a content could not be taken over, in words. `unreadable`: the disk fails there; `refused`: the system did not let
 * us read it, which says nothing of the content.
 */
export type Loss = { kind: 'missing' | 'altered' | 'unreadable' | 'refused'; words: string }

const COPY_BYTES = 256 * 1024
const AT_ONCE = 32
const OF_A_BAD_DISK = new Set(['EIO', 'EUCLEAN', 'EBADMSG', 'ENODATA', 'EISDIR', 'ENOTDIR'])

/**
 * Stages a content in another folder: as a hard link where `mayLink` and the file system allow, else as a copy.
 * @throws what the folder it goes to throws; trouble with the source is a Loss
 */
export async function stageBlob(
  from: string,
  to: Folder,
  sha256: string,
  options: { mayLink: boolean; signal?: AbortSignal | undefined },
): Promise<StagedBlob | Loss> {
  const source = blobPath(from, sha256)
  const fault = await faultOfBlob(source, sha256, options.signal)
  if (fault) return fault
  const linked = options.mayLink ? await stageLink(source, to, sha256) : undefined
  return linked ?? stageCopy(source, to, sha256, options.signal)
}

/** What is wrong with the content in a file, or undefined when it is the one that its name says. */
export async function faultOfBlob(
  path: string,
  sha256: string,
  signal?: AbortSignal,
): Promise<Loss | undefined> {
  try {
    const found = await hashFile(path, signal)
    if (!found) return { kind: 'missing', words: 'is missing' }
    if (found.sha256 === sha256) return undefined
    return { kind: 'altered', words: `is altered (${found.size} bytes whose SHA-256 is ${found.sha256})` }
  } catch (error) {
    signal?.throwIfAborted()
    return lossOf(error)
  }
}

/** Whether it is the disk, or what lies on it, that keeps a file from being read. */
export function isOfBadDisk(error: unknown): boolean {
  return OF_A_BAD_DISK.has(codeOf(error))
}

/** The size of a content in a folder of blobs, or undefined when it is not there. */
export async function sizeOfBlob(dir: string, sha256: string): Promise<number | undefined> {
  return (await unlessMissing(stat(blobPath(dir, sha256))))?.size
}

export type Batch = {
  add(staged: StagedBlob): Promise<void>
  /** Commits what is waiting. */
  end(): Promise<void>
  /** Drops what is waiting; nothing does after `end`. */
  discard(): Promise<void>
}

/** Commits staged contents some at a time, so that few files are open and the folders are flushed once for many. */
export function openBatch(to: BlobFolder): Batch {
  const waiting: StagedBlob[] = []
  const taken = () => waiting.splice(0)
  const end = async () => {
    const batch = taken()
    if (batch.length > 0) await to.commit(batch)
  }
  return {
    end,
    async add(staged) {
      waiting.push(staged)
      if (waiting.length >= AT_ONCE) await end()
    },
    async discard() {
      for (const staged of taken()) await staged.discard()
    },
  }
}

function lossOf(error: unknown): Loss {
  const kind = isOfBadDisk(error) ? 'unreadable' : 'refused'
  return { kind, words: `cannot be read (${reasonOf(error)})` }
}

async function stageLink(source: string, to: Folder, sha256: string): Promise<StagedBlob | undefined> {
  const path = join(to.dir, 'tmp', randomUUID())
  try {
    await link(source, path)
  } catch {
    return undefined // another file system, one without links, too many of them: whatever it is, copying shows it
  }
  const discard = () => unlink(path).catch(() => {})
  return { sha256, size: (await stat(path)).size, path, sync: () => flush(path), discard }
}

async function stageCopy(
  source: string,
  to: Folder,
  sha256: string,
  signal: AbortSignal | undefined,
): Promise<StagedBlob | Loss> {
  const file = await unlessMissing(open(source, constants.O_RDONLY))
  if (!file) return { kind: 'missing', words: 'is missing' }
  try {
    const writer = await to.blobs.beginBlob()
    try {
      const buffer = Buffer.allocUnsafe(COPY_BYTES)
      while (true) {
        signal?.throwIfAborted()
        const read = await file.read(buffer, 0, COPY_BYTES).catch(lossOf)
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
  } finally {
    await file.close()
  }
}
