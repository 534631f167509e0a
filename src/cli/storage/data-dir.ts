// Opens the database of a command: as the owner of its directory, with the catalogue of series written.

import { existsSync, statSync } from 'node:fs'
import type { Provider } from '../../providers/provider.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { refuseMoved } from '../../store/cluster/moved-note.ts'
import type { Engine } from '../../store/engine.ts'
import { openEngine } from '../../store/open-engine.ts'
import type { StorageConfig } from '../../store/storage-config.ts'
import type { WriteDb } from '../../store/tables.ts'
import { ensureCatalogue } from '../../sync/catalogue.ts'
import { refuseOnProbation } from './probation.ts'

/**
 * Root becomes the owner of the data directory, for the rest of the process. Otherwise root would own new files in it,
 * and the service could not write its database.
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
    throw new AppError('failed', `cannot become the owner of ${dataDir}: ${errorReason(error)}`, {
      cause: error,
    })
  }
}

/** The same for the blob directory of a cluster, which has no data directory. */
export function becomeStorageOwner(config: StorageConfig): void {
  const folder = storageFolder(config)
  if (folder !== undefined) becomeOwner(folder)
}

/** Returns the folder of this machine that a server writes: its data directory, or the blobs of a cluster. */
export function storageFolder({ dataDir, database, blobs }: StorageConfig): string | undefined {
  if (database === undefined) return dataDir
  return blobs && 'folder' in blobs ? blobs.folder : undefined
}

/**
 * Opens the database for the duration of `work`. `mustExist`: fails instead of making a new one. `anyServer`: opens a
 * copy or an earlier state of a shared database too.
 */
export type WithDatabase = <T>(
  options: { mustExist: boolean; anyServer?: boolean },
  work: (db: WriteDb, engine: Engine) => Promise<T>,
) => Promise<T>

/** Returns a function that opens the database. `print` gets the location, for commands that write, and upgrades. */
export function databaseOpener(
  storage: () => StorageConfig,
  options: {
    changesData: boolean
    providers: readonly Provider[]
    print: (text: string) => void
    /** Settings of this machine's service. */
    settingsFile?: string | undefined
  },
): WithDatabase {
  const { changesData, providers, print, settingsFile } = options
  return async ({ mustExist, anyServer = false }, work) => {
    const config = storage()
    becomeStorageOwner(config)
    if (changesData && config.database === undefined) refuseOnProbation(settingsFile)
    const engine = await openEngine(config, {
      ...{ mustExist, anyServer },
      onlyReads: !changesData,
      migrate: false, // only serve and database upgrade migrate a shared database
      onUpgrade: ({ from, to, copy }) =>
        print(`The database was of schema ${from} and is of ${to} now; as it was it is in ${copy}\n`),
    })
    if (changesData) print(`${engine.description}\n`)
    try {
      await ensureCatalogue(engine.db, providers, engine.clock)
      const result = await work(engine.db, engine)
      // A change that waited for the end of a move is not in the cluster.
      if (changesData && config.database === undefined) refuseMoved(config.dataDir)
      return result
    } catch (error) {
      throw engine.explain(error)
    } finally {
      await engine.close()
    }
  }
}
