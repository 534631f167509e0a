// Counters of ids. No id is ever reused, not even after a restore.

import { readAsset } from '../runtime/assets.ts'

/** Ids and revisions that a renewal leaves out. */
export const COUNTER_STEP = 1_000_000
const HIGHEST = Number.MAX_SAFE_INTEGER // 2^53-1: the largest integer that JSON carries exactly
const COUNTED = /^CREATE TABLE (\w+) \(\s+id +INTEGER PRIMARY KEY AUTOINCREMENT,/gm

/**
 * Returns the value of a counter after a restore. Ids that a client may have seen are not reused. An ERP may have
 * chosen ids near 2^53: there the counter moves by half of the rest. `steps`: 1, plus the number of renewals that this
 * database has lost.
 */
export function raiseCounter(counter: number, steps = 1): number {
  return counter + Math.max(0, Math.min(steps * COUNTER_STEP, Math.floor((HIGHEST - counter) / 2)))
}

/** Tables whose ids are never reused, not even after a row is deleted. */
export function tablesWithCounters(): string[] {
  return [...readAsset('schema.sql').matchAll(COUNTED)].map(([, table = '']) => table)
}
