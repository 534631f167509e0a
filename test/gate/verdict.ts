// Judges the failures of a run: the gate is green or red, or its red files run once more.

import type { Failure, LaneResult } from './lane.ts'
import type { LaneName } from './lanes.ts'
import { NO_SECOND_RUN } from './list.ts'

/** A command of a run; `lane` names the tests that it runs. */
export type Step = { name: string; command: string[]; lane?: LaneName; concurrency?: number }
export type Outcome = { step: Step; seconds: number; code: number; result?: LaneResult | undefined }
export type LaneFailure = Failure & { lane: LaneName }

/** `again`: each failure may be chance, and its file runs once more. */
export type Verdict = { color: 'green' | 'red' | 'again'; failures: LaneFailure[] }

/** A step that failed without a failed test is red: `check`, the build, or a lane that crashed. */
export function readVerdict(outcomes: readonly Outcome[]): Verdict {
  const redOutcomes = outcomes.filter(({ code }) => code !== 0)
  if (redOutcomes.length === 0) return { color: 'green', failures: [] }
  const failures = redOutcomes.flatMap(({ step: { lane }, result }) =>
    lane ? (result?.failures ?? []).map((failure) => ({ ...failure, lane })) : [],
  )
  const isUnexplained = redOutcomes.some(({ result }) => !result || result.failures.length === 0)
  return { color: isUnexplained || failures.some(isFinal) ? 'red' : 'again', failures }
}

/** A crash, a time-out, or a file where a failure by chance is a race of the program. */
export function isFinal({ isFinal, files }: Failure): boolean {
  return isFinal || files.some((file) => NO_SECOND_RUN.some((pattern) => pattern.test(file)))
}
