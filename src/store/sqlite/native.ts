// Where SQLite's machine code comes from. Run from source, better-sqlite3 finds its own addon; the packed program
// carries it, and only a file can be loaded: it is written under a name of its own, loaded, and removed at once.

import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { packedAsset } from '../../assets.ts'
import { AppError, reasonOf } from '../../errors.ts'

let loaded: object | undefined // a process can load it once

/**
 * The `nativeBinding` of a new database, whose directory is the second place to try: a temporary directory is
 * often mounted noexec. The library takes the addon itself; its types know only a path.
 * @throws AppError `failed` when neither place serves
 */
export function nativeBinding(dataDir: string): string | undefined {
  loaded ??= loadAddon([tmpdir(), dataDir])
  return loaded as string | undefined
}

function loadAddon(directories: readonly string[]): object | undefined {
  const addon = packedAsset('better_sqlite3.node')
  if (!addon) return undefined
  const refusals: string[] = []
  for (const directory of directories) {
    const path = join(directory, `.cambista-${randomUUID()}.node`)
    try {
      return loadFrom(path, addon)
    } catch (error) {
      const [reason] = reasonOf(error).replace(`${path}: `, '').split(', ') // its name says nothing
      refusals.push(`${directory} (${reason})`)
    }
  }
  throw new AppError(
    'failed',
    `cannot load SQLite from a file in ${refusals.join(' nor in ')}. ` +
      'Set TMPDIR to a directory that exists, is writable and is not mounted noexec',
  )
}

function loadFrom(path: string, addon: Uint8Array): object {
  const module = { exports: {} }
  try {
    writeFileSync(path, addon, { flag: 'wx', mode: 0o600 })
    process.dlopen(module, path, constants.dlopen.RTLD_NOW)
  } finally {
    rmSync(path, { force: true }) // what is loaded stays loaded, so that not even SIGKILL leaves it behind
  }
  return module.exports
}
