// Rejects the writes of a server that only reads. On probation its database may be put back until the upgrade is
// confirmed. On a full disk a write would fail.

import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  RootOperationNode,
} from 'kysely'
import { AppError } from '../runtime/errors.ts'
import type { ReadDb, WriteDb } from './tables.ts'

const WRITES = /^(Insert|Update|Delete|Merge)QueryNode$/
const RETRY_AFTER_S = 5

/** Reason of a server that only reads. */
export type GuardReason = 'probation' | 'full-disk'

class WriteGuard implements KyselyPlugin {
  isOn = true
  readonly #reason: GuardReason

  constructor(reason: GuardReason) {
    this.#reason = reason
  }

  /** @throws AppError `unavailable` on probation, `disk-full` on a full disk */
  check(): void {
    if (!this.isOn) return
    if (this.#reason === 'full-disk') {
      const message = 'The disk is full: this server only reads until there is room'
      throw new AppError('disk-full', message, { isLogged: true })
    }
    const message = 'This server was just upgraded and does not write yet: try again in a moment'
    throw new AppError('unavailable', message, { retryAfter: RETRY_AFTER_S, isLogged: true })
  }

  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    if (WRITES.test(node.kind)) this.check()
    return node
  }

  async transformResult({ result }: PluginTransformResultArgs) {
    return result
  }
}

/** Returns a database that rejects writes until `lift` is called. */
export function guardWrites(db: WriteDb, reason: GuardReason): { db: WriteDb; lift(): void } {
  const guard = new WriteGuard(reason)
  return {
    db: db.withPlugin(guard),
    lift() {
      guard.isOn = false
    },
  }
}

/** Checks before work that ends with a write. @throws AppError of a server that only reads */
export function checkWritable(db: ReadDb): void {
  for (const plugin of db.getExecutor().plugins) if (plugin instanceof WriteGuard) plugin.check()
}
