// Opening the data directory for a command: as the right user, with the catalogue in place.

import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { AppError, reasonOf } from '../errors.ts'
import type { Provider } from '../providers/provider.ts'
import { diskError, lostDatabaseError } from '../storage-error.ts'
import type { Engine } from '../store/engine.ts'
import { openEngine } from '../store/open-engine.ts'
import type { Place } from '../store/place.ts'
import type { Db } from '../store/tables.ts'
import { ensureCatalogue } from '../sync/catalogue.ts'

/**
 * Root that works on a data directory of another user becomes that user first, for good, so that no file in
 * it ends up owned by root and the service can still write its own database.
 */
export function becomeOwner(dataDir: string): void {
  if (process.getuid?.() !== 0 || !existsSync(dataDir)) return
  const { uid, gid } = statSync(dataDir)
  if (uid === 0) return
  try {
    process.setgroups?.([gid])
    process.setgid?.(gid)
    process.setuid?.(uid)
  } catch (error) {
    throw new AppError('failed', `cannot become the owner of ${dataDir}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

/** The same for a directory of contents, where the database is none of a data directory. */
export function becomeOwnerOf({ dataDir, database, blobs }: Place): void {
  if (database === undefined) becomeOwner(dataDir)
  else if (blobs && 'folder' in blobs) becomeOwner(blobs.folder)
}

/** Opens the database of a command for the length of `work`. `mustExist`: do not make a new one. */
export type WithDatabase = <T>(
  options: { mustExist: boolean },
  work: (db: Db, engine: Engine) => Promise<T>,
) => Promise<T>

/** `say` is told where it is if the command changes it, and of an upgrade. */
export function databaseIn(
  placeOf: () => Place,
  options: { changesData: boolean; providers: readonly Provider[]; say: (text: string) => void },
): WithDatabase {
  const { changesData, providers, say } = options
  return async ({ mustExist }, work) => {
    const place = placeOf()
    becomeOwnerOf(place)
    const engine = await openEngine(place, {
      mustExist,
      onlyReads: !changesData,
      migrate: false, // of a shared database: by serve and database migrate alone
      upgraded: ({ from, to, copy }) =>
        say(`The database was of schema ${from} and is of ${to} now; as it was it is in ${copy}\n`),
    })
    if (changesData)
      say(
        engine.kind === 'sqlite'
          ? `data directory: ${resolve(place.dataDir)}\n`
          : `database: ${engine.place}\n`,
      )
    try {
      await ensureCatalogue(engine.db, providers, engine.clock)
      return await work(engine.db, engine)
    } catch (error) {
      if (engine.kind === 'postgres') throw lostDatabaseError(error, engine.place)
      throw diskError(error, place.dataDir)
    } finally {
      await engine.close()
    }
  }
}
