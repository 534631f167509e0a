// Store id: a text that a database and its blob store have in common. Without it a node could store documents in a
// folder that is not mounted, or under a mistyped prefix. Another database could collect them as garbage.

import { randomUUID } from 'node:crypto'
import { AppError } from '../../runtime/errors.ts'
import { ensureStoreId, findStoreId } from '../documents/content-rows.ts'
import { atomically } from '../engine.ts'
import type { WriteDb } from '../tables.ts'

/** Name of the file or object that has the store id as text. */
export const STORE_ID_NAME = 'cambista-contents'

export type StoreIdFile = {
  /** Location of the store id, for messages. */
  location: string
  read(): Promise<string | undefined>
  write(storeId: string): Promise<void>
}

export type StoreId = {
  /**
   * Compares the ids; the first node of a new database creates them.
   * @throws AppError `failed` for a store with another id, or none
   */
  check(): Promise<void>
  /**
   * Returns the message that `check` would throw, and changes nothing; undefined: the ids match, or there is none yet.
   */
  findFault(): Promise<string | undefined>
  /**
   * Called in a transaction that stores documents: the store may be unreachable now, or was so at the start.
   * @throws AppError like `check`
   */
  verify(trx: WriteDb): Promise<void>
}

export function openStoreId(db: WriteDb, { location, read, write }: StoreIdFile): StoreId {
  let verifiedId: string | undefined
  const make = async () => {
    const other = await read()
    if (other !== undefined) throw belongsToOther(location, other)
    const newId = randomUUID()
    await write(newId)
    return newId
  }
  const validate = async (id: string) => {
    const storedId = await read()
    if (storedId === undefined) {
      const advice = `Is it mounted, and written right? If it is the right one, write ${id} there`
      return new AppError(
        'failed',
        `the contents of this database are not here, there is no ${location}. ${advice}`,
      )
    }
    return storedId === id ? undefined : belongsToOther(location, storedId)
  }
  const check = async (trx: WriteDb) => {
    // Nodes that start at the same time wait for the end of this transaction, and then find the id.
    const id = (await findStoreId(trx)) ?? (await ensureStoreId(trx, make))
    const fault = await validate(id)
    if (fault) throw fault
    verifiedId = id
  }
  return {
    check: () => atomically(db, check),
    async findFault() {
      const id = await findStoreId(db)
      return id === undefined ? undefined : (await validate(id))?.message
    },
    async verify(trx) {
      if (verifiedId === undefined) return check(trx)
      const fault = await validate(verifiedId)
      if (fault) throw fault
    },
  }
}

function belongsToOther(location: string, id: string): AppError {
  const advice = 'If that database is no more, remove it'
  return new AppError(
    'failed',
    `the contents of another database are here: ${location} says ${id}. ${advice}`,
  )
}
