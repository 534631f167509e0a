// What a claim holds its document by. Where one process has the database, it measures leases itself (own-leases.ts); where
// nodes share one, the rows say when each ends, by the database's clock (shared-leases.ts).

import type { ClaimChange, ClaimRow, NewClaim } from '../../../store/claims.ts'
import type { Together } from '../../../store/engine.ts'
import type { Db } from '../../../store/tables.ts'

export type Leases = {
  /**
   * One transaction that looks which documents may be claimed, and changes their claims. It may run its work twice.
   * `isThere` as of `atomically`.
   */
  change<T>(work: (claims: Claims) => Promise<T>, isThere?: Together<T>['isThere']): Promise<T>
  /** To be called after what other processes committed: workers that wait are woken where a document may be free. */
  wake(): void
  /** To be called once a document is deleted. */
  forget(documentId: number): void
  close(): Promise<void>
}

/** The claims of documents, inside a transaction. What it is handed nobody else changes before the transaction has ended. */
export type Claims = {
  readonly trx: Db
  /** The oldest documents of an agent that are new or whose lease is over, but those that another transaction takes. */
  selectFree(agentId: number, limit: number): Promise<ClaimRow[]>
  /** Documents of any agent whose lease is over and that were claimed so often, at most `limit` of them. */
  selectAbandoned(attempts: number, limit: number): Promise<ClaimRow[]>
  find(documentId: number): Promise<ClaimRow | undefined>
  /** Claims documents, and says when their leases end. */
  claim(claims: readonly NewClaim[], leaseSeconds: number): Promise<Date>
  /** Begins the lease of a claim anew, and says when it ends. */
  extend(row: ClaimRow, leaseSeconds: number): Promise<Date>
  /** Ends the lease of a claim: what becomes of its document. */
  end(row: ClaimRow, change: ClaimChange): Promise<void>
}
