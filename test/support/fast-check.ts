// The door to fast-check: its properties draw their cases from the seed of the run, not from the clock.

import fc from 'fast-check'
import { SEED } from './seed.ts'

const MOST_REPEATS = 10

fc.configureGlobal({ seed: SEED })

export { fc }

/** Checks a property, and again with further cases until these are complete. The caller asserts that they are. */
export async function assertProperty<T>(
  property: fc.IRawProperty<T>,
  numRuns: number,
  isComplete: () => boolean,
): Promise<void> {
  for (let at = 0; at === 0 || (!isComplete() && at < MOST_REPEATS); at += 1)
    await fc.assert(property, { numRuns, seed: SEED + at })
}
