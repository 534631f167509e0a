// Where the contents of documents are kept: what a folder (folder.ts) and a bucket of objects have in common. Which
// contents are needed is known by the rows, not here.

import type { MemoryShare } from '../../memory-budget.ts'
import type { KeptContent } from '../contents.ts'
import type { Db } from '../tables.ts'
import type { BlobBatch } from './batch.ts'
import type { BlobReader } from './reader.ts'

export type Blobs = BlobReader & {
  /**
   * Whether what is let go of stays for a time, and what uploads leave that failed: another node may be about to name it, and
   * a database that is put back to an earlier moment names it again. The janitor removes it.
   */
  readonly removesLater: boolean
  /** Begins the contents of one upload. */
  beginBatch(memory: MemoryShare): BlobBatch
  /**
   * In the transaction that writes the rows of committed contents, before those rows: whether each of them is there and
   * stays. False when the last document of an equal one was deleted meanwhile: nothing may be written then.
   */
  claim(trx: Db, contents: Iterable<KeptContent>): Promise<boolean>
  /**
   * In the transaction that began with `orderContent` and found that no row names the content any more: lets go of it.
   * Whether there was such a content.
   */
  release(trx: Db, sha256: string): Promise<boolean>
  /** The names of all contents, rising: each its SHA-256, or its object where contents are objects. */
  list(): AsyncGenerator<string>
  /** When what has this name was written; undefined when there is none. */
  writtenAt(name: string): Promise<Date | undefined>
  /** Whether there was something of this name. Only for what no row names and no upload under way. */
  remove(name: string): Promise<boolean>
  /** Removes what uploads that never ended left, of any age or from before an instant; returns how many. */
  removeUnfinished(before?: Date): Promise<number>
  /** Bytes that may still be written; left out where nothing is known of it. */
  freeBytes?(): Promise<number>
}

/** How many were removed, and why each was not that the store did not give up. */
export type Removal = { removed: number; kept: readonly unknown[] }
