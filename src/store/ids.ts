// Ids that are given out by the database, and what no id may ever do: mean two things.

import { readAsset } from '../assets.ts'

const STEP = 1_000_000
const HIGHEST = Number.MAX_SAFE_INTEGER // 2^53-1: what JSON carries exactly
const COUNTED = /^CREATE TABLE (\w+) \(\s+id +INTEGER PRIMARY KEY AUTOINCREMENT,/gm

/**
 * Where a counter goes on after a restore, so that no id is given again that a client may have seen. An ERP may have chosen
 * ids near 2^53: there it moves by half of what is left.
 */
export function raisedAbove(counter: number): number {
  return counter + Math.max(0, Math.min(STEP, Math.floor((HIGHEST - counter) / 2)))
}

/** The tables of which no id may be given twice, though a row is deleted. */
export function tablesWithCounters(): string[] {
  return [...readAsset('schema.sql').matchAll(COUNTED)].map(([, table = '']) => table)
}
