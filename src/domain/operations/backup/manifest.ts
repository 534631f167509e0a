// Manifest of a backup: its metadata, and the last file written into it.

import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { DATABASE_FILE } from '../../../store/sqlite/database.ts'
import { LIST_FILE, MANIFEST_FILE } from './set.ts'

const FORMAT = 1

const Sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

const Manifest = v.object({
  format: v.literal(FORMAT),
  program: v.string(),
  schema: Count,
  created_at: v.string(),
  data_revision: Count,
  epoch: v.string(),
  database: v.object({ file: v.literal(DATABASE_FILE), bytes: Count, sha256: Sha256 }),
  blobs: v.object({ count: Count, bytes: Count, list: v.literal(LIST_FILE), list_sha256: Sha256 }),
  /** Blobs that were lost in the data directory already when the backup was made; `since`: and known to be. */
  lost: v.array(v.object({ sha256: Sha256, words: v.string(), since: v.exactOptional(v.string()) })),
})
export type Manifest = v.InferOutput<typeof Manifest>

/** @throws AppError `failed` when it cannot be read, or is of a newer program */
export async function readManifest(dir: string): Promise<Manifest> {
  const path = join(dir, MANIFEST_FILE)
  try {
    const read: unknown = JSON.parse(await readFile(path, 'utf8'))
    const format = v.safeParse(v.object({ format: v.number() }), read)
    if (format.success && format.output.format > FORMAT) {
      throw new AppError('failed', `${path} has format ${format.output.format}: use a newer cambista`)
    }
    return v.parse(Manifest, read)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('failed', `${path} cannot be read: ${errorReason(error)}`, { cause: error })
  }
}

export async function writeManifest(dir: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
  const text = `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`
  await writeFile(join(dir, MANIFEST_FILE), text, { mode: 0o600 })
}

/** Begins the list of the blobs of a backup, as `sha256sum -c` reads it from inside the backup. */
export async function openList(
  dir: string,
): Promise<{ add(sha256: string): Promise<void>; close(): Promise<void> }> {
  const file = await open(join(dir, LIST_FILE), 'w', 0o600)
  return {
    async add(sha256) {
      // On a full disk `write` would store a part of the line without an error.
      await file.appendFile(`${sha256}  ../blobs/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}\n`)
    },
    close: () => file.close(),
  }
}
