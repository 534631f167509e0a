// What the tools ask of the documents: functions that are handed to them, which know no database (decisions 6.1).

import type { Access } from '../../../domain/documents/access.ts'
import type { ClaimAsked, ClaimedDocument, Worker } from '../../../domain/documents/claims/claims.ts'
import type { Held, Outcome } from '../../../domain/documents/claims/outcomes.ts'
import type { PageOfDocuments, Patience } from '../../../domain/documents/queries.ts'
import type { Blobs } from '../../../store/blobs/blobs.ts'
import type { DocumentRow } from '../../../store/documents.ts'

type PageFound = { documents: DocumentRow[]; hasMore: boolean }

/** What reads alone. */
export type DocumentQueries = {
  page(access: Access, asked: PageOfDocuments): Promise<PageFound>
  find(access: Access, id: number): Promise<DocumentRow>
  blobs: Pick<Blobs, 'read'>
}

/** What needs the server that the documents are sent to. */
export type DocumentWork = {
  pageOnceThere(access: Access, asked: PageOfDocuments, patience: Patience): Promise<PageFound>
  claim(worker: Worker, asked: ClaimAsked, patience?: Patience): Promise<ClaimedDocument[]>
  finish(worker: Worker, held: Held, told: { outcome: Outcome; note: string | null }): Promise<DocumentRow>
}
