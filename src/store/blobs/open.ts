// Where the contents of documents are: in a folder of one machine, or in a folder or a bucket that several nodes share, with
// rows beside it. What only these need is loaded for them.

import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { ContentRows, StoredName } from '../contents.ts'
import type { Engine, Lock } from '../engine.ts'
import type { BucketPlace, Place } from '../place.ts'
import type { Blobs, Removal } from './blobs.ts'
import { type BlobFs, openBlobFolder } from './folder.ts'

/** A store of contents that several nodes share, with the rows that say what is in it. */
export type SharedContents = {
  blobs: Blobs
  rows: ContentRows
  /** Why these are not the contents of the database, in words; undefined: they are, or no node has started yet. */
  fault(): Promise<string | undefined>
  /** Removes those of these names that belong to no content, and were not written lately. */
  removeFree(work: { names: readonly StoredName[]; writtenBefore: Date; lock: Lock }): Promise<Removal>
}

export type Contents = Disposable & {
  blobs: Blobs
  /** Undefined: one process has them. */
  shared?: SharedContents
  /**
   * Whether contents may be read and written there, and those of this database are.
   * @throws AppError `failed` where they may not, or are not
   */
  check(): Promise<void>
}

type Node = Pick<Engine, 'kind' | 'db' | 'clock'>

/** Asks nothing of the store yet. @throws AppError `failed` when the contents of this database are of the other kind */
export async function openContents(
  { dataDir, blobs: place }: Pick<Place, 'dataDir' | 'blobs'>,
  { kind, db, clock }: Node,
  fs?: BlobFs,
): Promise<Contents> {
  const folder = place === undefined ? join(dataDir, 'blobs') : 'folder' in place ? place.folder : undefined
  if (kind === 'sqlite' && folder !== undefined) {
    return { blobs: await openBlobFolder(folder, fs), check: async () => {}, [Symbol.dispose]() {} }
  }
  const { contentRows } = await import('../postgres/content-rows.ts')
  const { openMark } = await import('./mark.ts')
  const rows = contentRows(db)
  if (place !== undefined && 'bucket' in place) {
    const { openBucket } = await import('./bucket/bucket.ts')
    const { removeObjects } = await import('./bucket/removal.ts')
    await refuseOther(rows, 'files', `in a folder, and not in the bucket ${place.bucket}`)
    const blobs = await openBucket({ ...addressOf(place), clock }, rows)
    const mark = openMark(db, rows, blobs.marked)
    const removeFree: SharedContents['removeFree'] = (work) => removeObjects(db, blobs, rows, work)
    return {
      blobs,
      shared: { blobs, rows, removeFree, fault: mark.fault },
      async check() {
        await blobs.check()
        await mark.check()
      },
      [Symbol.dispose]: blobs.close,
    }
  }
  await refuseOther(rows, 'objects', `in a bucket, and not in the folder ${folder}`)
  const { markedFolder, openSharedFolder, removeFiles } = await import('./shared-folder.ts')
  const mark = openMark(db, rows, markedFolder(folder as string, fs))
  const blobs = await openSharedFolder(folder as string, { rows, mark }, fs)
  const removeFree: SharedContents['removeFree'] = (work) => removeFiles(db, blobs, rows, work)
  return {
    blobs,
    shared: { blobs, rows, removeFree, fault: mark.fault },
    check: mark.check,
    [Symbol.dispose]() {},
  }
}

async function refuseOther(rows: ContentRows, kind: 'objects' | 'files', where: string): Promise<void> {
  if (await rows.has(kind)) throw new AppError('failed', `the contents of this database are ${where}`)
}

/** What a store beside AWS understands: the name of the bucket in the path. */
function addressOf(place: BucketPlace) {
  return { ...place, pathStyle: place.endpoint !== undefined }
}
