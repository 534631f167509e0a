// The contents of documents as a server opens them: what a crash left in the folder of one process is removed at once, and
// of a place that several nodes share it is asked whether it may be used.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError, reasonOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { BlobFs } from '../../store/blobs/folder.ts'
import { type Contents, openContents } from '../../store/blobs/open.ts'
import { removeOrphans } from '../../store/blobs/orphans.ts'
import { scanNamedBlobs, selectNamedBlobs } from '../../store/contents.ts'
import type { Engine } from '../../store/engine.ts'
import type { Place } from '../../store/place.ts'
import type { Db } from '../../store/tables.ts'
import { settleLostContents } from './lost-contents.ts'

// Rates are served without contents: a place that only is away does not keep a node from starting.
const CHECK_MS = 10_000

/** The caller holds the serve lock, if there is one. @throws AppError `failed` for a bucket that may not be used */
export async function openServedContents(
  place: Pick<Place, 'dataDir' | 'blobs'>,
  engine: Pick<Engine, 'kind' | 'db' | 'clock'>,
  { log, fs }: { log: Log; fs?: BlobFs | undefined },
): Promise<Contents> {
  const contents = await openContents(place, engine, fs)
  try {
    if (contents.shared) await check(contents, log)
    else await sweep(engine.db, contents, log)
    return contents
  } catch (error) {
    contents[Symbol.dispose]()
    throw error
  }
}

async function check(contents: Contents, log: Log): Promise<void> {
  const silence = wait(CHECK_MS, undefined, { ref: false }).then(() => {
    throw new AppError('unavailable', 'it does not answer')
  })
  try {
    await Promise.race([contents.check(), silence])
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error
    log.warn('contents of documents cannot be reached', { reason: reasonOf(error) })
  }
}

/** Removes what a crash left in the folder of one process. */
async function sweep(db: Db, { blobs }: Contents, log: Log): Promise<void> {
  const near = { digits: '', named: new Set<string>() } // blobs are listed by their first digits
  let all: Set<string> | undefined
  const isNamed = async (sha256: string) => {
    const digits = sha256.slice(0, 2)
    if (near.digits !== digits) Object.assign(near, { digits, named: await selectNamedBlobs(db, digits) })
    if (near.named.has(sha256)) return true
    // Before the first is removed, all rows are asked: a document must not go because an index is damaged.
    all ??= await scanNamedBlobs(db)
    return all.has(sha256)
  }
  const removed = await removeOrphans(blobs, { isNamed })
  if (removed.temporary + removed.unnamed > 0) log.info('swept what a crash left', removed)
  const { found, lost } = await settleLostContents(db, blobs)
  if (found > 0) log.info('lost contents of documents are there again', { contents: found })
  if (lost > 0)
    log.warn('contents of documents are lost', { contents: lost, hint: 'cambista doctor names them' })
}
