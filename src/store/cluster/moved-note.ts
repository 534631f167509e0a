// The file MOVED marks a data directory that was moved to a cluster. Serving the directory is rejected: its answers and
// uploads would differ from the cluster's.

import { existsSync, readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../runtime/errors.ts'
import { flush } from '../../runtime/file-hash.ts'

export const MOVED_FILE = 'MOVED'

/** Writes the file. `to`: new location, in words without a password. `epoch`: of the database when it is complete. */
export async function writeMovedNote(
  dataDir: string,
  { to, at, epoch }: { to: string; at: Date; epoch: string },
): Promise<void> {
  const path = join(dataDir, MOVED_FILE)
  const text = `The data of this directory are in ${to} since ${at.toISOString()}.
What is here is as it was then. Nothing serves it while this file is here.
Epoch: ${epoch}
`
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
  await flush(dataDir)
}

/** Returns a sentence with the new location and the time of the move; undefined: the data are here. */
export function movedNote(dataDir: string): string | undefined {
  const path = join(dataDir, MOVED_FILE)
  if (!existsSync(path)) return undefined
  const [first = ''] = readFileSync(path, 'utf8').split('\n')
  return first.replace('this directory', dataDir)
}

/** Returns the epoch in the file; undefined: there is no file, or an older one without it. */
export function readMovedEpoch(dataDir: string): string | undefined {
  const path = join(dataDir, MOVED_FILE)
  return existsSync(path) ? /^Epoch: (\w+)$/m.exec(readFileSync(path, 'utf8'))?.[1] : undefined
}

/** @throws AppError `failed` when the data of the directory are elsewhere */
export function refuseMoved(dataDir: string): void {
  const note = movedNote(dataDir)
  if (note === undefined) return
  throw new AppError('failed', `${note} Serve them with --database (${join(dataDir, MOVED_FILE)})`)
}
