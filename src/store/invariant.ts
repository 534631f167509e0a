// Errors of broken invariants. Each ends its transaction, because a commit would lose data or store wrong data.

/**
 * `Claim`: of a document by a worker, with its result. `Sum`: bytes of a company or a token, mails of a mailbox.
 * `SyncRun`, `IndicatorRun`: its record, its values and its covered days. `Counter`: revision, ids. `Secret`: hash of a
 * key or a token. `Insert`: rows of other tables.
 */
export type StateMachine =
  | ('Claim' | 'Upload' | 'Removal' | 'Sum' | 'SyncRun' | 'IndicatorRun')
  | ('Counter' | 'Secret' | 'Insert')

/** Makes an error with the name `ClaimInvariantError` and so on: a defect, and never the fault of a client. */
export function invariantError(kind: StateMachine, fault: string): Error {
  return Object.assign(new Error(fault), { name: `${kind}InvariantError` })
}
