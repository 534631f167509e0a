// Where the server of a data directory is to be found, for commands beside it: a file that it writes when it listens. It
// means nothing unless the lock of the server is held.

import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../errors.ts'

const FILE = 'serve.url'

/** Written by the holder of the lock. */
export function writeServerAddress(dataDir: string, url: string): void {
  removeServerAddress(dataDir)
  writeFileSync(join(dataDir, FILE), `${url}\n`, { flag: 'wx', mode: 0o600 })
}

export function removeServerAddress(dataDir: string): void {
  try {
    unlinkSync(join(dataDir, FILE)) // rmSync has no code for a disk that is read-only
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/** The same at the end: on a disk that has become read-only it stays, and means nothing without the lock. */
export function forgetServerAddress(dataDir: string): void {
  try {
    removeServerAddress(dataDir)
  } catch {}
}

/** Undefined: there is none. */
export function readServerAddress(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, FILE), 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
