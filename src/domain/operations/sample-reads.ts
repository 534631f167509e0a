// Reads a rate and a document as requests do. A server on probation does so before it listens.

import { AppError } from '../../runtime/errors.ts'
import type { BlobReader } from '../../store/blobs/blob-reader.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import { type DocumentRow, selectDocuments } from '../../store/documents/documents.ts'
import type { ReadDb } from '../../store/tables.ts'
import { type IsoDate, isoDate } from '../../values/dates.ts'
import type { RateCache } from '../rates/rate-cache.ts'

/** Newest day of a series, and id of a document; undefined: none is stored. */
export type Samples = { rate: IsoDate | undefined; document: number | undefined }

const MOST_TRIES = 10 // blobs of single documents may have been lost before

/** @throws AppError `failed` when no newest document can be read; the error of the database */
export async function readSamples(deps: { cache: RateCache; reads: ReadDb; blobs: Blobs }): Promise<Samples> {
  return { rate: await readRate(deps.cache), document: await readDocument(deps) }
}

async function readRate(cache: RateCache): Promise<IsoDate | undefined> {
  const columns = await cache.read((snapshot) => snapshot.columns(snapshot.series))
  const days = columns.flatMap(({ days }) => days.at(-1) ?? [])
  return days.length === 0 ? undefined : isoDate(Math.max(...days))
}

async function readDocument({ reads, blobs }: { reads: ReadDb; blobs: Blobs }): Promise<number | undefined> {
  const newest = await selectDocuments(reads, { order: 'desc', limit: MOST_TRIES })
  const documents = newest.filter(({ content }) => content !== 'lost')
  for (const document of documents) if (await isReadable(document, blobs)) return document.id
  // A store that nodes share may be away, which delays no start.
  if (documents.length === 0 || blobs.keepsRemoved) return undefined
  throw new AppError('failed', `the content of none of the ${documents.length} newest documents can be read`)
}

/** A blob may be damaged since before the upgrade, so that the next one counts. */
async function isReadable({ sha256 }: DocumentRow, blobs: BlobReader): Promise<boolean> {
  try {
    const blob = await blobs.read(sha256)
    if (!blob) return false
    for await (const _chunk of blob.chunks()); // compares the hash
    return true
  } catch {
    return false // the server reports it when the document is read
  }
}
