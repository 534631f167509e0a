// The answer of an upload that is given again: its documents may have been deleted since (decisions 3.11).

import { setImmediate } from 'node:timers/promises'
import { selectIdsAmong } from '../../store/documents.ts'
import type { Run } from '../../store/idempotency.ts'
import type { Db } from '../../store/tables.ts'

const LOOKED_FOR_AT_ONCE = 500 // a millisecond or less

/** Which of these documents, which were there once, are there no more. */
export async function deletedAmong(db: Db, runs: readonly Pick<Run, 'id' | 'count'>[]): Promise<number[]> {
  const deleted: number[] = []
  for (const some of portionsOf(runs)) {
    const there = await selectIdsAmong(db, some)
    for (const id of some) if (!there.has(id)) deleted.push(id)
    if (some.length === LOOKED_FOR_AT_ONCE) await setImmediate() // others have their turn
  }
  return deleted
}

function* portionsOf(runs: readonly Pick<Run, 'id' | 'count'>[]): Generator<number[]> {
  let some: number[] = []
  for (const { id, count } of runs) {
    for (let at = 0; at < count; at++) {
      some.push(id + at)
      if (some.length < LOOKED_FOR_AT_ONCE) continue
      yield some
      some = []
    }
  }
  if (some.length > 0) yield some
}
