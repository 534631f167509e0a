// Rejects the writes of a server on probation: until its upgrade is confirmed, its database may be put back.

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

class WriteGuard implements KyselyPlugin {
  isOn = true

  /** @throws AppError `unavailable` while it is on */
  check(): void {
    if (!this.isOn) return
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
export function guardWrites(db: WriteDb): { db: WriteDb; lift(): void } {
  const guard = new WriteGuard()
  return {
    db: db.withPlugin(guard),
    lift() {
      guard.isOn = false
    },
  }
}

/** Checks before work that ends with a write. @throws AppError `unavailable` on probation */
export function checkWritable(db: ReadDb): void {
  for (const plugin of db.getExecutor().plugins) if (plugin instanceof WriteGuard) plugin.check()
}
