// The copy of the database that is made before its schema is changed, for the administrator who wants to go back to
// the program before. It stays until he removes it.

import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { AppError, reasonOf } from '../errors.ts'
import { nativeBinding } from './native.ts'

/** What a copy is called that was not finished; nothing is in it that anybody needs. */
export const UNFINISHED_COPY = /^cambista\.db\.v\d+-.*\.bak\.partial$/

/**
 * Copies the database beside itself, flushed, as `cambista.db.v1-2026-11-21T05-00-00Z.bak`, and returns the copy's path.
 * The caller holds SQLite's write lock, so that nothing is committed between the copy and the migration, and nobody
 * else is copying.
 * @throws AppError `failed`, and then nothing may be changed
 */
export function copyBeforeMigration(path: string, version: number): string {
  const folder = dirname(path)
  const time = new Date()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
  const copy = `${path}.v${version}-${time}.bak`
  const partial = `${copy}.partial`
  try {
    removeUnfinishedCopies(folder)
    closeSync(openSync(partial, 'wx', 0o600))
    const reader = new Sqlite(path, { readonly: true, nativeBinding: nativeBinding(folder) })
    try {
      // It waits for nothing but the disk: in WAL mode a reader does not wait for the writer that the caller is.
      reader.prepare('vacuum into ?').run(partial)
    } finally {
      reader.close()
    }
    flushNow(partial)
    renameSync(partial, copy)
    flushNow(folder)
    return copy
  } catch (error) {
    rmSync(partial, { force: true })
    const what = `${basename(path)} has schema version ${version} and cannot be copied before it is upgraded`
    throw new AppError('failed', `${what}: ${reasonOf(error)}; nothing was changed`, { cause: error })
  }
}

/** Removes what a killed upgrade left. The caller holds SQLite's write lock or the lock of the server. */
export function removeUnfinishedCopies(folder: string): number {
  const names = readdirSync(folder).filter((name) => UNFINISHED_COPY.test(name))
  for (const name of names) rmSync(join(folder, name), { force: true })
  return names.length
}

function flushNow(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
