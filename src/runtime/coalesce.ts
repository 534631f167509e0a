// Shares one run of a task among concurrent callers, with a minimum interval between runs.

import { setTimeout as wait } from 'node:timers/promises'

/**
 * Returns a function that runs the work. Its promise is of a run that begins after the call; callers before that
 * beginning share the run. Runs begin at least `apartMs` apart.
 */
export function coalesce(
  work: () => Promise<void>,
  apartMs: number,
  sleep: (ms: number) => Promise<void> = wait,
): () => Promise<void> {
  let next: Promise<void> | undefined
  let earliest = 0
  const run = async () => {
    await sleep(Math.max(0, earliest - performance.now()))
    next = undefined // later callers may need newer data than this run reads
    earliest = performance.now() + apartMs
    await work()
  }
  return () => {
    next ??= run()
    return next
  }
}
