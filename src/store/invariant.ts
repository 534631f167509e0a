// Errors of broken invariants. Each ends its transaction, because a commit would lose data or store wrong data.

/**
 * `Claim`: of a document by a worker. `Sum`: bytes of a company or a token. `SyncRun`,
 * `IndicatorRun`: its record and its values.
 */
export type StateMachine = 'Claim' | 'Upload' | 'Removal' | 'Sum' | 'SyncRun' | 'IndicatorRun'

/** Makes an error with the name `ClaimInvariantError` and so on: a defect, and never the fault of a client. */
export function invariantError(kind: StateMachine, fault: string): Error {
  return Object.assign(new Error(fault), { name: `${kind}InvariantError` })
}
