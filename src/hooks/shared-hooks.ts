// Where nodes share a database one of them tells the hooks, under a lease: the others wait for its end. What that one was
// sending when it died is sent again.

import { reasonOf } from '../errors.ts'
import type { Engine, Lock } from '../store/engine.ts'
import { selectHooks } from '../store/hooks/hooks.ts'
import { type HeldTask, holdTask } from '../store/nodes/held-task.ts'
import { type Hooks, openHooks } from './hooks.ts'
import type { SenderDeps } from './record.ts'

/** `everyMs`: between two tries to get the lease. */
export function openSharedHooks(
  deps: SenderDeps & Pick<Engine, 'takeLock'>,
  everyMs?: number | undefined,
): Hooks {
  const { log } = deps
  let own: Hooks | undefined
  let task: HeldTask | undefined
  const begin = async (lock: Lock) => {
    const hooks = openHooks({ ...deps, lock })
    hooks.start()
    own = hooks
    log.info('this node tells the hooks')
    return {
      close() {
        own = undefined
        return hooks.close()
      },
    }
  }
  // While the database is away no node can have it: the look at it says so, once.
  const failed = (error: unknown) => log.debug('hooks cannot be told', { reason: reasonOf(error) })
  return {
    start() {
      if (!deps.key()) sayKeyless(deps).catch(failed)
      else task = holdTask(deps, 'hooks', { begin, failed, everyMs })
    },
    wake: () => own?.wake(),
    async close() {
      await task?.close()
    },
  }
}

/** A node that has no key leaves the hooks to those that have it. */
async function sayKeyless({ db, log }: SenderDeps): Promise<void> {
  const level = (await selectHooks(db)).length > 0 ? 'warn' : 'info'
  log[level]('this node cannot tell hooks: it has no key for them', { hint: '--hook-key-file' })
}
