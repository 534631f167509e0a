// What the tools ask of the documents. They are loaded late and must not bring the database along, so that they are handed
// these functions (decisions 5.1).

import type { documentBy, documentsOn, PageOfDocuments, Patience } from '../../../domain/documents/queries.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'

/** The company that a client may see, null: all. */
export type Bound = Parameters<typeof documentsOn>[1]

export type DocumentQueries = {
  page(bound: Bound, asked: PageOfDocuments): ReturnType<typeof documentsOn>
  find(bound: Bound, id: number): ReturnType<typeof documentBy>
  blobs: Pick<Blobs, 'read'>
}

export type DocumentWaits = {
  pageOnceThere(bound: Bound, asked: PageOfDocuments, patience: Patience): ReturnType<typeof documentsOn>
}
