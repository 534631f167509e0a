// Address of the server of a data directory, and the settings that commands on the same machine need. The server
// writes both to a file, a line each, when it listens. The file is valid only while the server's lock is taken.

import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { errorCode } from '../runtime/errors.ts'

const FILE = 'serve.url'

/** Loopback address, for commands on the same machine, of a server that listens on every address. */
export const WILDCARD: Record<string, string> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }

export type ServerSettings = {
  /** Disk space that uploads leave free. */
  minFree: number
  /** Folder and schedule of the nightly backups; undefined: none are made. */
  backup?: { dir: string; cron: string } | undefined
}

/** Writes address and settings. Only the holder of the server's lock may call it. */
export function writeServerAddress(dataDir: string, url: string, { minFree, backup }: ServerSettings): void {
  removeServerAddress(dataDir)
  const own = backup && { dir: resolve(backup.dir), cron: backup.cron } // a command may run in another directory
  const settings: ServerSettings = { minFree, backup: own }
  writeFileSync(join(dataDir, FILE), `${url}\n${JSON.stringify(settings)}\n`, { flag: 'wx', mode: 0o600 })
}

export function removeServerAddress(dataDir: string): void {
  try {
    unlinkSync(join(dataDir, FILE)) // errors of rmSync have no code on a read-only disk
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

/**
 * Like `removeServerAddress`, at shutdown, without errors: a file that stays on a failing disk is invalid without the
 * lock.
 */
export function forgetServerAddress(dataDir: string): void {
  try {
    removeServerAddress(dataDir)
  } catch {} // readers ignore the file without the lock
}

/** Returns the address; undefined without a file. */
export function readServerAddress(dataDir: string): string | undefined {
  return readLines(dataDir)?.[0]
}

/** Returns the settings. Undefined: no file, a file of a version that wrote none, or a damaged file. */
export function readServerSettings(dataDir: string): ServerSettings | undefined {
  const [, settings] = readLines(dataDir) ?? []
  try {
    return settings ? JSON.parse(settings) : undefined
  } catch {
    return undefined // the command falls back to its own settings
  }
}

function readLines(dataDir: string): string[] | undefined {
  try {
    return readFileSync(join(dataDir, FILE), 'utf8').trim().split('\n')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
