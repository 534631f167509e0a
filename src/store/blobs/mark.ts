// Which store has the contents of a database: both have the same mark. So no node keeps documents in a folder that is not
// mounted, under a prefix that was mistyped, or where another database would take them for nobody's.

import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { ContentRows } from '../contents.ts'
import { atomically } from '../engine.ts'
import type { Db } from '../tables.ts'

/** The name of the file or object; it has the mark as text. */
export const MARK = 'cambista-contents'

export type MarkedStore = {
  /** Where the mark is, for people. */
  place: string
  read(): Promise<string | undefined>
  write(mark: string): Promise<void>
}

export type Mark = {
  /** The first node of a new database makes the mark. @throws AppError `failed` for a store with another one, or none */
  check(): Promise<void>
  /** What `check` would throw, in words; undefined: nothing, or there is no mark yet. Changes nothing. */
  fault(): Promise<string | undefined>
  /**
   * In a transaction that keeps documents: the store may have been away when the node started, or be away by now.
   * @throws AppError like `check`
   */
  hold(trx: Db): Promise<void>
}

export function openMark(
  db: Db,
  rows: Pick<ContentRows, 'mark' | 'setMark'>,
  { place, read, write }: MarkedStore,
): Mark {
  let known: string | undefined
  const make = async () => {
    const other = await read()
    if (other !== undefined) throw belongsToOther(place, other)
    const mark = randomUUID()
    await write(mark)
    return mark
  }
  const faultOf = async (mark: string) => {
    const found = await read()
    if (found === undefined) {
      const advice = `Is it mounted, and written right? If it is the right one, write ${mark} there`
      return new AppError(
        'failed',
        `the contents of this database are not here, there is no ${place}. ${advice}`,
      )
    }
    return found === mark ? undefined : belongsToOther(place, found)
  }
  const check = async (trx: Db) => {
    // Others that start at the same time wait for its end, and then find the mark.
    const mark = (await rows.mark(trx)) ?? (await rows.setMark(trx, make))
    const fault = await faultOf(mark)
    if (fault) throw fault
    known = mark
  }
  return {
    check: () => atomically(db, check),
    async fault() {
      const mark = await rows.mark(db)
      return mark === undefined ? undefined : (await faultOf(mark))?.message
    },
    async hold(trx) {
      if (known === undefined) return check(trx)
      const fault = await faultOf(known)
      if (fault) throw fault
    },
  }
}

function belongsToOther(place: string, mark: string): AppError {
  const advice = 'If that database is no more, remove it'
  return new AppError('failed', `the contents of another database are here: ${place} says ${mark}. ${advice}`)
}
