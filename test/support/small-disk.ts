// File systems of a test's own, such as a small one that fills up. Only root can mount one; where that is not allowed the
// test is told why. What was mounted is gone when the test ends.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export type SmallDisk = {
  dir: string
  /** Fills the disk up to so many bytes. */
  leave(bytes: number): void
  makeRoom(): void
}

export const PAGE = 4096 // what the database, and the file systems here, take at a time

/** A disk of so many bytes, or the reason why there is none. */
export function mountSmallDisk(t: TestContext, bytes: number): SmallDisk | { reason: string } {
  const mounted = mountAt(t, ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs'])
  if ('reason' in mounted) return mounted
  const { dir } = mounted
  const filler = join(dir, 'filler')
  const makeRoom = () => rmSync(filler, { force: true })
  return {
    dir,
    makeRoom,
    leave(bytes) {
      makeRoom()
      const { bavail, bsize } = statfsSync(dir)
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - bytes)))
    },
  }
}

/** Mounts something on a new directory; `umount -l` takes it away though files are open. */
export function mountAt(t: TestContext, what: string[]): { dir: string } | { reason: string } {
  if (process.getuid?.() !== 0) return { reason: 'only root can mount a file system' }
  const dir = mkdtempSync(join(tmpdir(), 'cambista-disk-'))
  const mounted = spawnSync('mount', [...what, dir])
  t.after(() => {
    spawnSync('umount', ['-l', dir])
    rmSync(dir, { recursive: true })
  })
  return mounted.status === 0 ? { dir } : { reason: `cannot mount: ${mounted.stderr ?? mounted.error}` }
}
