// Key of the secrets of hooks: 32 random bytes in hook.key, beside the database and in no backup. Nodes of a cluster
// share one key; each gets it by an option.

import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, errorCode } from '../../runtime/errors.ts'
import { flush } from '../../runtime/file-hash.ts'
import { secretText } from '../../runtime/secret-text.ts'
import type { StorageConfig } from '../storage-config.ts'

const FILE = 'hook.key'
const BYTES = 32
const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[\w+/-]{43}=?$/

/** Returns the key; undefined: there is none. @throws AppError `failed` for a file of another size */
export function findHookKey({ dataDir, database, hookKey }: StorageConfig): Buffer | undefined {
  return database === undefined ? readHookKey(dataDir) : hookKey
}

/** A data directory gets its key with its first hook. A node without the option never has one. */
export function mayHaveHookKey({ database, hookKey }: StorageConfig): boolean {
  return database === undefined || hookKey !== undefined
}

/** Like `ensureHookKey`. @throws AppError `usage` for a node of a cluster without a key */
export async function requireHookKey({ dataDir, database, hookKey }: StorageConfig): Promise<Buffer> {
  if (database === undefined) return ensureHookKey(dataDir)
  if (hookKey) return hookKey
  const why = 'the secrets of hooks are encrypted with a key that all nodes have'
  const how = 'openssl rand -base64 32 > FILE makes one, and --hook-key-file FILE gives it to each'
  throw new AppError('usage', `${why}: ${how}`)
}

/** Parses the key of an operator's file: raw bytes, base64 or hex. Undefined: it is not a key. */
export function parseHookKey(bytes: Buffer): Buffer | undefined {
  if (bytes.length === BYTES) return bytes
  const text = secretText(bytes).trim()
  if (HEX.test(text)) return Buffer.from(text, 'hex')
  return BASE64.test(text) ? Buffer.from(text, 'base64') : undefined
}

/** Reads the key file; undefined: there is none. @throws AppError `failed` for a file of another size */
export function readHookKey(dataDir: string): Buffer | undefined {
  const path = join(dataDir, FILE)
  let key: Buffer
  try {
    key = readFileSync(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
  if (key.length === BYTES) return key
  const advice = 'remove it, then give each hook a new secret with cambista hook rotate'
  throw new AppError('failed', `${path} has ${key.length} bytes instead of ${BYTES}: ${advice}`)
}

/** Returns the key, and creates it if there is none. Flushes a new key before it encrypts any secret. */
export async function ensureHookKey(dataDir: string): Promise<Buffer> {
  const existingKey = readHookKey(dataDir)
  if (existingKey) return existingKey
  const path = join(dataDir, FILE)
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, randomBytes(BYTES), { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, path) // atomic; of two simultaneous keys the first stays
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  await flush(dataDir)
  const key = readHookKey(dataDir)
  if (!key) throw new AppError('failed', `${path} cannot be made`)
  return key
}
