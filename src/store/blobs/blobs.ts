// Contract of a blob store, for a folder (folder.ts) and for a bucket of objects. The rows name the blobs that are
// needed (blob-rows.ts).

import type { MemoryShare } from '../../runtime/memory-budget.ts'
import type { IsoDate } from '../../values/dates.ts'
import type { BlobInfo, StoredName, UploadedBlob } from '../documents/blob-info.ts'
import type { Lock } from '../engine.ts'
import type { WriteDb } from '../tables.ts'
import type { BlobBatch } from './batch.ts'
import type { BlobReader } from './blob-reader.ts'

export type Blobs = BlobReader & {
  /**
   * True: blobs without a document are removed after --keep-removed days. Other nodes may be about to reference them,
   * and so does a database that is restored to an earlier instant. The same applies to blobs of failed uploads.
   */
  readonly keepsRemoved: boolean
  /** Begins the blobs of one upload. */
  beginBatch(memory: MemoryShare): BlobBatch
  /**
   * Called in the transaction that writes the rows of committed blobs, before those rows. False: the last document of
   * an equal blob was deleted since the commit, and nothing may be written.
   */
  addReferences(trx: WriteDb, blobs: Iterable<UploadedBlob>): Promise<boolean>
  /** Lists the names of all blobs, rising: each its SHA-256, or its object in a bucket. */
  list(): AsyncGenerator<StoredName>
  /** Returns the time at which a blob was written; undefined when there is none of this name. */
  findModifiedTime(name: StoredName): Promise<Date | undefined>
  /** Returns hash and size of a blob, without its row; undefined when there is none of this name. */
  inspect(name: StoredName): Promise<BlobInfo | undefined>
  /** Removes a blob that no row and no running upload needs. Returns whether it existed. */
  remove(name: StoredName): Promise<boolean>
  /** Removes the names that belong to no blob, and the records of their removal. */
  removeFree(db: WriteDb, work: RemovalWork): Promise<Removal>
  /** Removes what uploads left that do not run, of any age or from before an instant; returns their number. */
  removeUnfinished(before?: Date): Promise<number>
  /** Returns the free bytes; undefined where they are not known. */
  freeBytes?(): Promise<number>
  /** Folder for unreferenced blobs of one machine, which are moved there when they are many. */
  readonly removedFolder?: RemovedFolder
}

/** The folder `removed/` beside the blobs. */
export type RemovedFolder = {
  list(): Promise<RemovedBlob[]>
  /** Moves a blob into the folder. False: there is none. */
  add(blob: RemovedBlob): Promise<boolean>
  /** Moves blobs back. */
  restore(blobs: readonly RemovedBlob[]): Promise<void>
  delete(blob: RemovedBlob): Promise<void>
}

/** `day`: day of the move. */
export type RemovedBlob = { sha256: string; day: IsoDate }

export type RemovalWork = {
  names: readonly StoredName[]
  /**
   * Later files stay, because an upload of another node may be about to reference them. Undefined: there is none.
   */
  writtenBefore?: Date | undefined
  /** True: names of this process's running uploads stay. Otherwise these uploads notice the removal, and fail. */
  isSweep?: boolean
  /** Lock of the garbage collection. */
  lock?: Lock | undefined
  /** Day of a move into `removed/`; undefined: files are deleted. */
  moveDay?: IsoDate | undefined
}

/** Names that were removed, and the errors of those that the store did not remove. */
export type Removal = { removed: readonly StoredName[]; errors: readonly unknown[] }
