// Problems of a run: messages for the operator, each once, and the same as codes for the page (decisions#status).

import { FetchFailure } from '../providers/provider.ts'
import { AppError, errorReason } from '../runtime/errors.ts'
import { lostDatabaseError, storageError } from '../runtime/storage-error.ts'
import type { SyncFailure } from '../store/rates/sync-runs.ts'
import type { RunCause, UnsynchronizedCause } from '../store/tables.ts'

/** A message, with its failure if that has a code of its own. `cause`: that of a run without another problem. */
export type Problem = {
  message: string
  failure?: SyncFailure | undefined
  cause?: UnsynchronizedCause | undefined
}

export type Problems = {
  readonly size: number
  readonly messages: readonly string[]
  /** Failures of the messages. Equal ones are one, with the sum of their counts. */
  readonly failures: readonly SyncFailure[]
  /** Message of an interruption of the run; undefined: it had none. */
  readonly interruption: string | undefined
  readonly cause: RunCause | null
  /** Adds a problem, unless its message is there already. `of`: subject of a failure without a code of its own. */
  add(problem: Problem, of: string): void
}

export function createProblems(): Problems {
  const problems = new Map<string, Problem>()
  const failures = new Map<string, SyncFailure>()
  let interruption: string | undefined
  return {
    get size() {
      return problems.size
    },
    get messages() {
      return [...problems.keys()]
    },
    get failures() {
      return [...failures.values()]
    },
    get interruption() {
      return interruption
    },
    get cause() {
      if (interruption !== undefined) return 'interrupted'
      const [only, ...others] = problems.values()
      return others.length === 0 ? (only?.cause ?? null) : null
    },
    add(problem, of) {
      const { message, failure } = problem
      if (problems.has(message)) return
      problems.set(message, problem)
      if (failure?.code === 'interrupted') interruption ??= message
      const { count, ...facts } = failure ?? { code: 'other', of }
      const key = JSON.stringify(facts)
      const before = failures.get(key)
      failures.set(key, count === undefined ? facts : { ...facts, count: (before?.count ?? 0) + count })
    },
  }
}

/** Adds the error that ended background work, or its stop. Returns the reason; undefined: it was stopped. */
export function addEnd(
  problems: Problems,
  error: unknown,
  { of, signal }: { of: string; signal: AbortSignal },
): string | undefined {
  if (signal.aborted) {
    problems.add({ message: 'stopped, goes on later', failure: { code: 'interrupted', of } }, of)
    return undefined
  }
  const message = errorReason(lostDatabaseError(error))
  problems.add({ message, failure: errorFailure(error, of) }, of)
  return message
}

/** Returns the failure of an error; undefined: it has no code of its own. */
export function errorFailure(error: unknown, of: string): SyncFailure | undefined {
  if (error instanceof FetchFailure) return { ...error.fact, of }
  const failure = storageError(error)
  return failure instanceof AppError && failure.code === 'disk-full' ? { code: 'disk_full', of } : undefined
}
