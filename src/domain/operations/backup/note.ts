// Notes: small JSON files at the top of a backup set, which each run of their writer replaces.

import { chownSync, renameSync, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorReason } from '../../../runtime/errors.ts'
import { flush } from '../../../runtime/file-hash.ts'

/** Writes and flushes a note. Returns the reason of a failure, such as a read-only disk; undefined after success. */
export async function writeNote(setDir: string, name: string, note: unknown): Promise<string | undefined> {
  const draft = join(setDir, `.unfinished-${name}`)
  try {
    await writeFile(draft, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 })
    const { uid, gid } = statSync(setDir)
    if (process.getuid?.() === 0) chownSync(draft, uid, gid)
    await flush(draft)
    renameSync(draft, join(setDir, name))
    await flush(setDir)
    return undefined
  } catch (error) {
    try {
      rmSync(draft, { force: true })
    } catch {} // a failed write may prevent the removal too
    return errorReason(error)
  }
}
