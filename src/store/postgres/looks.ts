// The looks at a database that other nodes write to as well: what has changed, what its time is, and whether it answers. As
// long as it does not, nothing else asks it: who would wait for seconds is refused at once.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Look } from '../engine.ts'
import type { Db } from '../tables.ts'
import { ask } from './ask.ts'
import type { SharedClock } from './clock.ts'
import { isConnectionLost } from './errors.ts'
import type { Gate } from './pool.ts'
import { makeEpoch } from './steps.ts'

export type LooksOptions = {
  /** With a connection of its own, which the gate does not close. */
  db: Db
  gate: Gate
  clock: SharedClock
  wentBack?: (() => void) | undefined
}

/** How long a look may take. */
export const LOOK_MS = 1000
const SOON_MS = 500
const GRACE_MS = 100

type MetaRow = {
  epoch: string
  data_revision: number
  access_revision: number
  documents_revision: number
  told: Date
}

/**
 * One look at a time. The gate is closed by one that fails, and opened by the next that does not.
 * @throws AppError `unavailable` when it takes longer than a second, or the error of the database
 */
export function createLooks({ db, gate, clock, wentBack }: LooksOptions): () => Promise<Look> {
  let seen: { epoch: string; revision: number } | undefined
  let asking: Promise<MetaRow> | undefined
  const once = async () => {
    const sentAt = clock.ticks()
    const { rows } = await ask<MetaRow>(
      db,
      `select epoch, data_revision, access_revision, documents_revision + turn as documents_revision,
         clock_timestamp() as told
       from meta, document_order`,
    )
    const [row] = rows
    if (!row) throw new AppError('unavailable', 'The database has no data')
    clock.compare(sentAt, clock.ticks(), row.told)
    return row
  }
  const twice = async () => {
    const begun = performance.now()
    try {
      return await once()
    } catch (error) {
      // A connection that was ended meanwhile says nothing of the server: a new one does.
      if (!isConnectionLost(error) || performance.now() - begun > SOON_MS) throw error
      return await once()
    }
  }
  const known = async ({ epoch, data_revision: revision, ...more }: MetaRow): Promise<Look> => {
    let now = epoch
    // The next commit would have a number that clients know for other data.
    if (seen?.epoch === epoch && revision < seen.revision) {
      now = makeEpoch()
      await ask(db, 'update meta set epoch = $1 where epoch = $2', [now, epoch])
      wentBack?.()
    }
    seen = { epoch: now, revision }
    const [access, documents] = [String(more.access_revision), String(more.documents_revision)]
    return { data: `${now} ${revision}`, access, documents }
  }
  return async () => {
    asking ??= twice().finally(() => {
      asking = undefined
    })
    try {
      const look = await known(await withinTime(asking))
      gate.open()
      return look
    } catch (error) {
      gate.close()
      throw error
    }
  }
}

async function withinTime<T>(asked: Promise<T>): Promise<T> {
  const over = new AbortController()
  const { signal } = over
  // In two parts: where the whole machine stood still, the answer has a moment left.
  const late = wait(LOOK_MS - GRACE_MS, undefined, { signal }).then(async () => {
    await wait(GRACE_MS, undefined, { signal })
    throw new AppError('unavailable', `the database did not answer within ${LOOK_MS} ms`)
  })
  for (const one of [late, asked]) one.catch(() => {}) // the other one may be first
  try {
    return await Promise.race([asked, late])
  } finally {
    over.abort()
  }
}
