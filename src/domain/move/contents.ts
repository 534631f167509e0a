// Sending the contents of documents from a folder to a store that nodes share, each hashed as it is read. What the rows of the
// target have already is not sent again.

import { AppError } from '../../errors.ts'
import { createMemoryBudget } from '../../memory-budget.ts'
import type { BlobBatch } from '../../store/blobs/batch.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { blobPath } from '../../store/blobs/place.ts'
import { faultOfBlob } from '../../store/blobs/transfer.ts'
import { type Content, countContents, type KeptContent, selectContents } from '../../store/contents.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { type LostContent, selectLostAmong } from '../../store/lost-contents.ts'
import { pagesOf } from '../../store/portions.ts'
import { selectSentAmong } from '../../store/postgres/maintenance/content-names.ts'
import type { Db } from '../../store/tables.ts'
import type { Progress } from './tables.ts'

export type ContentsRequest = {
  from: { db: Db; blobs: Pick<Blobs, 'read'>; folder: string }
  to: { db: Db; blobs: Pick<Blobs, 'beginBatch' | 'claim'> }
  /** The target is the same folder: they are hashed, and stay where they are. */
  inPlace: boolean
  since: string
  lock: Lock
  signal: AbortSignal
  progress: Progress
}

export type MovedContents = {
  count: number
  bytes: number
  /** What is missing or altered, and was not known to be so. */
  lost: LostContent[]
}

const PAGE = 256
const BYTES_AT_ONCE = 64 * 1024 * 1024 // in one transaction, or one content that is larger
const MEMORY = 64 * 1024 * 1024

/** @throws what the target throws */
export async function moveContents(request: ContentsRequest): Promise<MovedContents> {
  const { from, to, signal, progress } = request
  const moved: MovedContents = { count: 0, bytes: 0, lost: [] }
  const all = await countContents(from.db)
  let seen = 0
  for await (const page of pagesOf(selectContents(from.db), PAGE)) {
    const hashes = page.map(({ sha256 }) => sha256)
    const there = await selectSentAmong(to.db, hashes)
    const known = new Set(await selectLostAmong(from.db, hashes))
    const gone = new Set<string>()
    for (const some of portionsOf(page.filter(({ sha256 }) => !there.has(sha256)))) {
      signal.throwIfAborted()
      const lost = await send(some, request)
      for (const { sha256 } of lost) gone.add(sha256)
      moved.lost.push(...lost.filter(({ sha256 }) => !known.has(sha256)))
    }
    for (const { sha256, size } of page) {
      if (gone.has(sha256)) continue
      moved.count += 1
      moved.bytes += size
    }
    seen += page.length
    progress('contents', seen, all)
  }
  return moved
}

/** What of it is not in the source. */
async function send(contents: readonly Content[], request: ContentsRequest): Promise<LostContent[]> {
  const { from, to, inPlace, lock } = request
  using memory = createMemoryBudget({ each: MEMORY, all: MEMORY }).open()
  const batch = to.blobs.beginBatch(memory)
  const kept: KeptContent[] = []
  const lost: LostContent[] = []
  try {
    for (const content of contents) {
      const loss = await faultOfBlob(blobPath(from.folder, content.sha256), content.sha256, request.signal)
      if (loss) lost.push({ sha256: content.sha256, fault: loss.words, since: request.since })
      else if (inPlace) kept.push(content)
      else await copy(content, from.blobs, batch)
    }
    await batch.commit()
    for (let at = 0; at < batch.count(); at++) kept.push(batch.at(at))
    const isThere = await atomically(to.db, (trx) => to.blobs.claim(trx, kept), lock)
    if (!isThere)
      throw new AppError('failed', 'contents that were sent are not there: is somebody removing them?')
  } finally {
    await batch.discard()
  }
  return lost
}

async function copy({ sha256 }: Content, from: Pick<Blobs, 'read'>, batch: BlobBatch): Promise<void> {
  const blob = await from.read(sha256)
  if (!blob) throw new AppError('failed', `content ${sha256} has gone meanwhile: try again`)
  const writer = batch.begin()
  try {
    for await (const chunk of blob.chunks()) await writer.write(chunk)
  } catch (error) {
    await writer.discard()
    throw error
  }
  const { sha256: sent } = batch.at(await writer.keep())
  if (sent !== sha256) throw new AppError('failed', `content ${sha256} has changed meanwhile: try again`)
}

function* portionsOf(contents: readonly Content[]): Generator<Content[]> {
  let some: Content[] = []
  let bytes = 0
  for (const content of contents) {
    if (some.length > 0 && bytes + content.size > BYTES_AT_ONCE) {
      yield some
      some = []
      bytes = 0
    }
    some.push(content)
    bytes += content.size
  }
  if (some.length > 0) yield some
}
