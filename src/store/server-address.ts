// Where the server of a data directory is to be found, and the settings of it that commands beside it go by: a file that
// it writes when it listens, a line each. It means nothing unless the lock of the server is held.

import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { codeOf } from '../errors.ts'

const FILE = 'serve.url'

/** Where a server that listens on every address is found on its own machine. */
export const WILDCARD: Record<string, string> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }

export type ServerSettings = {
  /** Disk space that uploads leave free. */
  minFree: number
  /** Where nightly backups go, and when; undefined: nowhere. */
  backup?: { dir: string; cron: string } | undefined
}

/** Written by the holder of the lock. */
export function writeServerAddress(dataDir: string, url: string, { minFree, backup }: ServerSettings): void {
  removeServerAddress(dataDir)
  const own = backup && { dir: resolve(backup.dir), cron: backup.cron } // a command may run in another directory
  const settings: ServerSettings = { minFree, backup: own }
  writeFileSync(join(dataDir, FILE), `${url}\n${JSON.stringify(settings)}\n`, { flag: 'wx', mode: 0o600 })
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
  return readLines(dataDir)?.[0]
}

/** Undefined: there are none, the server is of a version that wrote none, or the file is damaged. */
export function readServerSettings(dataDir: string): ServerSettings | undefined {
  const [, settings] = readLines(dataDir) ?? []
  try {
    return settings ? JSON.parse(settings) : undefined
  } catch {
    return undefined // who asks goes by settings of its own
  }
}

function readLines(dataDir: string): string[] | undefined {
  try {
    return readFileSync(join(dataDir, FILE), 'utf8').trim().split('\n')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
