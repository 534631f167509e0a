// A timer that only the test turns: an interval passes without a wait.

import type { Repeat } from '../../../src/domain/operations/database-watch.ts'

export type TestTimer = { repeat: Repeat; pass(ms: number): void }

/** A timer at zero. `pass` calls each function as often as its interval ends in these milliseconds. */
export function stoppedTimer(): TestTimer {
  const tasks = new Set<{ work: () => void; ms: number; dueMs: number }>()
  let nowMs = 0
  return {
    repeat(work, ms) {
      const task = { work, ms, dueMs: nowMs + ms }
      tasks.add(task)
      return () => tasks.delete(task)
    },
    pass(ms) {
      nowMs += ms
      for (const task of tasks) {
        for (; task.dueMs <= nowMs; task.dueMs += task.ms) task.work()
      }
    },
  }
}
