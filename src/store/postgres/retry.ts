// Tries again what the database gave up because of others that ran at the same time.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { isConflict } from './errors.ts'

const PATIENCE_MS = 5000
const FIRST_WAIT_MS = 5
const LONGEST_WAIT_MS = 200

/** @throws AppError `busy` when it goes on for five seconds; any other error as it is */
export async function tried<T>(run: () => Promise<T>): Promise<T> {
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
