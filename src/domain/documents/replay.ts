// The answer of an upload that is given again: its documents may have been deleted since (decisions 3.11).

import { setImmediate } from 'node:timers/promises'
import { selectIdsAmong } from '../../store/documents.ts'
import type { Db } from '../../store/tables.ts'
import { type Run, runsOf } from './batch.ts'

const LOOKED_FOR_AT_ONCE = 500 // a millisecond or less

/** What is answered again: the documents and which of them are there no more, or a whole answer that says so itself. */
export type Replay = { runs: Run[] | string; deleted: number[] }

/** `remembered` is what was kept with the batch: its documents, or its whole answer, as earlier versions kept them. */
export async function replayOf(db: Db, remembered: string): Promise<Replay> {
  const runs = runsOf(remembered)
  if (runs) return { runs, deleted: await deletedAmong(db, runs) }
  const answer = JSON.parse(remembered) as { created_documents: { id: number }[] }
  const each = answer.created_documents.map(({ id }) => ({ id, count: 1 }))
  const deleted = await deletedAmong(db, each)
  return { runs: deleted.length === 0 ? remembered : JSON.stringify({ ...answer, deleted }), deleted }
}

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
