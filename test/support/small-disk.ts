// File systems for one test, such as a small one that fills up. Mounting needs root; without it the test receives the
// reason. Mounts are removed when the test ends.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { errorCode } from '../../src/runtime/errors.ts'

export type SmallDisk = {
  dir: string
  /** Fills the disk, with `bytes` free. */
  leaveFree(bytes: number): void
  makeRoom(): void
}

export const PAGE = 4096 // block size of the database and of the file systems here

/** Mounts a disk of `bytes` bytes, or returns the reason why it cannot. */
export function mountSmallDisk(t: TestContext, bytes: number): SmallDisk | { reason: string } {
  const mounted = mountTemporary(t, ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs'])
  if ('reason' in mounted) return mounted
  const { dir } = mounted
  const filler = join(dir, 'filler')
  const makeRoom = () => rmSync(filler, { force: true })
  return {
    dir,
    makeRoom,
    leaveFree(bytes) {
      for (let tries = 5; ; tries--) {
        makeRoom()
        const { bavail, bsize } = statfsSync(dir)
        try {
          return writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - bytes)))
        } catch (error) {
          if (tries === 0 || errorCode(error) !== 'ENOSPC') throw error // the server writes at the same time
        }
      }
    },
  }
}

/** Mounts a file system on a new directory; `umount -l` removes it while files are open. */
export function mountTemporary(t: TestContext, what: string[]): { dir: string } | { reason: string } {
  if (process.getuid?.() !== 0) return { reason: 'only root can mount a file system' }
  const dir = mkdtempSync(join(tmpdir(), 'cambista-disk-'))
  const mounted = spawnSync('mount', [...what, dir])
  t.after(() => {
    spawnSync('umount', ['-l', dir])
    rmSync(dir, { recursive: true })
  })
  return mounted.status === 0 ? { dir } : { reason: `cannot mount: ${mounted.stderr ?? mounted.error}` }
}
