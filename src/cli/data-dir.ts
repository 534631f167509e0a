// Opening the data directory for a command: as the right user, with the catalogue in place.

import { existsSync, statSync } from 'node:fs'
import { AppError, reasonOf } from '../errors.ts'
import { PROVIDERS } from '../providers/list.ts'
import { openDatabase } from '../store/database.ts'
import { diskError } from '../store/storage-error.ts'
import type { Db } from '../store/tables.ts'
import { ensureCatalogue } from '../sync/catalogue.ts'
import type { Values } from './args.ts'

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

/** Opens the database of --data-dir for the length of `work`. `mustExist`: do not make a new one. */
export async function withDatabase<T>(
  values: Values,
  options: { mustExist: boolean },
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const dataDir = values.text('data-dir')
  becomeOwner(dataDir)
  const db = openDatabase(dataDir, { ...options, upgraded: values.upgraded })
  values.opened?.(dataDir)
  try {
    await ensureCatalogue(db, PROVIDERS)
    return await work(db)
  } catch (error) {
    throw diskError(error, dataDir)
  } finally {
    await db.destroy()
  }
}
