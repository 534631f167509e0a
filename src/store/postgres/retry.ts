// Retries transactions that the database rolled back because of concurrent ones.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '../../runtime/errors.ts'
import { isConflict } from './postgres-errors.ts'

const PATIENCE_MS = 5000
const FIRST_WAIT_MS = 5
const LONGEST_WAIT_MS = 200

/** Runs and retries for five seconds. @throws AppError `busy` after that time; any other error unchanged */
export async function withRetry<T>(run: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS
  let pause = FIRST_WAIT_MS
  while (true) {
    try {
      return await run()
    } catch (error) {
      if (!isConflict(error)) throw error
      if (performance.now() + pause > until) {
        throw new AppError('busy', 'The database is in use: try again in a moment', { cause: error })
      }
    }
    await wait(pause * (0.5 + Math.random()))
    pause = Math.min(pause * 2, LONGEST_WAIT_MS)
  }
}
