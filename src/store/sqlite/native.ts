// Loads the native addon of better-sqlite3. In a checkout the library finds it itself. The executable contains it, but
// only a file can be loaded. So it is written to a random name, loaded and removed at once.

import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { packedAsset } from '../../runtime/assets.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { isDiskFull } from '../../runtime/storage-error.ts'

const MEMORY = '/dev/shm'

let loaded: object | undefined // a process can load an addon only once

/**
 * Returns the `nativeBinding` option of a new database. The data directory is tried second: the temporary directory is
 * often mounted noexec. A full disk may have both, and /dev/shm is memory. The library accepts the addon itself, although
 * its types allow only a path.
 * @throws AppError `failed` when the addon can be loaded from neither directory
 */
export function nativeBinding(dataDir: string): string | undefined {
  loaded ??= loadAddon([tmpdir(), dataDir])
  return loaded as string | undefined
}

function loadAddon(directories: readonly string[]): object | undefined {
  const addon = packedAsset('better_sqlite3.node')
  if (!addon) return undefined
  const refusals: string[] = []
  const candidates = [...directories]
  for (const directory of candidates) {
    const path = join(directory, `.cambista-${randomUUID()}.node`)
    try {
      return loadFile(path, addon)
    } catch (error) {
      if (isDiskFull(error) && !candidates.includes(MEMORY)) candidates.push(MEMORY)
      const [reason] = errorReason(error).replace(`${path}: `, '').split(', ') // without the random name
      refusals.push(`${directory} (${reason})`)
    }
  }
  throw new AppError(
    'failed',
    `cannot load SQLite from a file in ${refusals.join(' nor in ')}. ` +
      'Set TMPDIR to a directory that exists, is writable, has room and is not mounted noexec',
  )
}

function loadFile(path: string, addon: Uint8Array): object {
  const module = { exports: {} }
  try {
    writeFileSync(path, addon, { flag: 'wx', mode: 0o600 })
    process.dlopen(module, path, constants.dlopen.RTLD_NOW)
  } finally {
    rmSync(path, { force: true }) // the addon stays loaded, and a later SIGKILL leaves no file
  }
  return module.exports
}
