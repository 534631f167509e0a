// Reads a rate and a document as requests do. A server on probation does so before it listens.

import { AppError } from '../../runtime/errors.ts'
import type { BlobReader } from '../../store/blobs/reader.ts'
import { type DocumentRow, selectDocuments } from '../../store/documents/documents.ts'
import type { ReadDb } from '../../store/tables.ts'
import { type IsoDate, isoDate } from '../../values/dates.ts'
import type { RateCache } from '../rates/rate-cache.ts'

/** Newest day of a series, and id of a document; undefined: none is stored. */
export type Samples = { rate: IsoDate | undefined; document: number | undefined }

const MOST_TRIES = 10 // contents of single documents may have been lost before

/** @throws AppError `failed` when no newest document can be read; the error of the database */
export async function readSamples(deps: {
  cache: RateCache
  reads: ReadDb
  blobs: BlobReader
}): Promise<Samples> {
  return { rate: await readRate(deps.cache), document: await readDocument(deps) }
}

async function readRate(cache: RateCache): Promise<IsoDate | undefined> {
  const columns = await cache.read((snapshot) => snapshot.columns(snapshot.series))
  const days = columns.flatMap(({ days }) => days.at(-1) ?? [])
  return days.length === 0 ? undefined : isoDate(Math.max(...days))
}

async function readDocument({
  reads,
  blobs,
}: {
  reads: ReadDb
  blobs: BlobReader
}): Promise<number | undefined> {
  const documents = await selectDocuments(reads, { order: 'desc', limit: MOST_TRIES })
  for (const document of documents) if (await isReadable(document, blobs)) return document.id
  if (documents.length === 0) return undefined
  throw new AppError('failed', `the content of none of the ${documents.length} newest documents can be read`)
}

async function isReadable({ sha256 }: DocumentRow, blobs: BlobReader): Promise<boolean> {
  const blob = await blobs.read(sha256)
  if (!blob) return false
  let size = 0
  for await (const chunk of blob.chunks()) size += chunk.length // compares the hash
  return size === blob.size
}
