// The key of the secrets of hooks: 32 random bytes in hook.key, beside the database and in no backup. Of several nodes each is
// given it, for they have the same one.

import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, codeOf } from '../../errors.ts'
import { flush } from '../../file-hash.ts'
import type { Place } from '../place.ts'

const FILE = 'hook.key'
const BYTES = 32
const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[\w+/-]{43}=?$/

/** Undefined: there is none. @throws AppError `failed` for a file of another size */
export function hookKeyOf({ dataDir, database, hookKey }: Place): Buffer | undefined {
  return database === undefined ? readHookKey(dataDir) : hookKey
}

/** As needHookKey. @throws AppError `usage` where nodes share a database, and this one was given no key */
export async function neededHookKey({ dataDir, database, hookKey }: Place): Promise<Buffer> {
  if (database === undefined) return needHookKey(dataDir)
  if (hookKey) return hookKey
  const why = 'the secrets of hooks are encrypted with a key that all nodes have'
  const how = 'openssl rand -base64 32 > FILE makes one, and --hook-key-file FILE gives it to each'
  throw new AppError('usage', `${why}: ${how}`)
}

/** The key that is in a file of an operator's: as it is, or in base64 or hex. Undefined: it is none. */
export function parseHookKey(bytes: Buffer): Buffer | undefined {
  if (bytes.length === BYTES) return bytes
  const text = bytes.toString('latin1').trim()
  if (HEX.test(text)) return Buffer.from(text, 'hex')
  return BASE64.test(text) ? Buffer.from(text, 'base64') : undefined
}

/** Undefined: there is none. @throws AppError `failed` for a file of another size */
export function readHookKey(dataDir: string): Buffer | undefined {
  const path = join(dataDir, FILE)
  let key: Buffer
  try {
    key = readFileSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  if (key.length === BYTES) return key
  const advice = 'remove it, then give each hook a new secret with cambista hook rotate'
  throw new AppError('failed', `${path} has ${key.length} bytes instead of ${BYTES}: ${advice}`)
}

/** The key, which is made if there is none. It is on the disk when this returns: what is sealed with it must be opened again. */
export async function needHookKey(dataDir: string): Promise<Buffer> {
  const known = readHookKey(dataDir)
  if (known) return known
  const path = join(dataDir, FILE)
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, randomBytes(BYTES), { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, path) // whole or not at all; and of two that are made at once the first stays
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  await flush(dataDir)
  const key = readHookKey(dataDir)
  if (!key) throw new AppError('failed', `${path} cannot be made`)
  return key
}
