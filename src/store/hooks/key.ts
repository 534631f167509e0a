// hook.key, the key of the secrets of hooks: 32 random bytes beside the database, in no backup.

import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, codeOf } from '../../errors.ts'
import { flush } from '../../file-hash.ts'

const FILE = 'hook.key'
const BYTES = 32

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
