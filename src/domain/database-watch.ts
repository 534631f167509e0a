// Notices what another process committed (a `sync` or `key create` on the command line) within a second,
// by one cheap look a few times a second instead of one for each request.

import type { Engine, Look } from '../store/engine.ts'

export const LOOK_EVERY_MS = 250

export type Watch = { close(): Promise<void> }

/**
 * Calls `changed` after each commit of another process; a failing look or call goes to `failed`.
 * Commits from now on are seen: read what you keep after this has returned, or once more.
 */
export async function watchDatabase(
  engine: Pick<Engine, 'look'>,
  changed: () => Promise<void>,
  failed: (error: unknown) => void,
): Promise<Watch> {
  let seen = await engine.look()
  let looking: Promise<void> | undefined
  const look = async () => {
    try {
      const now = await engine.look()
      if (isSame(now, seen)) return
      await changed()
      seen = now
    } catch (error) {
      failed(error)
    } finally {
      looking = undefined
    }
  }
  const timer = setInterval(() => {
    looking ??= look()
  }, LOOK_EVERY_MS)
  return {
    async close() {
      clearInterval(timer)
      await looking
    },
  }
}

function isSame(one: Look, other: Look): boolean {
  return one.data === other.data && one.access === other.access && one.documents === other.documents
}
